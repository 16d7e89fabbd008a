//go:build unix

package httpd

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasConnections reports whether clients are connected that nobody has accepted yet.
func hasConnections(l net.Listener) (some bool) {
	control(l, func(fd int) {
		list := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(list, 0)
		some = n > 0 && err == nil && list[0].Revents == unix.POLLIN
	})
	return some
}

// readNow reads what the system has received, without waiting. It returns 0 if that is nothing.
func readNow(c net.Conn, p []byte) (n int) {
	control(c, func(fd int) { n, _ = unix.Read(fd, p) })
	return max(n, 0)
}

// control calls f with the descriptor of a listener or a connection.
func control(l any, f func(fd int)) {
	c, ok := l.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := c.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { f(int(fd)) })
	}
}
