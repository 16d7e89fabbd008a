//go:build unix

// Package activation takes over a socket that a service manager has opened, such as systemd with a socket unit. It
// implements sd_listen_fds(3). LISTEN_PID is the process that gets the sockets, LISTEN_FDS is their number. The first
// one is descriptor 3.
package activation

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
)

// first is the descriptor of the first socket.
const first = 3

// Listener returns the listening socket that the service manager has passed to this process, or nil without one. The
// variables of the protocol are removed from env, the environment for children, so that no child uses the socket.
// Call it once, at the start of the process.
func Listener(env map[string]string) (net.Listener, error) {
	pid, count := env["LISTEN_PID"], env["LISTEN_FDS"]
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"} {
		delete(env, name)
	}
	if pid != strconv.Itoa(os.Getpid()) { // absent, or meant for a parent process
		return nil, nil
	}
	switch n, err := strconv.Atoi(count); {
	case err != nil || n < 0:
		return nil, fmt.Errorf("LISTEN_FDS is %q, not a number of sockets", count)
	case n == 0:
		return nil, nil
	case n > 1:
		return nil, fmt.Errorf("the service manager has passed %d sockets; the server listens on one", n)
	}
	syscall.CloseOnExec(first)
	f := os.NewFile(first, "socket of the service manager")
	defer f.Close() // the listener has a copy
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("the service manager has passed a descriptor that is not a stream socket: %w", err)
	}
	if listening, err := accepts(l); err != nil || !listening {
		l.Close()
		return nil, errors.Join(errors.New("the service manager has passed a socket that does not listen; "+
			"set Accept=no in its unit"), err)
	}
	return l, nil
}

func accepts(l net.Listener) (bool, error) {
	c, ok := l.(syscall.Conn)
	if !ok {
		return false, nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return false, err
	}
	var value int
	var failure error
	err = raw.Control(func(fd uintptr) {
		value, failure = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
	})
	return value != 0, errors.Join(err, failure)
}
