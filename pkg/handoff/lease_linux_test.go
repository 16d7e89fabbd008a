package handoff

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Opening a file waits for the holder of a lease on it. A script that takes one
// on what it asks does not make the server wait.
func TestLeasedRequest(t *testing.T) {
	p, _ := newPool(t)
	d := take(t, p)
	defer p.Give(d, false)
	check(t, os.WriteFile(d.Path("request"), []byte("{}"), 0o600))
	held, err := os.OpenFile(d.Path("request"), os.O_RDWR, 0)
	check(t, err)
	defer held.Close()
	if _, err := unix.FcntlInt(held.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("no leases in %s: %v", d.path, err)
	}
	if content, found := d.Take("request", 100); !found || content != nil {
		t.Errorf("%q, %t", content, found)
	}
}
