//go:build unix && !linux

package script

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// newPipe returns a pipe whose reading end is non-blocking.
func newPipe() (r, w int, err error) {
	var p [2]int
	syscall.ForkLock.RLock()
	err = unix.Pipe(p[:])
	if err == nil {
		unix.CloseOnExec(p[0])
		unix.CloseOnExec(p[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return -1, -1, err
	}
	unix.SetNonblock(p[0], true)
	return p[0], p[1], nil
}

func widen(fd int) {}

// newSignal returns a pipe.
func newSignal() (r, w int, err error) { return newPipe() }
