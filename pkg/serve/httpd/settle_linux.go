package httpd

import (
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/text/ascii"
)

// refuseConnections makes the kernel drop the first packet of each new TCP connection. Handshakes that have begun
// continue. The client sends the packet again after a second. By then the listener is closed, so the connection is
// refused.
func refuseConnections(l net.Listener) {
	if l.Addr().Network() != "tcp" {
		return
	}
	const flags, syn = 13, 0x02 // of the header of TCP
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: syn, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
	}
	control(l, func(fd int) {
		unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	})
}

// hasHandshakes reports whether a TCP handshake lacks the client's last packet. Its client may already believe that
// it is connected, and closing the listener would reset the connection.
func hasHandshakes(l net.Listener) bool {
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return false
	}
	port := fmt.Sprintf(":%04X", address.Port)
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		text, _ := os.ReadFile(table)
		for line := range strings.Lines(string(text)) {
			const local, state, handshake = 1, 3, "03" // columns, and SYN_RECV of Linux
			f := ascii.Words(line)
			if len(f) > state && strings.HasSuffix(f[local], port) && f[state] == handshake {
				return true
			}
		}
	}
	return false
}

// cork collects what is written to a connection, until it is closed.
func cork(c net.Conn) {
	control(c, func(fd int) { unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_CORK, 1) })
}
