package httpd

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// H-60: a client that reads the last bytes of a response in chunks learns at once that the connection has ended.
func TestFinishChunks(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	here, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	finishChunks(&timedConn{Conn: here, within: patience})
	control(there, func(fd int) {
		var buffer [100]byte
		list := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(list, int(patience.Milliseconds())); err != nil {
			t.Error(err)
		}
		if n, err := unix.Read(fd, buffer[:]); string(buffer[:max(n, 0)]) != "0\r\n\r\n" || err != nil {
			t.Errorf("%q, %v", buffer[:max(n, 0)], err)
		}
		if n, err := unix.Read(fd, buffer[:]); n != 0 || err != nil {
			t.Errorf("%d, %v instead of the end", n, err)
		}
	})
}
