package httpd

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/clock"
)

// A timedConn is a connection of a client that must read what is written within a time.
type timedConn struct {
	net.Conn
	within time.Duration
	until  atomic.Int64 // the deadline, of [clock.Now]

	mu       sync.Mutex
	gathered *[]byte // collects writes; nil: each write is sent at once
}

// Write implements [net.Conn].
func (c *timedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.gathered != nil {
		defer c.mu.Unlock()
		*c.gathered = append(*c.gathered, p...)
		return len(p), nil
	}
	c.mu.Unlock()
	return c.write(p)
}

// write writes with a deadline. A deadline costs as much as a small write, so write keeps one that
// leaves at least three quarters of the time.
func (c *timedConn) write(p []byte) (int, error) {
	if now := clock.Now(); time.Duration(c.until.Load())-now < c.within/4*3 {
		c.until.Store(int64(now + c.within))
		c.SetWriteDeadline(time.Now().Add(c.within))
	}
	return c.Conn.Write(p)
}

// gather makes one write of everything that do writes. It uses a buffer.
func (c *timedConn) gather(buffer *[]byte, do func()) {
	*buffer = (*buffer)[:0]
	c.mu.Lock()
	c.gathered = buffer
	c.mu.Unlock()
	do()
	c.mu.Lock() // TLS can write from another goroutine, in this order
	defer c.mu.Unlock()
	c.gathered = nil
	if _, err := c.write(*buffer); err != nil {
		c.Close()
	}
}

// connKey is the key of the connection in the context of a request.
type connKey struct{}

// withConn is for [http.Server.ConnContext].
func withConn(ctx context.Context, nc net.Conn) context.Context {
	if secure, ok := nc.(*tls.Conn); ok {
		nc = secure.NetConn()
	}
	return context.WithValue(ctx, connKey{}, nc)
}

// connOf returns the connection of a request.
func connOf(r *http.Request) (c *timedConn, ok bool) {
	c, ok = r.Context().Value(connKey{}).(*timedConn)
	return c, ok
}

// A response is the output of a stream over a connection of net/http.
type response struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
	closed  bool
}

// close prevents writes, because the handler returns.
func (r *response) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
}

// Ready implements [jsonrpc.Output]. Another goroutine writes.
func (*response) Ready() bool { return false }

func (r *response) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, net.ErrClosed
	}
	n, err := r.w.Write(p)
	if err == nil {
		err = r.control.Flush()
	}
	return n, err
}

// A conn is a connection with an endless response, which net/http no longer knows.
type conn struct {
	net.Conn
	header  []byte // is sent before the first bytes
	chunked bool
}

// hijack takes a connection from net/http. The header of w is sent with the first bytes.
func hijack(w http.ResponseWriter, r *http.Request) (*conn, error) {
	c := &conn{chunked: r.ProtoAtLeast(1, 1)}
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 200 OK\r\n")
	w.Header().Write(&b)
	if c.chunked {
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	b.WriteString("Connection: close\r\nDate: " + time.Now().UTC().Format(http.TimeFormat) + "\r\n\r\n")
	nc, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	nc.SetReadDeadline(time.Time{})
	c.Conn, c.header = nc, b.Bytes()
	return c, nil
}

// Ready implements [jsonrpc.Output]. Another goroutine writes.
func (*conn) Ready() bool { return false }

// Write implements [jsonrpc.Output]. It is called by one goroutine at a time.
func (c *conn) Write(p []byte) (int, error) {
	frame := make([]byte, 0, len(c.header)+len(p)+16)
	frame = append(frame, c.header...)
	c.header = nil
	if c.chunked {
		frame = append(strconv.AppendInt(frame, int64(len(p)), 16), "\r\n"...)
	}
	frame = append(frame, p...)
	if c.chunked {
		frame = append(frame, "\r\n"...)
	}
	if _, err := c.Conn.Write(frame); err != nil {
		return 0, err
	}
	return len(p), nil
}

// finish ends the response.
func (c *conn) finish() {
	if c.chunked {
		c.Conn.Write([]byte("0\r\n\r\n"))
	}
	c.Close()
}

// awaitEnd returns when the client closes the connection. A client that sends anything else loses
// the connection.
func (c *conn) awaitEnd() {
	var b [1]byte
	c.Read(b[:])
	c.Close()
}
