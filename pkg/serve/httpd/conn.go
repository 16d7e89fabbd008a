package httpd

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/serve/httpd/internal/channel"
)

// A timedConn is a connection of a client that must read each write within a time. The server can end it while the
// client uses it.
type timedConn struct {
	net.Conn
	within time.Duration
	until  atomic.Int64 // the deadline, of [clock.Now]

	mu       sync.Mutex
	gathered *[]byte // collects writes; nil: each write is sent at once

	used    atomic.Bool // bytes have arrived since the last answer
	pending atomic.Bool // a request has arrived, and no protocol.Client has it yet
	ending  sync.Mutex
	ended   bool        // the next request is the last one
	extra   atomic.Bool // above the limit of connections
}

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

// gather collects everything that do writes in a buffer, and sends it with one write.
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

func (c *timedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && !c.used.Load() {
		// The system may have received a request since the last read.
		if n = readNow(c.Conn, p); n > 0 {
			err = nil
		}
	}
	if n > 0 && !c.used.Load() {
		c.use()
	}
	return n, err
}

// SetReadDeadline implements [net.Conn]. A connection above the limit has less time for a header, because clients wait
// for its place.
func (c *timedConn) SetReadDeadline(at time.Time) error {
	if c.extra.Load() && !c.used.Load() {
		if latest := time.Now().Add(extraTime); at.After(latest) {
			at = latest
		}
	}
	return c.Conn.SetReadDeadline(at)
}

// use records that a request arrives. If the server has begun to end the connection, it extends the connection's
// time.
func (c *timedConn) use() {
	c.ending.Lock()
	defer c.ending.Unlock()
	c.used.Store(true)
	if c.ended {
		c.SetReadDeadline(time.Now().Add(headerTime))
	}
}

// endUnused ends the connection if no byte of another request has arrived. It sets a deadline, so that the goroutine
// that reads requests ends the connection and reads no other request.
func (c *timedConn) endUnused() {
	c.ending.Lock()
	defer c.ending.Unlock()
	if !c.used.Load() {
		c.ended = true
		c.SetReadDeadline(time.Now())
	}
}

// timed returns the timedConn inside a connection with a channel, TLS or the header of a proxy, or nil.
func timed(nc net.Conn) *timedConn {
	for {
		switch c := nc.(type) {
		case *timedConn:
			return c
		case *channel.Conn:
			nc = c.Conn
		case interface{ NetConn() net.Conn }:
			nc = c.NetConn()
		default:
			return nil
		}
	}
}

// connKey is the key of the connection in the context of a request.
type connKey struct{}

// withConn is for [http.Server.ConnContext].
func withConn(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, timed(nc))
}

// connOf returns the connection of a request, or nil.
func connOf(r *http.Request) *timedConn {
	c, _ := r.Context().Value(connKey{}).(*timedConn)
	return c
}

// isExtra reports whether the connection of a request is above the limit of connections.
func isExtra(r *http.Request) bool {
	c := connOf(r)
	return c != nil && c.extra.Load()
}

// A response is the output of a stream over a connection of net/http.
type response struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
	closed  bool
}

// close prevents later writes. It is called before the handler returns.
func (r *response) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
}

// Ready implements [jsonrpc.Output]. It returns false, so another goroutine writes.
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

// finishChunks writes the end of a response in chunks, and closes its connection, in one packet if possible.
func finishChunks(nc net.Conn) {
	if c := timed(nc); c != nil {
		cork(c.Conn)
	}
	nc.Write([]byte("0\r\n\r\n"))
	nc.Close()
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

// Ready implements [jsonrpc.Output]. It returns false, so another goroutine writes.
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
		finishChunks(c.Conn)
		return
	}
	c.Close()
}

const (
	// keptTime is how long unused connections stay open after the server has stopped accepting connections. A load
	// balancer can send a request over one until it notices that the server ends.
	keptTime = time.Second
	// lateTime is how long after keptTime the rest of a request may take that has begun to arrive.
	lateTime = 500 * time.Millisecond
	// handshakeTime is how long a handshake may take that began before the server refused new ones.
	handshakeTime = 250 * time.Millisecond
	settlePace    = time.Millisecond
	keptPace      = 10 * time.Millisecond
)

// settle prepares the listener for its end. Closing the listener would reset connections that were not accepted yet,
// and their clients may have sent requests. So settle refuses new connections, and returns when all others are
// accepted or ctx ends. within is the time for TCP handshakes that have begun: such a client may believe that it is
// connected. settle does not change a socket of a service manager, whose connections the next server accepts.
func (l *Listener) settle(ctx context.Context, within time.Duration) {
	if l.inherited {
		return
	}
	l.remove()
	refuseConnections(l.Listener)
	begun, stop := context.WithTimeout(ctx, within)
	defer stop()
	for hasHandshakes(l.Listener) && pause(begun, settlePace) {
	}
	for hasConnections(l.Listener) && pause(ctx, settlePace) {
	}
}

// pause waits for d, and returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitTasks waits until tasks have ended and clients have fetched the answers, within the time for running requests.
// Clients fetch answers over other connections, so the server still accepts connections.
func (s *Server) awaitTasks() {
	ctx, cancel := context.WithTimeout(s.Context, s.limits.drain)
	defer cancel()
	for began := time.Now(); s.Config.Server.OwesTasks(began) && pause(ctx, keptPace); {
	}
}

// settle stops accepting connections, and then ends those without a request, so that no request is lost. Each answer
// of a server that ends closes its connection. So only connections on which nothing was sent for keptTime remain
// unused. An answer that is already being written may not announce its close, and the client can send another
// request. So such connections have keptTime, too.
func (s *Server) settle() {
	ctx, cancel := context.WithTimeout(s.Context, s.limits.kept+lateTime)
	defer cancel()
	s.Listener.settle(ctx, handshakeTime)
	s.Listener.Close()
	select {
	case <-s.accepted:
	case <-ctx.Done():
	}
	kept, enough := context.WithTimeout(ctx, s.limits.kept)
	defer enough()
	for s.connections.Open() > 0 && pause(kept, keptPace) {
	}
	for unused := s.connections.Unused(); len(unused) > 0; unused = s.connections.Unused() {
		for _, nc := range unused {
			if c := timed(nc); c != nil {
				c.endUnused()
			}
		}
		if !pause(ctx, settlePace) {
			return
		}
	}
	for s.pending.Load() > 0 && pause(ctx, settlePace) {
	}
}

// follow follows the state of a connection. It is for [http.Server.ConnState].
func (s *Server) follow(nc net.Conn, state http.ConnState) {
	if c := timed(nc); c != nil {
		s.arrived(c)
		switch state {
		case http.StateActive:
			c.pending.Store(true)
			s.pending.Add(1)
		case http.StateIdle:
			c.used.Store(false)
		}
	}
	s.connections.State(nc, state)
	if c := timed(nc); c != nil && state == http.StateNew {
		c.extra.Store(s.connections.Exceeded())
	}
}

// arrived records that the request that has arrived on a connection has reached its client.
func (s *Server) arrived(c *timedConn) {
	if c != nil && c.pending.Swap(false) {
		s.pending.Add(-1)
	}
}

// announceEnd lets a response announce the end of its connection while the server ends.
func (s *Server) announceEnd(h http.Header) {
	if !s.serving.Load() {
		h["Connection"] = s.values.closes
	}
}

// endChunks ends a response in chunks while the server ends, and closes its connection with the last bytes. Otherwise
// a load balancer would send another request over a connection whose end was not announced.
func (s *Server) endChunks(w http.ResponseWriter, r *http.Request) {
	if s.serving.Load() || w.Header()["Connection"] != nil || !r.ProtoAtLeast(1, 1) {
		return
	}
	if nc, _, err := http.NewResponseController(w).Hijack(); err == nil {
		finishChunks(nc)
	}
}
