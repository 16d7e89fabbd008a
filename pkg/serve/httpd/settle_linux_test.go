package httpd

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// H-60: a client whose connection begins before the server refuses new ones is accepted, also if it ends later.
func TestSettleHandshake(t *testing.T) {
	t.Parallel()
	l, err := ListenAt("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(client)
	// The filter drops the answer of the server, which the kernel sends again after a second.
	drop := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0}
	if err := unix.SetsockoptSockFprog(client, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: 1, Filter: &drop}); err != nil {
		t.Fatal(err)
	}
	to := &unix.SockaddrInet4{Port: l.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
	if err := unix.Connect(client, to); err != unix.EINPROGRESS {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); !hasHandshakes(l.Listener); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no handshake")
		}
	}
	go func() {
		l.settle(t.Context(), patience)
		l.Close()
	}()
	if err := unix.SetsockoptInt(client, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal("the listener was closed: ", err)
	}
	c.Close()
}
