package validate

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// asNobody makes this goroutine open files as the user nobody, until the returned function is called.
func asNobody(t *testing.T) (back func()) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Setfsuid(0); err != nil {
			t.Fatal(err) // the thread ends with this goroutine
		}
		runtime.UnlockOSThread()
	}
}
