//go:build unix

package script

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasTerminal reports whether this process has a controlling terminal. It checks once, because a
// process gets a terminal later only if it leads a session and opens one.
var hasTerminal = sync.OnceValue(func() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
})

// withoutTerminal starts a process in its own group, without a terminal. A new session has no
// terminal. It is used only if this process has a terminal: Linux makes a scheduling group for
// every session, which costs about 5 % of a call.
func withoutTerminal() *syscall.SysProcAttr {
	if hasTerminal() {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}
