package httpd

import (
	"net"

	"golang.org/x/sys/unix"
)

// refuseConnections makes the kernel drop the first packet of each new TCP connection. Handshakes that have begun go
// on. The client sends the packet again after a second. Then the listener is closed, so the client learns that nobody
// is there. It returns false if that is not possible.
func refuseConnections(l net.Listener) (ok bool) {
	if l.Addr().Network() != "tcp" {
		return false
	}
	const flags, syn = 13, 0x02 // of the header of TCP
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: syn, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
	}
	control(l, func(fd int) {
		ok = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}) == nil
	})
	return ok
}

// cork collects what is written to a connection, until it is closed.
func cork(c net.Conn) {
	control(c, func(fd int) { unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_CORK, 1) })
}
