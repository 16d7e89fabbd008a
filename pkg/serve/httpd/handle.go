package httpd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/protocol/calls/tasks"
	"mcp-bash/pkg/protocol/subscribe"
	"mcp-bash/pkg/serve/httpd/internal/forward"
	"mcp-bash/pkg/serve/httpd/internal/headers"
	"mcp-bash/pkg/serve/httpd/internal/proxies"
	"mcp-bash/pkg/serve/httpd/internal/refuse"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/tracecontext"
)

// handle answers a request that the guard has accepted.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	s.used.Store(true)
	switch r.URL.Path {
	case "/mcp", "/mcp/":
		switch {
		case isExtra(r):
			s.refuseUnread(w, r, http.StatusServiceUnavailable, errConnections)
		case r.Method == http.MethodPost:
			s.post(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodDelete:
			s.notAllowed(w, r, "POST, GET, DELETE")
		case protocol.IsStateless(r.Header.Get(headers.Version)): // H-26
			s.notAllowed(w, r, "POST")
		default:
			s.onSession(w, r)
		}
	case "/healthz":
		s.health(w, r, "")
	case "/readyz":
		s.health(w, r, s.unready())
	default:
		s.refusePath(w, r, http.StatusNotFound, mcp.CauseNotFound, "404 page not found")
	}
}

func (s *Server) notAllowed(w http.ResponseWriter, r *http.Request, allowed string) {
	w.Header().Set("Allow", allowed)
	s.refuseUnread(w, r, http.StatusMethodNotAllowed, invalid(r.Method+" is not allowed; the endpoint accepts "+allowed))
}

// unready returns the reason why the server should get no requests, or "".
func (s *Server) unready() string {
	if !s.serving.Load() {
		return "the server stops"
	}
	if sink := s.Config.Server.Events; sink != nil && sink.Ready() != nil {
		return "requests cannot be recorded"
	}
	if s.Gate == nil {
		return ""
	}
	if e, ok := errors.AsType[*auth.Error](s.Gate.usable()); ok {
		return "nobody can be let in: " + e.Reason
	}
	return ""
}

// health answers a probe. fault is the reason why the server is not ready, or "".
func (s *Server) health(w http.ResponseWriter, r *http.Request, fault string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refusePath(w, r, http.StatusMethodNotAllowed, mcp.CauseInvalid, "method not allowed")
		return
	}
	w.Header()["Cache-Control"] = s.values.noStore
	if fault != "" {
		http.Error(w, fault, http.StatusServiceUnavailable)
		return
	}
	io.WriteString(w, "ok\n")
}

// refuse answers a request whose body was read, with an HTTP status and a JSON-RPC error. m is its message, or nil.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, m *jsonrpc.Message, e *mcp.Error) {
	s.announceEnd(w.Header())
	s.recordRefusal(w, r, m, e.Why(), e.Code)
	var id jsonrpc.ID
	if m != nil {
		id = m.ID
	}
	refuse.Write(w, nil, status, id, e)
}

// refuseUnread is [Server.refuse] for a request whose body was not read to its end.
func (s *Server) refuseUnread(w http.ResponseWriter, r *http.Request, status int, e *mcp.Error) {
	s.announceEnd(w.Header())
	s.recordRefusal(w, r, nil, e.Why(), e.Code)
	refuse.Write(w, r, status, nil, e)
}

// refusePath answers a request for another path than the endpoint, with a line of text.
func (s *Server) refusePath(w http.ResponseWriter, r *http.Request, status int, cause mcp.Cause, line string) {
	s.recordRefusal(w, r, nil, cause, 0)
	refuse.Text(w, r, status, line)
}

func invalid(reason string) *mcp.Error {
	return mcp.Errorf(mcp.CodeInvalidRequest, "Invalid Request").WithData(reason)
}

// post answers a POST, which contains one message, or a batch of them.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	form := formOf(r)
	switch {
	case !form.json && !form.events:
		s.refuseUnread(w, r, http.StatusNotAcceptable, invalid("Accept must list application/json or text/event-stream"))
		return
	case !headers.IsJSON(r.Header):
		const rule = "Content-Type must be application/json, without a Content-Encoding"
		s.refuseUnread(w, r, http.StatusUnsupportedMediaType, invalid(rule))
		return
	}
	body, err := s.readBody(w, r)
	defer body.done()
	if err != nil {
		body.done()
		s.refuseBody(w, r, err)
		return
	}
	m, err := jsonrpc.Parse(body.bytes)
	if err != nil {
		s.refuse(w, r, http.StatusBadRequest, nil, mcp.Errorf(mcp.CodeParse, "Parse error").WithData(err.Error()))
		return
	}
	if !form.events && (m.Shape == jsonrpc.Batch || m.Method == subscribe.MethodListen) {
		s.refuse(w, r, http.StatusNotAcceptable, &m, invalid("Accept must list text/event-stream for this message"))
		return
	}
	m.Trace, m.From = tracecontext.OfHeader(r.Header), s.from(w, r)
	version, isStateless := protocol.Stateless(&m)
	if isStateless || protocol.IsStateless(r.Header.Get(headers.Version)) {
		s.postStateless(w, r, body, &m, version)
	} else {
		s.postSession(w, r, body, &m)
	}
}

// A form is the type of response to a POST that a client accepts.
type form struct{ json, events bool }

func formOf(r *http.Request) form {
	return form{headers.Accepts(r.Header, "application", "json"), headers.Accepts(r.Header, "text", "event-stream")}
}

// recycle keeps a buffer for another request.
func (s *Server) recycle(buffer *[]byte) {
	if cap(*buffer) <= 64<<10 {
		s.bodies.Put(buffer)
	}
}

// postStateless answers a POST of the stateless protocol (http section 3).
func (s *Server) postStateless(w http.ResponseWriter, r *http.Request, body *body, m *jsonrpc.Message,
	version []byte) {
	switch m.Shape {
	case jsonrpc.Request:
	case jsonrpc.Notification: // H-25
		w.WriteHeader(http.StatusAccepted)
		return
	default:
		s.refuse(w, r, http.StatusBadRequest, m, invalid("the body must be a request or a notification"))
		return
	}
	if err := s.checkHeaders(r, m, version); err != nil {
		s.refuse(w, r, http.StatusBadRequest, m, mcp.Errorf(mcp.CodeHeaderMismatch, "Header mismatch: %v", err))
		return
	}
	if !forward.Forwarded(r) {
		if owner, gone := s.Config.Server.Owner(auth.IdentityOf(r.Context()), m.Method, &m.Params); owner.URL != "" {
			s.arrived(connOf(r))
			s.passOn(w, r, body, owner, func() { s.refuse(w, r, http.StatusOK, m, gone) })
			return
		}
	}
	s.serveStateless(w, r, body, m)
}

// checkHeaders compares the headers of a request with its message.
func (s *Server) checkHeaders(r *http.Request, m *jsonrpc.Message, version []byte) error {
	h := r.Header
	text, isText := rawjson.Text(version)
	if isText { // the protocol refuses a message without a revision
		if err := headers.Equal(h, headers.Version, text); err != nil {
			return err
		}
	}
	if !isText || !protocol.IsStateless(text) {
		return nil // the protocol refuses another revision
	}
	if err := headers.Equal(h, headers.Method, m.Method); err != nil {
		return err
	}
	if name, isText := nameOf(m); isText {
		if err := headers.EqualDecoded(h, headers.Name, name); err != nil {
			return err
		}
	}
	if m.Method != "tools/call" {
		return nil
	}
	params := s.Config.Server.ParamHeaders(r.Context(), m.Params.Text(mcp.ParamName))
	return headers.EqualParams(h, params, m.Params.Get(mcp.ParamArguments))
}

// nameOf returns the text that Mcp-Name repeats. It returns false for a message that needs no Mcp-Name, or that the
// protocol refuses.
func nameOf(m *jsonrpc.Message) (string, bool) {
	switch m.Method {
	case "tools/call", "prompts/get":
		return rawjson.Text(m.Params.Get(mcp.ParamName))
	case "resources/read":
		if uri, isText := rawjson.Text(m.Params.Get(mcp.ParamURI)); isText && uri != "" {
			return uri, true
		}
		return rawjson.Text(m.Params.Get(mcp.ParamName)) // RES-30
	case tasks.MethodGet, tasks.MethodUpdate, tasks.MethodCancel: // TASK-16
		return rawjson.Text(m.Params.Get(mcp.ParamTask))
	}
	return "", false
}

// maxText is the maximum number of bytes of a text in an event. It is more than a line has, because a secret must be
// complete to be recognised.
const maxText = 4096

// from describes the HTTP request of a message, for the record.
func (s *Server) from(w http.ResponseWriter, r *http.Request) (o jsonrpc.Origin) {
	if s.Config.Server.Events == nil {
		return o
	}
	if proxies.Address(r.RemoteAddr).IsValid() { // else the client uses a socket file
		o.Address = r.RemoteAddr
	}
	o.Agent = r.UserAgent()
	o.Agent = o.Agent[:min(len(o.Agent), maxText)]
	o.Session = shownSession(r.Header.Get(headers.Session))
	o.ID = w.Header().Get(requestHeader) // prepare has set it
	return o
}

// shownSession returns a digest of the id of a session, because the id itself is a credential.
func shownSession(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}

// prepare gives each response the id of its request. It announces the end of connections above the limit, and of all
// while the server ends.
func (s *Server) prepare(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h[requestHeader] = []string{events.NewID()}
		s.announceEnd(h)
		if isExtra(r) {
			h["Connection"] = s.values.closes
		}
		next.ServeHTTP(w, r)
	})
}

const requestHeader = "X-Request-Id"

// The record contains at most this many refusals, and the number of the others, because anybody can cause any number
// of them. The last refusal follows within seconds.
const (
	refusalBurst = 100
	refusalPace  = time.Second
)

// methodOf returns the method of a request for the record. Clients can put anything into an unknown one, such as a
// secret.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return r.Method
	}
	return "_OTHER" // as in OpenTelemetry's conventions
}

// refused records a request that the guard refuses.
func (s *Server) refused(w http.ResponseWriter, r *http.Request, cause mcp.Cause) {
	s.recordRefusal(w, r, nil, cause, 0)
}

// recordRefusal records a refused request, with the code of its answer, or 0. m is its message, or nil.
func (s *Server) recordRefusal(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message, cause mcp.Cause, code int) {
	sink := s.Config.Server.Events
	if sink == nil {
		return
	}
	from := s.from(w, r)
	e := &events.Event{
		Type: events.HTTPRequest, Cause: cause, Began: time.Now(), ID: from.ID,
		Source:  events.Source{Transport: "http", Address: from.Address, Agent: from.Agent, Session: from.Session},
		Subject: protocol.SubjectOf(auth.IdentityOf(r.Context())),
		Target:  events.Target{Method: methodOf(r), Name: r.URL.Path},
		Work:    events.Work{Code: code},
	}
	if s.Config.Server.Audit != nil {
		e.Trace = protocol.TraceOf(cmp.Or(m, &jsonrpc.Message{Trace: tracecontext.OfHeader(r.Header)}), e.ID)
	}
	if m != nil && events.TypeOf(m.Method) != "" {
		e.Target = protocol.TargetOf(m)
		name := e.Target.Name
		e.Target.Method, e.Target.Name = strings.Clone(m.Method), strings.Clone(name[:min(len(name), maxText)])
		e.Source.RequestID = bytes.Clone(m.ID)
	}
	if chosen, left := s.refusals.Take(e); chosen {
		e.Count = left
		sink.Emit(e)
	}
}

// recordRefusals records the last refusal and the number of those before it, if they were left out.
func (s *Server) recordRefusals() {
	if e, left := s.refusals.Rest(); left > 0 {
		e.Count = left - 1
		s.Config.Server.Events.Emit(e)
	}
}

// A caller has the client for all stateless requests of one identity. So any of these requests can resume a suspended
// call of the identity.
type caller struct {
	key    string // of the identity
	owner  string // see auth.Identity.Owner
	client *protocol.Client
	used   atomic.Int64 // the time of the last request, of [clock.Now]
}

// callerUnused is how long the client of an identity without requests is kept.
const callerUnused = 15 * time.Minute

// callerOf returns the caller with an identity, nil while the server ends.
func (s *Server) callerOf(id *auth.Identity) *caller {
	key := id.Key()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.callers[key]
	if c == nil {
		if s.closing {
			return nil
		}
		c = &caller{key: key, owner: id.Owner()}
		c.client = s.Server.NewClient(nobody{}, protocol.Caller{
			Identity: id, Owner: c.owner, Remote: true, Shared: true, MaxStreams: s.limits.streams,
		})
		s.callers[key] = c
	}
	c.used.Store(int64(clock.Now()))
	return c
}

// dropCallers removes the clients of identities that no longer send requests.
func (s *Server) dropCallers() {
	since := int64(clock.Now() - callerUnused)
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, c := range s.callers {
		if c.used.Load() < since && !c.client.InUse() {
			delete(s.callers, key)
			c.client.Cancel(errUnused)
			c.client.Leave()
		}
	}
}

var errUnused = errors.New("its client sends nothing any more")

// nobody is the connection of a caller. It is never used, because each message of the stateless protocol belongs to a
// request.
type nobody struct{}

func (nobody) Queue([]byte)                 {}
func (nobody) Last([]byte, *mcp.Error)      {}
func (nobody) Push()                        {}
func (nobody) Deliver()                     {}
func (nobody) Full() bool                   { return false }
func (nobody) Reserve(context.Context, int) {}
func (nobody) Release(int)                  {}
func (nobody) AwaitRoom()                   {}
func (nobody) End(protocol.Ending)          {}
