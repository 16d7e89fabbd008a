package httpd

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/auth/share"
	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/serve/httpd/internal/forward"
	"mcp-bash/pkg/serve/httpd/internal/headers"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// A session is a client of the handshake protocol. It implements [protocol.Connection]: messages
// that belong to no request go to the stream that the client opens with GET.
type session struct {
	server   *Server
	id       string
	identity *auth.Identity // that began it
	caller   string         // the key of the identity
	person   string         // see auth.Identity.Owner; "": a program of this machine
	owner    string         // the owner of the session's shares
	began    time.Time
	local    bool // it certainly began on this machine, so its client may choose the roots
	client   *protocol.Client
	own      *stream // for messages that belong to no request
	accept   sync.Mutex

	open atomic.Int32 // requests of HTTP that are not answered
	used atomic.Int64 // when the last one ended, of [clock.Now]

	mu       sync.Mutex
	last     int // the number of the last stream
	streams  map[string]*stream
	finished []*stream // that can still be resumed, the oldest first
}

// maxFinished is the maximum number of ended streams of a session that can be resumed.
const maxFinished = 16

// newSession begins a session, which is in use until the caller calls done. The error is for a server with too many
// sessions, or one that ends.
func (s *Server) newSession(r *http.Request) (*session, *mcp.Error) {
	id := auth.IdentityOf(r.Context())
	se := &session{
		server: s, id: s.Server.NewSessionID(id), identity: id, caller: id.Key(), person: id.Owner(),
		began: time.Now(), local: !s.fromStranger(r), streams: map[string]*stream{},
	}
	if se.owner = se.person; id == nil {
		se.owner = share.Nobody(se.id)
	}
	se.own = se.newStream()
	se.touch()
	se.open.Store(1) // by this request
	idle, err := s.add(se, protocol.Caller{
		Identity: id, Owner: se.owner, Remote: !s.TrustRoots && !se.local, Shared: true, MaxStreams: s.limits.streams,
	})
	if idle != nil {
		s.finish(idle)
		of := "callers without an identity"
		if idle.identity != nil {
			of = strconv.Quote(idle.identity.Name)
		}
		s.evictions.Line("ended the oldest idle session of " + of + ", since MCPBASH_HTTP_MAX_SESSIONS allows no more")
	}
	if err != nil {
		return nil, err
	}
	return se, nil
}

// add adds a session. At a limit it removes an idle one, which the caller ends.
func (s *Server) add(se *session, from protocol.Caller) (idle *session, err *mcp.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, errStopping
	}
	if s.persons.sessions.Full(se.person, s.limits.sessions) {
		if idle = s.idlest(se.person); idle == nil {
			return nil, errSessions
		}
		s.remove(idle)
	}
	se.client = s.Server.NewClient(se, from)
	s.sessions[se.id] = se
	s.persons.sessions.Add(se.person, 1)
	return idle, nil
}

// idlest returns the session that ends for a new one of a person. That is the session that is not busy and was not
// used for the longest time. If the server has no room at all, it is a session of the person with most sessions.
// Sessions whose client can still fetch something end last. The lock is held.
func (s *Server) idlest(person string) *session {
	count := &s.persons.sessions
	full := count.All() >= s.limits.sessions
	for _, needed := range []func(*session) bool{(*session).inUse, (*session).busy} {
		var found *session
		for _, se := range s.sessions {
			if !full && se.person != person {
				continue
			}
			if found == nil || cmp.Or(cmp.Compare(count.Of(found.person), count.Of(se.person)),
				cmp.Compare(se.used.Load(), found.used.Load())) < 0 {
				if !needed(se) {
					found = se
				}
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// busy reports whether the client waits for something (see [protocol.Client.Busy]).
func (se *session) busy() bool {
	return se.open.Load() > 0 || se.own.current() != nil || se.client.Busy()
}

// inUse reports whether the session must stay: it is busy, or its client can still fetch something.
func (se *session) inUse() bool { return se.busy() || se.client.InUse() }

// remove removes a session. The lock is held.
func (s *Server) remove(se *session) {
	delete(s.sessions, se.id)
	s.Config.Metrics.SessionEnded(time.Since(se.began))
	s.persons.sessions.Add(se.person, -1)
}

var (
	errStopping = mcp.Errorf(mcp.CodeInternal, "Server shutting down").Because(mcp.CauseUnavailable)
	errSessions = mcp.Errorf(mcp.CodeInternal, "Too many sessions").Because(mcp.CauseBusy)
	errStreams  = mcp.Errorf(mcp.CodeInternal, "Too many open streams").Because(mcp.CauseBusy)

	errConnections = mcp.Errorf(mcp.CodeInternal, "Too many connections").Because(mcp.CauseBusy)
)

// sessionOf returns the session that a request names, or nil if the request is answered. The session is in use until
// the caller calls done. Without the session, gone answers the request. The session of another identity does not exist.
func (s *Server) sessionOf(w http.ResponseWriter, r *http.Request, body *body, m *jsonrpc.Message,
	gone func()) *session {
	if s.passSession(w, r, body, gone) {
		return nil
	}
	names := r.Header[headers.Session]
	if len(names) != 1 {
		s.refuse(w, r, http.StatusBadRequest, m, invalid("Mcp-Session-Id is missing; begin with initialize"))
		return nil
	}
	key, stranger := auth.IdentityOf(r.Context()).Key(), s.fromStranger(r)
	s.mu.Lock()
	se := s.sessions[names[0]]
	if se != nil && (se.caller != key || se.local && stranger) {
		se = nil
	}
	if se != nil {
		se.open.Add(1)
	}
	s.mu.Unlock()
	if se == nil {
		gone()
		return nil
	}
	if version := r.Header[headers.Version]; len(version) > 0 && !se.client.Speaks(version[0]) {
		se.done()
		s.refuse(w, r, http.StatusBadRequest, m, invalid("MCP-Protocol-Version is not that of the session"))
		return nil
	}
	return se
}

// noSession returns a function that answers a request of a session that does not exist.
func (s *Server) noSession(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) func() {
	return func() { s.refuse(w, r, http.StatusNotFound, m, protocol.ErrNoSession) }
}

// done ends the use of a session by a request of HTTP.
func (se *session) done() {
	se.touch()
	se.open.Add(-1)
}

// postSession answers a POST of the handshake protocol (http section 4).
func (s *Server) postSession(w http.ResponseWriter, r *http.Request, body *body, m *jsonrpc.Message) {
	gone := s.noSession(w, r, m)
	if m.Shape == jsonrpc.Request && m.Method == "initialize" {
		gone = func() { s.placeSession(w, r, body, m) }
		if r.Header[headers.Session] == nil {
			gone()
			return
		}
	}
	if se := s.sessionOf(w, r, body, m, gone); se != nil {
		s.acceptSession(w, r, body, m, se, false)
	}
}

// placeSession answers an initialize request. While this server ends, it passes the request on to another replica. If
// none answers, this server begins the session itself, so the request is pending until then.
func (s *Server) placeSession(w http.ResponseWriter, r *http.Request, body *body, m *jsonrpc.Message) {
	begin := func() { s.beginSession(w, r, body, m) }
	if other := s.replicas.other.Load(); other != nil && !s.serving.Load() && !forward.Forwarded(r) {
		s.passOn(w, r, body, *other, begin)
		s.arrived(connOf(r))
		return
	}
	begin()
}

// beginSession begins the session of an initialize.
func (s *Server) beginSession(w http.ResponseWriter, r *http.Request, body *body, m *jsonrpc.Message) {
	se, err := s.newSession(r)
	if err != nil {
		s.refuse(w, r, http.StatusServiceUnavailable, m, err)
		return
	}
	w.Header()[headers.Session] = []string{se.id}
	m.From.Session = shownSession(se.id)
	s.acceptSession(w, r, body, m, se, true)
}

// acceptSession answers a POST of a session, and ends the use of the session. began means that the session ends if its
// initialize fails.
func (s *Server) acceptSession(w http.ResponseWriter, r *http.Request, body *body, m *jsonrpc.Message, se *session,
	began bool) {
	defer se.done()
	expected, batch := se.answersOf(m)
	p := s.newPost(w, r, se, m, expected)
	p.batch, p.owner = batch, se.owner
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
		if began && p.failure != nil {
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

// onSession answers a GET, which opens or resumes a stream of a session, or a DELETE, which ends the session.
func (s *Server) onSession(w http.ResponseWriter, r *http.Request) {
	opens := r.Method == http.MethodGet
	if opens && !headers.Accepts(r.Header, "text", "event-stream") {
		s.refuse(w, r, http.StatusNotAcceptable, nil, invalid("Accept must list text/event-stream"))
		return
	}
	se := s.sessionOf(w, r, nil, nil, s.noSession(w, r, nil))
	if se == nil {
		return
	}
	defer se.done()
	if opens {
		s.openStream(w, r, se)
		return
	}
	s.endSession(se)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) openStream(w http.ResponseWriter, r *http.Request, se *session) {
	st, from := se.own, 0
	if last := r.Header.Get(headers.LastEvent); last != "" {
		if st, from = se.after(last); st == nil {
			s.refuse(w, r, http.StatusBadRequest, nil, invalid("Last-Event-ID is unknown or too old"))
			return
		}
		if st.complete(from) {
			w.WriteHeader(http.StatusNoContent) // H-43
			return
		}
	}
	if !s.roomForStream(se.person, st) {
		s.refuse(w, r, http.StatusServiceUnavailable, nil, errStreams)
		return
	}
	if err := st.takeOver(w, r, from); err != nil {
		s.refuse(w, r, http.StatusInternalServerError, nil, mcp.Errorf(mcp.CodeInternal, "Internal error"))
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
	name, digits, _ := strings.Cut(id, "-")
	number, _ := strconv.Atoi(digits)
	se.mu.Lock()
	st := se.streams[name]
	se.mu.Unlock()
	if st == nil || st.id(number) != id || !st.reached(number) {
		return nil, 0
	}
	return st, number + 1
}

// touch begins the time after which the session is idle.
func (se *session) touch() { se.used.Store(int64(clock.Now())) }

// endSession removes a session, and ends its requests and streams.
func (s *Server) endSession(se *session) {
	s.mu.Lock()
	known := s.sessions[se.id] == se
	if known {
		s.remove(se)
	}
	s.mu.Unlock()
	if known {
		s.finish(se)
	}
}

// finish ends the requests and streams of a session that was removed.
func (s *Server) finish(se *session) {
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
		switch {
		case se.used.Load() >= since:
		case se.inUse():
			se.touch() // the idle time begins when the session is no longer in use
		default:
			idle = append(idle, se)
			s.remove(se)
		}
	}
	s.mu.Unlock()
	for _, se := range idle {
		s.finish(se)
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
	s := se.server
	s.mu.Lock()
	st.listed = s.ended.PushBack(st)
	s.mu.Unlock()
	se.mu.Unlock()
	if oldest != nil {
		se.forget(oldest)
	}
	s.trim()
}

// forget drops an ended stream, so that it can no longer be resumed.
func (se *session) forget(st *stream) {
	se.mu.Lock()
	delete(se.streams, st.name)
	se.finished = slices.DeleteFunc(se.finished, func(other *stream) bool { return other == st })
	se.mu.Unlock()
	se.server.drop(st)
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

// trim forgets ended streams while all streams keep too many bytes: the oldest ones of owners above their share. The
// last one stays.
func (s *Server) trim() {
	for s.kept.full() {
		s.mu.Lock()
		var oldest *stream
		for at := s.ended.Front(); at != nil && at != s.ended.Back() && oldest == nil; at = at.Next() {
			if st := at.Value.(*stream); s.kept.over(st.session.owner) {
				oldest = s.ended.Remove(at).(*stream)
			}
		}
		s.mu.Unlock()
		if oldest == nil {
			return
		}
		oldest.session.forget(oldest)
	}
}

func (se *session) Queue(line []byte) { se.own.add(line) }

// Last implements [protocol.Sink]. It does nothing, because each request has its own sink.
func (se *session) Last([]byte, *mcp.Error)            {}
func (se *session) Push()                              { se.own.push() }
func (se *session) Deliver()                           { se.own.push() }
func (se *session) Full() bool                         { return se.own.full() }
func (se *session) Reserve(ctx context.Context, _ int) { se.own.awaitRoom(ctx) }
func (se *session) Release(int)                        {}

// AwaitRoom implements [protocol.Connection]. It does not wait: requests above the limits are refused.
func (se *session) AwaitRoom() {}

// End implements [protocol.Connection]: exit ends the session.
func (se *session) End(protocol.Ending) { go se.server.endSession(se) }
