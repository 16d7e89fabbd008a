//go:build unix

package script

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// An exitWatch reports the end of a process to poll: fd becomes readable, or is hung up. It is made
// before the start, so that a lack of descriptors prevents the start.
//
// If the kernel has process descriptors, fork sets fd. Otherwise a goroutine waits for the process
// and closes the other end of a pipe.
type exitWatch struct {
	fd     int
	end    int // other end of the pipe, or -1
	waiter waiter
}

// refusesPidfd is true after fork refused a process descriptor that the kernel seems to have. Emulators such as QEMU do
// that.
var refusesPidfd atomic.Bool

// pidfd returns where fork sets the descriptor, or nil.
func (w *exitWatch) pidfd() *int {
	if w.end >= 0 {
		return nil
	}
	return &w.fd
}

// newExitWatch returns a watch for a process that is about to start. pidfd means that fork sets the descriptor.
func newExitWatch(pidfd bool) (*exitWatch, error) {
	if pidfd {
		return &exitWatch{fd: -1, end: -1}, nil
	}
	r, w, err := newPipe()
	if err != nil {
		return nil, err
	}
	watch := &exitWatch{fd: r, end: w}
	if watch.waiter, err = newWaiter(); err != nil {
		watch.close()
		return nil, err
	}
	return watch, nil
}

func (w *exitWatch) begin(pid int) {
	if w.end < 0 {
		return
	}
	end := w.end
	w.end = -1 // now owned by the goroutine
	go func() {
		w.waiter.wait(pid)
		unix.Close(end)
	}()
}

// close closes the descriptors. The caller waits for the end of the process first.
func (w *exitWatch) close() { closeAll(w.fd, w.end) }
