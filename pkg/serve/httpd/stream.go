package httpd

import (
	"bytes"
	"container/list"
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/wire/jsonrpc"
)

// A stream is a response of Server-Sent Events. The stream of a session keeps its last events, so
// that a client can resume it over another connection.
type stream struct {
	server  *Server
	session *session // nil: events have no ids, and are not kept
	name    string   // begins the ids of events

	mu     sync.Mutex
	next   int             // the number of the next event
	sent   int             // the number after the last event that was sent on a connection
	events []event         // kept for resumption, the oldest first
	bytes  int             // of events
	over   bool            // there will be no more events
	writer *jsonrpc.Writer // to the connection; nil: not connected
	conn   *conn           // of writer, if net/http does not know it
	active time.Time       // when the last bytes were queued
	opener *auth.Identity  // of the request that opened the connection

	listed *list.Element // of Server.ended; guarded by the lock of the server
}

// An event is a message that a client may get again.
type event struct {
	number int
	data   []byte
}

// maxEvents is the maximum number of events that a stream keeps.
const maxEvents = 256

// streamShare is the part of the bytes for all streams that one stream can have unread.
const streamShare = 16

// newStream returns a stream without a connection. Its first event has the number 1.
func newStream(s *Server, se *session, name string) *stream {
	return &stream{server: s, session: se, name: name, next: 1, sent: 1}
}

// streamHeader sets the header of a stream.
func (s *Server) streamHeader(h http.Header) {
	h["Content-Type"], h["Cache-Control"] = s.values.events, s.values.noStore
	h["X-Accel-Buffering"] = s.values.noBuffering
}

// add queues a message without writing it.
func (st *stream) add(line []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.over {
		return
	}
	data := make([]byte, 0, len(line)+64)
	data = append(data, "event: message\n"...)
	if st.session != nil {
		data = append(append(append(data, "id: "...), st.id(st.next)...), '\n')
	}
	data = append(append(append(data, "data: "...), bytes.TrimSuffix(line, []byte("\n"))...), "\n\n"...)
	if st.session != nil {
		st.keep(data)
	}
	st.next++
	if st.writer != nil {
		st.writer.Queue(data)
		st.sent, st.active = st.next, time.Now()
	}
}

// id returns the id of an event. The client resumes after it.
func (st *stream) id(number int) string { return st.name + "-" + strconv.Itoa(number) }

// reached reports whether the stream has had an event with a number. Zero is before the first event.
func (st *stream) reached(number int) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return number >= 0 && number < st.next
}

// keep stores an event for resumption, within the limits. The lock is held.
func (st *stream) keep(data []byte) {
	st.events = append(st.events, event{st.next, data})
	st.bytes += len(data)
	st.server.kept.add(st.session.owner, len(data))
	for len(st.events) > 1 && (len(st.events) > maxEvents || st.bytes > st.server.limits.replay ||
		st.server.kept.over(st.session.owner)) {
		st.forget(1)
	}
}

// forget drops the oldest events. The lock is held.
func (st *stream) forget(n int) {
	for _, e := range st.events[:n] {
		st.bytes -= len(e.data)
		st.server.kept.add(st.session.owner, -len(e.data))
	}
	clear(st.events[:n])
	st.events = st.events[n:]
}

// drop drops all events, because the stream cannot be resumed any more.
func (st *stream) drop() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.forget(len(st.events))
}

// attach connects the stream to an output, and sends the events from number from on. For 0, it sends the events that no
// connection got. It replaces another connection.
func (st *stream) attach(out jsonrpc.Output, from int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if w, c := st.writer, st.conn; c != nil {
		go func() {
			w.Flush()
			c.finish()
		}()
	}
	if from == 0 {
		from = st.sent
	}
	c, _ := out.(*conn)
	st.conn, st.active = c, time.Now()
	w := jsonrpc.NewWriter(out, st.server.limits.pending/streamShare, func(error, int) {
		if c != nil {
			c.Close() // watch notices
		}
	})
	st.writer = w
	switch {
	case st.session != nil && st.session.client.PrimesStreams(): // H-45
		w.Queue([]byte("id: " + st.id(from-1) + "\nretry: 2000\ndata: \n\n"))
	case c != nil: // the header of the response is sent with the first bytes
		w.Queue([]byte(": \n\n"))
	}
	for _, e := range st.events {
		if e.number >= from {
			w.Queue(e.data)
		}
	}
	st.sent = st.next
	w.Push()
}

// complete reports whether the stream has ended and no event from a number on remains.
func (st *stream) complete(from int) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.over && from >= st.next
}

// disconnect removes the connection from the stream. The lock is held.
func (st *stream) disconnect() {
	if st.writer != nil {
		st.writer.Close()
		st.writer = nil
	}
	if st.conn != nil {
		st.conn.Close()
		st.conn = nil
	}
}

// detach removes a connection that the client has closed, unless another connection has replaced it.
func (st *stream) detach(c *conn) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.conn == c {
		st.disconnect()
	}
}

func (st *stream) current() *jsonrpc.Writer {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.writer
}

func (st *stream) push() {
	if w := st.current(); w != nil {
		w.Push()
	}
}

func (st *stream) full() bool {
	w := st.current()
	return w != nil && w.Full()
}

func (st *stream) awaitRoom(ctx context.Context) {
	if w := st.current(); w != nil {
		w.Reserve(ctx, 0)
	}
}

// comment sends a comment, which clients ignore.
func (st *stream) comment(text string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if w := st.writer; w != nil {
		st.active = time.Now()
		w.Queue([]byte(": " + text + "\n\n"))
		w.Push()
	}
}

// end ends the stream once everything is written. reason is text for people.
func (st *stream) end(reason string) {
	st.mu.Lock()
	st.over = true
	st.mu.Unlock()
	st.hangUp(reason)
}

// hangUp closes the connection once everything is written. The client can resume the stream.
func (st *stream) hangUp(reason string) {
	st.mu.Lock()
	w, c := st.writer, st.conn
	if w != nil && reason != "" {
		w.Queue([]byte(": " + reason + "\n\n"))
	}
	st.mu.Unlock()
	if w == nil {
		return
	}
	w.Flush()
	if c != nil {
		c.finish()
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.writer == w {
		st.disconnect()
	}
}

// takeOver makes a connection of net/http the stream's own, and sends the events from a number on (see attach). So
// the stream keeps no goroutine and no buffers of net/http.
func (st *stream) takeOver(w http.ResponseWriter, r *http.Request, from int) error {
	st.server.streamHeader(w.Header())
	c, err := hijack(w, r)
	if err != nil {
		return err
	}
	opener := auth.IdentityOf(r.Context())
	st.mu.Lock()
	st.opener = opener
	st.mu.Unlock()
	s := st.server
	s.mu.Lock() // the stream counts before its client can ask for another one
	defer s.mu.Unlock()
	st.attach(c, from)
	if _, known := s.streams[st]; !known {
		s.streams[st] = opener.Owner()
		s.persons.streams.Add(opener.Owner(), 1)
	}
	return nil
}

// watch waits on another goroutine until the client closes the connection. Then it calls gone.
func (st *stream) watch(gone func()) {
	st.mu.Lock()
	c := st.conn
	st.mu.Unlock()
	if c == nil {
		st.left(gone)
		return
	}
	go func() {
		var b [1]byte
		c.Read(b[:]) // also returns if the client sends anything
		c.Close()
		st.detach(c)
		st.left(gone)
	}()
}

// left removes a stream without a connection from the server.
func (st *stream) left(gone func()) {
	s := st.server
	s.mu.Lock()
	st.mu.Lock()
	if owner, known := s.streams[st]; known && st.conn == nil {
		delete(s.streams, st)
		s.persons.streams.Add(owner, -1)
	}
	st.mu.Unlock()
	s.mu.Unlock()
	if gone != nil {
		gone()
	}
}

// roomForStream reports whether another stream of a person may stay open. st is a stream whose connection it replaces,
// if it has one, or nil.
func (s *Server) roomForStream(person string, st *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, replaces := s.streams[st]
	return !s.closing && (replaces || !s.persons.streams.Full(person, s.limits.streams))
}
