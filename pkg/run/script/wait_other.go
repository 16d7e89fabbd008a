//go:build unix && !linux

package script

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A waitSet waits until one of several descriptors is readable.
type waitSet struct{ fds [sources]int }

func newWaitSet() (*waitSet, error) { return &waitSet{noDescriptors}, nil }

func (w *waitSet) watch(s source, fd int) error {
	w.fds[s] = fd
	return nil
}

func (w *waitSet) forget(s source) { w.fds[s] = -1 }

// wait returns the sources that are readable. It returns none at the given time.
func (w *waitSet) wait(until time.Time) (ready readySet, err error) {
	var fds [sources]unix.PollFd
	for s, fd := range w.fds {
		fds[s] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	if _, err := unix.Poll(fds[:], milliseconds(time.Until(until))); err != nil {
		return ready, os.NewSyscallError("poll", err)
	}
	for s, fd := range fds {
		ready[s] = fd.Revents != 0
	}
	return ready, nil
}

func (w *waitSet) close() {}

func milliseconds(d time.Duration) int {
	if d <= 0 {
		return 0
	}
	return int((d + time.Millisecond - 1) / time.Millisecond)
}
