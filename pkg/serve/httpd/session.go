package httpd

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/serve/httpd/internal/headers"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// A session is a client of the handshake protocol. It implements [protocol.Connection]: messages
// that belong to no request go to the stream that the client opens with GET.
type session struct {
	server *Server
	id     string
	owner  string // the key of the identity that began it
	local  bool   // it was begun on this machine for certain, so its client chooses the roots
	client *protocol.Client
	own    *stream // for messages that belong to no request
	accept sync.Mutex

	open atomic.Int32 // requests of HTTP that are not answered
	used atomic.Int64 // when the last one ended, of [clock.Now]

	mu       sync.Mutex
	last     int // the number of the last stream
	streams  map[string]*stream
	finished []*stream // that can still be resumed, the oldest first
}

// maxFinished is the number of ended streams of a session that can be resumed.
const maxFinished = 16

// newSession begins a session. The error is for a server with too many sessions, or one that ends.
func (s *Server) newSession(r *http.Request) (*session, *mcp.Error) {
	id := auth.IdentityOf(r.Context())
	se := &session{
		server: s, id: s.Server.NewSessionID(id), owner: id.Key(), local: !s.fromStranger(r),
		streams: map[string]*stream{},
	}
	se.own = se.newStream()
	se.touch()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return nil, errStopping
	case crowded(s.sessions, s.limits.sessions, se.owner, func(other *session) string { return other.owner }):
		return nil, errSessions
	}
	se.client = s.Server.NewClient(se, protocol.Caller{
		Identity: id, Remote: !s.TrustRoots && !se.local, Shared: true, MaxStreams: s.limits.streams,
	})
	s.sessions[se.id] = se
	return se, nil
}

// crowded reports whether an identity may add no entry to a table. It has at most half of the entries, so it leaves
// room for others. Callers without identity are programs of this machine, and can have all.
func crowded[K comparable, V any](table map[K]V, most int, owner string, ownerOf func(V) string) bool {
	half := (most + 1) / 2
	if owner == "" || len(table) < half || len(table) >= most {
		return len(table) >= most
	}
	n := 0
	for _, entry := range table {
		if ownerOf(entry) == owner {
			n++
		}
	}
	return n >= half
}

var (
	errStopping  = mcp.Errorf(mcp.CodeInternal, "Server shutting down")
	errSessions  = mcp.Errorf(mcp.CodeInternal, "Too many sessions")
	errStreams   = mcp.Errorf(mcp.CodeInternal, "Too many open streams")
	errNoSession = mcp.Errorf(mcp.CodeInvalidRequest, "Session not found")
)

// sessionOf returns the session that a request names. If the session does not exist, it answers the request.
func (s *Server) sessionOf(w http.ResponseWriter, r *http.Request, id jsonrpc.ID) *session {
	names := r.Header[headers.Session]
	if len(names) != 1 {
		s.refuse(w, http.StatusBadRequest, id, invalid("Mcp-Session-Id is missing; begin with initialize"))
		return nil
	}
	s.mu.Lock()
	se := s.sessions[names[0]]
	s.mu.Unlock()
	if se == nil || se.owner != auth.IdentityOf(r.Context()).Key() || se.local && s.fromStranger(r) {
		s.refuse(w, http.StatusNotFound, id, errNoSession)
		return nil
	}
	if version := r.Header[headers.Version]; len(version) > 0 && !se.client.Speaks(version[0]) {
		s.refuse(w, http.StatusBadRequest, id, invalid("MCP-Protocol-Version is not that of the session"))
		return nil
	}
	return se
}

// begin counts a request of HTTP, so that the session is not idle until the returned function is
// called.
func (se *session) begin() (end func()) {
	se.open.Add(1)
	return func() {
		se.touch()
		se.open.Add(-1)
	}
}

// postSession answers a POST of the handshake protocol (http section 4).
func (s *Server) postSession(w http.ResponseWriter, r *http.Request, body *body, m *jsonrpc.Message) {
	var se *session
	begins := m.Shape == jsonrpc.Request && m.Method == "initialize" && r.Header[headers.Session] == nil
	if begins {
		var err *mcp.Error
		if se, err = s.newSession(r); err != nil {
			s.refuse(w, http.StatusServiceUnavailable, m.ID, err)
			return
		}
		w.Header()[headers.Session] = []string{se.id}
	} else if s.passSession(w, r, body, m.ID) {
		return
	} else if se = s.sessionOf(w, r, m.ID); se == nil {
		return
	}
	defer se.begin()()
	expected, batch := se.answersOf(m)
	p := s.newPost(w, r, se, expected)
	p.batch, p.key = batch, se.owner
	se.accept.Lock()
	task := se.client.AcceptParsed(body.bytes, m, p)
	se.accept.Unlock()
	body.done()
	s.arrived(connOf(r))
	switch {
	case expected == 0:
		w.WriteHeader(http.StatusAccepted)
	case task != nil:
		s.run(p, task)
		if !batch && p.current() == nil && len(p.answer) > 0 {
			s.reuse(p)
		}
	default:
		if begins && p.failure != nil {
			delete(w.Header(), headers.Session)
			s.endSession(se)
		}
		s.respond(p, http.StatusOK)
	}
}

// answersOf returns the number of answers to a message, and whether they are an array.
func (se *session) answersOf(m *jsonrpc.Message) (n int, batch bool) {
	if m.Shape != jsonrpc.Batch || !se.client.AcceptsBatches() {
		if m.IsAnswered() {
			n = 1
		}
		return n, false
	}
	empty := true
	for e := range rawjson.Elements(m.Array) {
		empty = false
		if element := jsonrpc.Classify(e); element.IsAnswered() {
			n++
		}
	}
	if empty {
		return 1, false
	}
	return n, true
}

// get opens or resumes a stream of a session.
func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	if protocol.IsStateless(r.Header.Get(headers.Version)) { // H-26
		w.Header().Set("Allow", "POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	if !headers.Accepts(r.Header, "text", "event-stream") {
		s.refuse(w, http.StatusNotAcceptable, nil, invalid("Accept must list text/event-stream"))
		return
	}
	if s.passSession(w, r, nil, nil) {
		return
	}
	se := s.sessionOf(w, r, nil)
	if se == nil {
		return
	}
	defer se.begin()()
	st, from := se.own, 0
	if last := r.Header.Get(headers.LastEvent); last != "" {
		if st, from = se.after(last); st == nil {
			s.refuse(w, http.StatusBadRequest, nil, invalid("Last-Event-ID is unknown or too old"))
			return
		}
		if st.complete(from) {
			w.WriteHeader(http.StatusNoContent) // H-43
			return
		}
	}
	if !s.roomForStream(se.owner) {
		s.refuse(w, http.StatusServiceUnavailable, nil, errStreams)
		return
	}
	if from == 0 {
		st.mu.Lock()
		from = st.sent
		st.mu.Unlock()
	}
	if err := st.resume(w, r, from); err != nil {
		s.refuse(w, http.StatusInternalServerError, nil, mcp.Errorf(mcp.CodeInternal, "Internal error"))
		return
	}
	st.mu.Lock()
	over := st.over
	st.mu.Unlock()
	if over {
		st.end("")
	}
	st.watch(se.touch)
}

// after returns the stream of an event, and the number of the event after it.
func (se *session) after(id string) (*stream, int) {
	name, number, ok := parseID(id)
	se.mu.Lock()
	defer se.mu.Unlock()
	if st := se.streams[name]; ok && st != nil {
		return st, number + 1
	}
	return nil, 0
}

// touch begins the time after which the session is idle.
func (se *session) touch() { se.used.Store(int64(clock.Now())) }

// delete ends a session.
func (s *Server) delete(w http.ResponseWriter, r *http.Request) {
	if protocol.IsStateless(r.Header.Get(headers.Version)) {
		w.Header().Set("Allow", "POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	if s.passSession(w, r, nil, nil) {
		return
	}
	if se := s.sessionOf(w, r, nil); se != nil {
		s.endSession(se)
		w.WriteHeader(http.StatusNoContent)
	}
}

// endSession removes a session, and ends its requests and streams.
func (s *Server) endSession(se *session) {
	s.mu.Lock()
	known := s.sessions[se.id] == se
	delete(s.sessions, se.id)
	s.mu.Unlock()
	if !known {
		return
	}
	se.client.Cancel(errUnused)
	se.client.Leave()
	se.mu.Lock()
	streams := se.streams
	se.streams = nil
	se.mu.Unlock()
	for _, st := range streams {
		st.end("the session has ended")
		s.drop(st)
	}
}

// dropSessions ends the sessions that their clients no longer use.
func (s *Server) dropSessions() {
	if s.limits.sessionIdle <= 0 {
		return
	}
	since := int64(clock.Now() - s.limits.sessionIdle)
	var idle []*session
	s.mu.Lock()
	for _, se := range s.sessions {
		if se.open.Load() == 0 && se.used.Load() < since && se.own.current() == nil {
			idle = append(idle, se)
		}
	}
	s.mu.Unlock()
	for _, se := range idle {
		s.endSession(se)
		s.used.Store(true)
	}
}

// newStream adds a stream. The oldest one that has ended is forgotten if there are too many.
func (se *session) newStream() *stream {
	se.mu.Lock()
	defer se.mu.Unlock()
	st := newStream(se.server, se, strconv.Itoa(se.last))
	se.last++
	if se.streams != nil {
		se.streams[st.name] = st
	}
	return st
}

// retire keeps an ended stream, so that the client can get its last events again.
func (se *session) retire(st *stream) {
	se.mu.Lock()
	if se.streams == nil { // the session has ended
		se.mu.Unlock()
		st.drop()
		return
	}
	var oldest *stream
	if se.finished = append(se.finished, st); len(se.finished) > maxFinished {
		oldest = se.finished[0]
	}
	se.server.list(st)
	se.mu.Unlock()
	if oldest != nil {
		se.forget(oldest)
	}
	se.server.trim()
}

// forget drops an ended stream, which can no longer be resumed.
func (se *session) forget(st *stream) {
	se.mu.Lock()
	delete(se.streams, st.name)
	se.finished = slices.DeleteFunc(se.finished, func(other *stream) bool { return other == st })
	se.mu.Unlock()
	se.server.drop(st)
}

// list adds a stream to the ended ones of all sessions.
func (s *Server) list(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.listed = s.ended.PushBack(st)
}

// drop drops the events of a stream.
func (s *Server) drop(st *stream) {
	s.mu.Lock()
	if st.listed != nil {
		s.ended.Remove(st.listed)
	}
	s.mu.Unlock()
	st.drop()
}

// trim forgets ended streams while all streams keep too many bytes, the oldest first. The last one stays.
func (s *Server) trim() {
	for s.kept.Load() > int64(s.limits.pending) {
		s.mu.Lock()
		if s.ended.Len() < 2 {
			s.mu.Unlock()
			return
		}
		oldest := s.ended.Remove(s.ended.Front()).(*stream)
		s.mu.Unlock()
		oldest.session.forget(oldest)
	}
}

// Queue implements [protocol.Sink].
func (se *session) Queue(line []byte) { se.own.add(line) }

// Last implements [protocol.Sink]. Each request has another sink.
func (se *session) Last([]byte, *mcp.Error) {}

// Push implements [protocol.Sink].
func (se *session) Push() { se.own.push() }

// Deliver implements [protocol.Sink].
func (se *session) Deliver() { se.own.push() }

// Full implements [protocol.Sink].
func (se *session) Full() bool { return se.own.full() }

// Reserve implements [protocol.Sink].
func (se *session) Reserve(ctx context.Context, _ int) { se.own.awaitRoom(ctx) }

// Release implements [protocol.Sink].
func (se *session) Release(int) {}

// AwaitRoom implements [protocol.Connection]. Requests above the limits are refused.
func (se *session) AwaitRoom() {}

// End implements [protocol.Connection]: exit ends the session.
func (se *session) End(protocol.Ending) { go se.server.endSession(se) }
