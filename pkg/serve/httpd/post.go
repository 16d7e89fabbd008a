package httpd

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/protocol/subscribe"
	"mcp-bash/pkg/serve/httpd/internal/refuse"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// A post is a POST with requests, and their answers. If an answer comes first, the response is
// JSON. If anything else comes first, the response is a stream. It implements [protocol.Sink].
type post struct {
	server  *Server
	w       http.ResponseWriter
	r       *http.Request
	form    form
	session *session      // nil: of the stateless protocol
	id      jsonrpc.ID    // a copy, of a single request
	owner   string        // of the limited resources that it uses
	lasting bool          // the stream stays open without a goroutine
	gone    func()        // is called when the client closes a lasting stream
	done    chan struct{} // gets an element after the last answer

	mu       sync.Mutex
	expected int        // answers that have not come yet
	running  bool       // the message was accepted
	batch    bool       // the response is an array
	answer   []byte     // of a single request; nil: it ended without one
	answers  [][]byte   // of a batch
	bytes    int        // of answers
	reserved int        // bytes of unread, until the response has ended
	failure  *mcp.Error // in the answer of a single request
	refused  bool       // before the request ran
	stream   *stream    // nil: nothing came before the answer
	out      *response  // of the stream, unless the stream took over the connection
	broken   error      // the stream could not be opened
	waited   bool       // another goroutine may still wait in Reserve after the answer

	began          time.Duration // of the request, of [clock.Now]
	next, previous *post         // of Server.running
}

// newPost returns a post for a message with a number of requests.
func (s *Server) newPost(w http.ResponseWriter, r *http.Request, se *session, m *jsonrpc.Message, expected int) *post {
	p := s.posts.Get().(*post)
	*p = post{server: s, w: w, r: r, form: formOf(r), session: se, expected: expected, done: p.done,
		id: append(p.id[:0], m.ID...), answer: p.answer[:0]}
	return p
}

// keepAnswer is the length, in bytes, from which an answer is kept without a copy.
const keepAnswer = 32 << 10

// mostBatch is the maximum length, in bytes, of a batch of answers in one array. Longer batches are sent as events,
// so that the server need not keep all answers until the last one.
const mostBatch = 1 << 20

func (p *post) Last(line []byte, err *mcp.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case line == nil:
		if !p.batch {
			p.answer = nil
		}
	case p.stream != nil:
		p.stream.add(line)
	case p.batch:
		p.answers = append(p.answers, bytes.Clone(line))
		if p.bytes += len(line); p.bytes > mostBatch {
			p.open()
		}
	case len(line) < keepAnswer:
		p.answer = append(p.answer[:0], line...)
	default:
		p.answer = line
	}
	p.failure, p.refused = err, !p.running
	if p.expected--; p.expected > 0 {
		return
	}
	if p.lasting && p.stream != nil {
		go p.stream.end("")
	}
	p.done <- struct{}{}
}

// Queue implements [protocol.Sink]. The first message opens the stream. A client that accepts no stream gets the
// message on the stream of its session, if it has one.
func (p *post) Queue(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open()
	if st := p.outlet(); st != nil {
		st.add(line)
	}
}

// open makes the response a stream, and reports whether it is one. The lock is held.
func (p *post) open() bool {
	if p.stream != nil || p.broken != nil || !p.form.events {
		return p.stream != nil
	}
	var st *stream
	if p.session != nil {
		st = p.session.newStream()
	} else {
		st = newStream(p.server, nil, "")
	}
	if p.lasting {
		if p.broken = st.takeOver(p.w, p.r, 1); p.broken == nil {
			p.w, p.r = nil, nil // they refer to buffers of net/http, and the post lives as long as the stream
		}
	} else {
		p.server.streamHeader(p.w.Header())
		p.server.announceEnd(p.w.Header())
		p.out = &response{w: p.w, control: http.NewResponseController(p.w)}
		st.attach(p.out, 1)
	}
	if p.broken != nil {
		return false
	}
	for _, line := range p.answers {
		st.add(line)
	}
	p.stream, p.answers = st, nil
	return true
}

func (p *post) current() *stream {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stream
}

// outlet returns the stream for messages before the answer, or nil. The lock is held.
func (p *post) outlet() *stream {
	if !p.form.events && p.session != nil {
		return p.session.own
	}
	return p.stream
}

func (p *post) Push() {
	p.mu.Lock()
	st := p.outlet()
	p.mu.Unlock()
	if st != nil {
		st.push()
	}
}

// Deliver implements [protocol.Sink]. The handler sends the answer, unless others of a batch follow.
func (p *post) Deliver() {
	if p.batch {
		p.Push()
	}
}

func (p *post) Full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := p.reserved == 0 && !p.lasting
	st := p.outlet()
	full := counts && p.server.unread.full(p.owner) || st != nil && st.full()
	p.waited = p.waited || full
	return full
}

// Reserve implements [protocol.Sink]. It counts a large answer; other answers have the size 0. A batch reserves once
// for all its answers, because they are sent as events, and few of them are unread at a time.
func (p *post) Reserve(ctx context.Context, size int) {
	p.mu.Lock()
	first := p.reserved == 0 && !p.lasting
	if size > 0 {
		if p.batch {
			size = max(size, p.server.limits.pending/batchShare)
			p.open()
		}
		if first {
			p.reserved = size
		}
	}
	st := p.stream
	p.mu.Unlock()
	if first {
		p.server.unread.reserve(ctx, p.owner, size)
	}
	if st != nil {
		st.awaitRoom(ctx)
	}
}

// batchShare is the part of the bytes for unread answers that a batch takes.
const batchShare = 8

func (p *post) Release(int) {}

// serveStateless runs a request of the stateless protocol.
func (s *Server) serveStateless(w http.ResponseWriter, r *http.Request, body *body, m *jsonrpc.Message) {
	c := s.callerOf(auth.IdentityOf(r.Context()))
	if c == nil {
		s.refuse(w, r, http.StatusServiceUnavailable, m, errStopping)
		return
	}
	p := s.newPost(w, r, nil, m, 1)
	p.owner = c.owner
	key := "h" + strconv.FormatUint(s.last.Add(1), 36)
	if p.lasting = m.Method == subscribe.MethodListen; p.lasting {
		if !s.roomForStream(c.owner, nil) {
			s.refuse(w, r, http.StatusServiceUnavailable, m, errStreams)
			return
		}
		p.gone = func() { c.client.CancelStateless(key) }
	}
	task := c.client.AcceptStateless(body.bytes, m, key, p)
	body.done()
	s.arrived(connOf(r))
	if task == nil {
		s.respond(p, http.StatusOK)
		s.posts.Put(p)
		return
	}
	stop := context.AfterFunc(r.Context(), func() { c.client.CancelStateless(key) })
	if open := s.run(p, task); open {
		stop()
		p.stream.watch(p.gone)
		return
	}
	if stop() && !task.Lingers() {
		s.reuse(p)
	}
}

// reuse keeps a post for another request, unless another goroutine has it.
func (s *Server) reuse(p *post) {
	p.mu.Lock()
	free := !p.waited
	p.mu.Unlock()
	if free {
		s.posts.Put(p)
	}
}

// run runs an accepted request, and answers it unless its stream stays open.
func (s *Server) run(p *post, task protocol.Task) (open bool) {
	p.mu.Lock()
	p.running = true
	p.mu.Unlock()
	if s.limits.keepAlive > 0 && !p.lasting {
		s.running.add(p)
		defer s.running.remove(p)
	}
	if task.Lingers() {
		go task.Run()
	} else {
		task.Run()
	}
	if p.lasting {
		p.mu.Lock()
		open, broken := p.expected > 0, p.broken != nil
		p.mu.Unlock()
		switch {
		case open && broken:
			p.gone()
		case open:
			return true
		}
	}
	s.respond(p, http.StatusOK)
	return false
}

// respond waits for the answers and sends them.
func (s *Server) respond(p *post, status int) {
	<-p.done
	defer p.read()
	if p.failure != nil && !p.batch {
		status = p.status()
	}
	if !p.form.json && status == http.StatusOK {
		p.convert()
	}
	if st := p.current(); st != nil {
		if !p.lasting {
			st.end("")
			p.out.close()
			s.endChunks(p.w, p.r)
		}
		if p.session != nil {
			p.session.retire(st)
		}
		return
	}
	h := p.w.Header()
	s.announceEnd(h)
	switch {
	case p.batch:
		p.answer = joined(p.answers)
	case len(p.answer) == 0: // it was cancelled
		if !s.serving.Load() {
			refuse.Write(p.w, nil, http.StatusServiceUnavailable, p.id, errStopping) // the protocol has recorded it
			return
		}
		if !p.form.events {
			p.w.WriteHeader(http.StatusNoContent)
			return
		}
		s.streamHeader(h)
		p.w.WriteHeader(http.StatusOK)
		return
	}
	h["Content-Type"] = s.values.json
	if len(p.answer) > 1<<10 {
		h["Content-Length"] = []string{strconv.Itoa(len(p.answer))}
	}
	switch {
	case status == http.StatusServiceUnavailable:
		h["Retry-After"] = []string{"1"}
	case status == http.StatusForbidden && s.challenge != nil:
		h["Www-Authenticate"] = []string{s.challenge(p.failure.NeedsScope)}
	}
	if status != http.StatusOK {
		p.w.WriteHeader(status)
	}
	s.write(p)
	if cap(p.answer) > keepAnswer {
		p.answer = nil
	}
}

// convert makes the response a stream, for a client that accepts no JSON.
func (p *post) convert() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stream == nil && p.open() && len(p.answer) > 0 {
		p.stream.add(p.answer)
	}
}

// read no longer counts the answers as unread. The client has read them, or is gone.
func (p *post) read() {
	p.mu.Lock()
	size := p.reserved
	p.reserved = 0
	p.mu.Unlock()
	if size > 0 {
		p.server.unread.release(p.owner, size)
	}
}

// Answers with a length between these, in bytes, are gathered. Shorter ones fit into the buffer of net/http (4 KiB)
// together with the header. Longer ones cost more to copy than a write.
const leastGathered, mostGathered = 3 << 10, 32 << 10

// write writes the answer. net/http splits an answer that does not fit into its buffer into two writes. A write is the
// largest part of the cost of a response.
func (s *Server) write(p *post) {
	c := connOf(p.r)
	if n := len(p.answer); c == nil || n < leastGathered || n > mostGathered {
		p.w.Write(p.answer)
		return
	}
	buffer := s.bodies.Get().(*[]byte)
	defer s.recycle(buffer)
	c.gather(buffer, func() {
		p.w.Write(p.answer)
		http.NewResponseController(p.w).Flush()
	})
}

// status returns the status of HTTP for an error.
func (p *post) status() int {
	switch {
	case p.failure == protocol.ErrBusy:
		return http.StatusServiceUnavailable
	case p.failure == protocol.ErrNoSession:
		return http.StatusNotFound
	case p.failure.NeedsScope != "":
		return http.StatusForbidden
	case p.session != nil && p.refused:
		if p.failure.Code == mcp.CodeInvalidRequest {
			return http.StatusBadRequest
		}
	case p.session != nil:
	case p.refused && p.failure.Code == mcp.CodeMethodNotFound:
		return http.StatusNotFound
	case p.refused && p.failure.Code == mcp.CodeInternal:
		return http.StatusServiceUnavailable
	case p.refused, p.failure.Own && p.failure.Code == mcp.CodeMissingCapability:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// joined returns a batch of answers.
func joined(answers [][]byte) []byte {
	var b rawjson.Builder
	b.Array()
	for _, line := range answers {
		b.Raw(bytes.TrimSuffix(line, []byte("\n")))
	}
	return b.End().Bytes()
}

// running lists the posts whose requests run. Adding a post costs less than a timer, which few requests need.
type running struct {
	mu    sync.Mutex
	first *post
}

func (l *running) add(p *post) {
	p.began = clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.next = l.first; p.next != nil {
		p.next.previous = p
	}
	l.first = p
}

// remove removes a post. Then [running.keepAlive] does not use it any more.
func (l *running) remove(p *post) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.next != nil {
		p.next.previous = p.previous
	}
	if p.previous != nil {
		p.previous.next = p.next
	} else {
		l.first = p.next
	}
	p.next, p.previous = nil, nil
}

// keepAlive sends a comment to each client that has got nothing for a time, so that no proxy closes the connection. It
// never waits for a client.
func (l *running) keepAlive(within time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := l.first; p != nil; p = p.next {
		p.keepAlive(within)
	}
}

// keepAlive sends a comment on the stream of a slow request, which it opens if necessary.
func (p *post) keepAlive(within time.Duration) {
	p.mu.Lock()
	before := p.stream
	due := p.expected > 0 && (before != nil && before.silent(within) || before == nil && clock.Now()-p.began >= within)
	due = due && p.open()
	st := p.stream
	p.mu.Unlock()
	if due {
		st.comment("")
	}
}

// silent reports whether nothing was sent on the stream for a time.
func (st *stream) silent(within time.Duration) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return time.Since(st.active) >= within
}
