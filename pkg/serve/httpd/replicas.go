package httpd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/serve/httpd/internal/channel"
	"mcp-bash/pkg/serve/httpd/internal/forward"
	"mcp-bash/pkg/serve/httpd/internal/guard"
	"mcp-bash/pkg/serve/httpd/internal/headers"
	"mcp-bash/pkg/serve/httpd/internal/refuse"
)

// replicas are the other replicas. Their requests come over channels, which an HTTP server without a guard serves:
// each request states its caller.
type replicas struct {
	http.Server
	*forward.Forwarder
	server   *Server
	channels *channels
	other    atomic.Pointer[protocol.Owner] // the last replica that has answered
}

// send sends a message like [forward.Forwarder.Send], and remembers the replica if it answers.
func (p *replicas) send(m forward.Message, to protocol.Owner) (*http.Response, error) {
	answer, err := p.Send(m, to.Process, to.URL)
	if err == nil {
		p.other.Store(&to)
	}
	return answer, err
}

func newReplicas(s *Server, handler http.Handler) *replicas {
	most := settings.Int(s.Project.Env, "MCPBASH_HTTP_MAX_CONNECTIONS")
	open := guard.NewConnections(most)
	p := &replicas{
		Forwarder: forward.New(channel.NewKeys(s.Config.Server.Replica.Keys), forward.Patience, nil), server: s,
		channels: &channels{Listener: s.Listener, begun: make(chan net.Conn), closed: make(chan struct{})},
	}
	p.Server = http.Server{
		Handler: s.prepare(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			received, err := forward.Receive(r)
			switch {
			case err != nil:
				refuse.Write(w, r, http.StatusBadRequest, nil, invalid(err.Error()))
			case s.Gate != nil:
				s.Gate.guard.Count(w, received, handler)
			default:
				handler.ServeHTTP(w, received)
			}
		})),
		ReadHeaderTimeout: forward.Patience, ReadTimeout: bodyTime, ErrorLog: s.http.ErrorLog,
		MaxHeaderBytes: s.limits.header + forward.MaxStatement, ConnContext: withConn,
		ConnState: func(nc net.Conn, state http.ConnState) {
			if state != http.StateNew && state != http.StateActive {
				s.arrived(timed(nc))
			}
			open.State(nc, state)
		},
	}
	return p
}

// meet returns a handler that begins channels, and gives all other requests to next.
func (p *replicas) meet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != forward.Path || !p.begin(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// begin begins a channel, and returns false if the request does not ask for one with the proof of the key. The request
// that the channel brings is pending from here on, so that the end of this replica waits for it.
func (p *replicas) begin(w http.ResponseWriter, r *http.Request) bool {
	s := p.server
	s.pending.Add(1)
	conn, err := p.Accept(w, r, s.Config.Server.Self().Process)
	c := timed(conn)
	if err != nil || c == nil {
		s.pending.Add(-1)
	} else {
		c.pending.Store(true)
	}
	if err == nil && !p.channels.add(conn) {
		s.arrived(c)
	}
	return err != channel.ErrNoProof
}

// channels is a [net.Listener] whose connections are the channels that other replicas begin.
type channels struct {
	net.Listener // has the address
	begun        chan net.Conn
	closed       chan struct{}
	once         sync.Once
}

// add adds a channel, and reports whether it is served.
func (c *channels) add(conn net.Conn) bool {
	select {
	case c.begun <- conn:
		return true
	case <-c.closed:
		conn.Close()
		return false
	}
}

func (c *channels) Accept() (net.Conn, error) {
	select {
	case conn := <-c.begun:
		return conn, nil
	case <-c.closed:
		return nil, net.ErrClosed
	}
}

func (c *channels) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// passSession passes a request of another replica's session on to that replica, and reports whether the request is
// answered. If that replica does not exist, gone answers.
func (s *Server) passSession(w http.ResponseWriter, r *http.Request, body *body, gone func()) bool {
	names := r.Header[headers.Session]
	if len(names) != 1 || forward.Forwarded(r) {
		return false
	}
	owner := s.Config.Server.SessionOwner(names[0], auth.IdentityOf(r.Context()))
	if owner.URL == "" {
		return false
	}
	s.arrived(connOf(r))
	s.passOn(w, r, body, owner, gone)
	return true
}

// passOn passes a request on to the replica that owns its target, and sends the answer. If that replica does not
// answer, passOn calls gone.
func (s *Server) passOn(w http.ResponseWriter, r *http.Request, body *body, to protocol.Owner, gone func()) {
	if r.Method == http.MethodGet {
		s.passStream(w, r, to, gone)
		return
	}
	message := forward.Message{Request: r, Sent: body.done}
	if body != nil {
		message.Body = body.keep() // it can be sent after the answer has begun, and gone may need it
	}
	answer, err := s.replicas.send(message, to)
	if err != nil {
		if r.Context().Err() == nil {
			gone()
		}
		return
	}
	defer answer.Body.Close()
	s.announceEnd(w.Header())
	if err := copyAnswer(w, answer); err != nil {
		panic(http.ErrAbortHandler) // an answer that ends early must not look complete
	}
	if answer.ContentLength < 0 {
		s.endChunks(w, r)
	}
}

// copyAnswer sends the answer of another replica as it arrives.
func copyAnswer(w http.ResponseWriter, answer *http.Response) error {
	maps.Copy(w.Header(), answer.Header)
	whole := answer.ContentLength >= 0
	if whole {
		w.Header()["Content-Length"] = []string{strconv.FormatInt(answer.ContentLength, 10)}
	}
	w.WriteHeader(answer.StatusCode)
	control, buffer := http.NewResponseController(w), make([]byte, 32<<10)
	for {
		n, err := answer.Body.Read(buffer)
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !whole:
			if err := control.Flush(); err != nil {
				return err
			}
		}
	}
}

// passStream is passOn for a GET. Its stream has the limits of a stream of this replica, and does not count as a
// request.
func (s *Server) passStream(w http.ResponseWriter, r *http.Request, to protocol.Owner, gone func()) {
	if !s.roomForStream(auth.IdentityOf(r.Context()).Owner(), nil) {
		s.refuse(w, r, http.StatusServiceUnavailable, nil, errStreams)
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // the stream outlives the handler
	stop := context.AfterFunc(r.Context(), cancel)
	defer stop()
	answer, err := s.replicas.send(forward.Message{Request: r.WithContext(ctx)}, to)
	if err != nil {
		cancel()
		if r.Context().Err() == nil {
			gone()
		}
		return
	}
	if answer.StatusCode != http.StatusOK {
		defer cancel()
		copyAnswer(w, answer)
		return
	}
	maps.Copy(w.Header(), answer.Header)
	st := newStream(s, nil, "")
	if !stop() || st.takeOver(w, r, 1) != nil {
		cancel()
		return
	}
	st.watch(cancel)
	go st.relay(ctx, answer.Body)
}

// relay sends the events of another replica, until that replica or the client ends the stream.
func (st *stream) relay(ctx context.Context, events io.ReadCloser) {
	defer events.Close()
	reader := bufio.NewReader(events)
	for {
		event, err := readEvent(reader, st.server.limits.pending)
		if err == io.EOF {
			st.end("")
			return
		}
		if err != nil || !st.pass(ctx, event) {
			st.mu.Lock()
			st.disconnect()
			st.mu.Unlock()
			return
		}
	}
}

// pass sends an event, and waits until there is room for another one. It returns false if there is no client.
func (st *stream) pass(ctx context.Context, event []byte) bool {
	st.mu.Lock()
	w := st.writer
	if w != nil {
		w.Queue(event)
		st.active = time.Now()
	}
	st.mu.Unlock()
	if w == nil {
		return false
	}
	w.Push()
	w.Reserve(ctx, 0)
	return ctx.Err() == nil
}

var errLongEvent = errors.New("an event is too long")

// readEvent reads a whole event or comment of a stream, so that a comment of this replica can follow it.
func readEvent(r *bufio.Reader, most int) (event []byte, err error) {
	for begun := true; ; { // a line begins
		part, err := r.ReadSlice('\n')
		event = append(event, part...)
		switch {
		case err == io.EOF && len(event) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil && err != bufio.ErrBufferFull:
			return nil, err
		case len(event) > most:
			return nil, errLongEvent
		case begun && len(part) == 1 && err == nil:
			return event, nil
		}
		begun = err == nil
	}
}
