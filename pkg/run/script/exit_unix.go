//go:build unix

package script

import "golang.org/x/sys/unix"

// An exitWatch tells poll that a process has ended: fd becomes readable, or is
// hung up. Everything it takes is made before the process is started, so that
// a want of descriptors prevents the start instead of hiding the end.
//
// Where the kernel has descriptors for processes, fork fills in fd. Elsewhere a
// goroutine waits for the process and closes the other end of a pipe.
type exitWatch struct {
	fd     int
	end    int // the pipe's other end; -1 without a pipe
	waiter waiter
}

// newExitWatch makes a watch for a process that is about to be started. pidfd
// says that fork will give its descriptor.
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

// begin is called once the process runs.
func (w *exitWatch) begin(pid int) {
	if w.end < 0 {
		return
	}
	end := w.end
	w.end = -1 // the goroutine's
	go func() {
		w.waiter.wait(pid)
		unix.Close(end)
	}()
}

// close gives up the descriptors; of a watch that has begun, after the end of
// the process.
func (w *exitWatch) close() {
	for _, fd := range []int{w.fd, w.end} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
