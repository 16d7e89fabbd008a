//go:build unix

package script

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasTerminal reports whether this process has a controlling terminal. It is asked once: a
// process does not get one later, unless it leads a session and opens a terminal.
var hasTerminal = sync.OnceValue(func() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
})

// withoutTerminal starts a process in its own group, without a terminal. A new session takes the
// terminal away. The script gets one only if there is a terminal: Linux gives every session a
// scheduling group, and making one costs about 5 % of a call.
func withoutTerminal() *syscall.SysProcAttr {
	if hasTerminal() {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}
