package registration

import (
	"testing"

	"golang.org/x/sys/unix"
)

// R-208, CLI-712: a registration changes only the text of register.json, not its attributes.
func TestKeepsAttributes(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh*": "", "server.d/register.json": `{"version":1,"tools":[]}`})
	if err := unix.Setxattr(b.Path("server.d/register.json"), "user.note", []byte("mine"), 0); err != nil {
		t.Skip(err)
	}
	if err := register(b.project(nil), "x"); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 10)
	if n, err := unix.Getxattr(b.Path("server.d/register.json"), "user.note", value); err != nil ||
		string(value[:n]) != "mine" {
		t.Errorf("%q, %v", value, err)
	}
}
