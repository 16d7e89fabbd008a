package script

import "golang.org/x/sys/unix"

const largePipe = 1 << 20

// newPipe returns a pipe whose reading end is non-blocking.
func newPipe() (r, w int, err error) {
	var p [2]int
	if err = unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, err
	}
	// The ends have separate modes: the script's end blocks.
	unix.SetNonblock(p[0], true)
	return p[0], p[1], nil
}

// widen enlarges the buffer of a pipe with much data.
func widen(fd int) { unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, largePipe) }

// newSignal returns a descriptor that is readable after a write of 8 bytes to it.
func newSignal() (r, w int, err error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return fd, fd, err
}
