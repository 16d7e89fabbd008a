package script

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasPidfd reports whether the kernel has process descriptors (Linux 5.3).
var hasPidfd = sync.OnceValue(func() bool {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
})

// A waiter waits until a child has ended, and leaves its status for reap.
type waiter struct{}

func newWaiter() (waiter, error) { return waiter{}, nil }

func (waiter) wait(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

const largePipe = 1 << 20

// newPipe returns a pipe whose reading end is non-blocking.
func newPipe() (r, w int, err error) {
	var p [2]int
	if err = unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, err
	}
	// The ends have separate modes: the script's end blocks.
	unix.FcntlInt(uintptr(p[0]), unix.F_SETFL, unix.O_NONBLOCK) // a new pipe has no other flags
	return p[0], p[1], nil
}

// widen enlarges the buffer of a pipe with much data.
func widen(fd int) { unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, largePipe) }

// newSignal returns a descriptor that is readable after a write of 8 bytes to it.
func newSignal() (r, w int, err error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return fd, fd, err
}

// sealDescriptors prevents scripts from inheriting descriptors of our parent process.
func sealDescriptors() {
	if unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) != nil {
		sealOneByOne("/proc/self/fd") // before Linux 5.11
	}
}

// sysProc puts the script into its own process group without a terminal (T-42). The kernel kills
// the script when the forking thread ends. Go ends a thread only when a goroutine that is locked to
// it returns. Only goroutines of confinements do that, after their last script. So the thread
// outlives the script. pidfd, if not nil, receives a process descriptor.
func sysProc(pidfd *int) *syscall.SysProcAttr {
	attr := withoutTerminal()
	attr.Pdeathsig, attr.PidFD = syscall.SIGKILL, pidfd
	return attr
}

// rssUnit is the unit of memory in getrusage, in bytes.
const rssUnit = 1024
