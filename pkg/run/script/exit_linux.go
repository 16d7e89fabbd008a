package script

import (
	"os"
	"sync"

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
