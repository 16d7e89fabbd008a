//go:build unix

package httpd

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// H-60: a listener does not end before the connections that clients have made are accepted. New ones are refused.
func TestSettle(t *testing.T) {
	for _, addr := range []string{":0", "unix:" + filepath.Join(t.TempDir(), "s")} {
		l, err := Listen(addr, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		network, at := l.Addr().Network(), l.Addr().String()
		if path, ok := strings.CutPrefix(addr, "unix:"); ok {
			at = path
		}
		conn, err := net.Dial(network, at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if l.settle(ctx, 0); ctx.Err() == nil {
			t.Errorf("%s: nobody has accepted the connection", addr)
		}
		if _, err := l.Accept(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), patience)
		defer cancel()
		if l.settle(ctx, 0); ctx.Err() != nil {
			t.Errorf("%s: it waits for more connections", addr)
		}
		if runtime.GOOS == "linux" {
			if _, err := net.DialTimeout(network, at, 100*time.Millisecond); err == nil {
				t.Errorf("%s: a connection after the end", addr)
			}
		}
	}
}

// A lateListener accepts no connection before a channel is closed.
type lateListener struct {
	*net.TCPListener
	from chan struct{}
}

func (l lateListener) Accept() (net.Conn, error) {
	<-l.from
	return l.TCPListener.Accept()
}

// H-60: requests over connections that wait to be accepted when the server ends are answered.
func TestDrainBacklog(t *testing.T) {
	from := make(chan struct{})
	s := serve(t, nil, nil, func(c *Config) {
		c.Listener.Listener = lateListener{c.Listener.Listener.(*net.TCPListener), from}
	})
	const requests = 20
	var connected sync.WaitGroup
	statuses := make(chan int)
	for range requests {
		connected.Add(1)
		go func() {
			c, in := s.raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
			defer c.Close()
			connected.Done()
			r, err := http.ReadResponse(in, nil)
			if err != nil {
				statuses <- 0
				return
			}
			statuses <- r.StatusCode
		}()
	}
	connected.Wait()
	drained := make(chan struct{})
	go func() {
		s.Drain()
		close(drained)
	}()
	await(t, "end", func() bool { return !s.serving.Load() })
	close(from)
	for range requests {
		if got := <-statuses; got != 200 {
			t.Errorf("status %d", got)
		}
	}
	<-drained
}

// A slowListener accepts connections whose answers wait for a channel.
type slowListener struct {
	net.Listener
	written, from chan struct{}
}

type slowConn struct {
	net.Conn
	l    slowListener
	once sync.Once
}

func (l slowListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &slowConn{Conn: c, l: l}, err
}

func (c *slowConn) Write(p []byte) (int, error) {
	c.once.Do(func() {
		close(c.l.written)
		<-c.l.from
	})
	return c.Conn.Write(p)
}

// H-60: the answer that is written when the server begins to end does not announce the end of its connection. The next
// request over it is answered.
func TestDrainDuringAnswer(t *testing.T) {
	l := slowListener{written: make(chan struct{}), from: make(chan struct{})}
	s := serve(t, nil, nil, func(c *Config) {
		l.Listener = c.Listener.Listener
		c.Listener.Listener = l
	})
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` + meta + `}}}`
	request := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n"+
		"Mcp-Method: tools/list\r\nContent-Length: %d\r\n\r\n%s", stateless, len(body), body)
	c, in := s.raw(request)
	defer c.Close()
	<-l.written
	ended := s.drain()
	select {
	case <-ended:
		t.Error("it does not wait for the answer")
	case <-time.After(20 * time.Millisecond):
	}
	close(l.from)
	for i, closes := range []bool{false, true} {
		c.SetReadDeadline(time.Now().Add(patience))
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if text(t, r); r.StatusCode != 200 || r.Close != closes {
			t.Errorf("answer %d: status %d, closes: %t", i, r.StatusCode, r.Close)
		}
		if !closes {
			io.WriteString(c, request)
		}
	}
	<-ended
}
