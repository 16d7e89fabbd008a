package handoff

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Opening a file waits for the owner of a lease on it. A script with a lease on its question
// does not block the server.
func TestLeasedRequest(t *testing.T) {
	p, _ := newPool(t)
	d := take(t, p)
	defer p.Give(d, false)
	check(t, os.WriteFile(d.Path("request"), []byte("{}"), 0o600))
	leased, err := os.OpenFile(d.Path("request"), os.O_RDWR, 0)
	check(t, err)
	defer leased.Close()
	if _, err := unix.FcntlInt(leased.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("no leases in %s: %v", d.path, err)
	}
	if content, found := d.Take("request", 100); !found || content != nil {
		t.Errorf("%q, %t", content, found)
	}
}
