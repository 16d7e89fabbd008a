package registration

import (
	"os"
	"strings"
	"testing"

	"mcp-bash/pkg/files/folder"
)

// the next registration removes partial files in server.d.
func TestSweepOfServerDir(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh*": "", "server.d/.register.json.new-0123456789ab": "{",
		"server.d/register.json.new-mine": ""})
	if err := register(b.project(nil), "x"); err != nil {
		t.Fatal(err)
	}
	if folder.StampOfPath(b.Path("server.d/.register.json.new-0123456789ab")).Exists() || !folder.StampOfPath(b.Path(
		"server.d/register.json.new-mine")).Exists() {
		t.Error("not the one that was left half-written")
	}
}

// a change by an editor without the lock is not lost.
func TestPersonEditsMeanwhile(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh*": ""})
	r := b.project(nil)
	reg, faults := readRegistration([]byte(`{"name":"ours","path":"a/tool.sh"}`))
	if len(faults.texts) > 0 {
		t.Fatal(faults)
	}
	tries := 0
	err := r.change(t.Context(), "ours", false, func(e *edit) error {
		if tries++; tries == 1 {
			theirs := `{"version":1,"tools":[{"name":"theirs","path":"a/tool.sh"}]}`
			if err := os.WriteFile(b.Path("server.d/register.json"), []byte(theirs), 0o644); err != nil {
				t.Error(err)
			}
		}
		return e.add(&reg, false)
	})
	text, errRead := os.ReadFile(b.Path("server.d/register.json"))
	if err != nil || errRead != nil || tries != 2 || !strings.Contains(string(text), "theirs") ||
		!strings.Contains(string(text), "ours") {
		t.Errorf("%v, %v, %d tries: %s", err, errRead, tries, text)
	}
}
