package httpd

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/serve/httpd/internal/headers"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// maxAgent is the number of bytes of a User-Agent that records have.
const maxAgent = 256

// from describes the request of HTTP that carries a message, for the record.
func (s *Server) from(w http.ResponseWriter, r *http.Request) (o jsonrpc.Origin) {
	if s.Config.Server.Events == nil {
		return o
	}
	o.ID = requestID(w)
	o.Address, o.Agent = r.RemoteAddr, r.UserAgent()
	o.Agent = o.Agent[:min(len(o.Agent), maxAgent)]
	if id := r.Header.Get(headers.Session); id != "" {
		sum := sha256.Sum256([]byte(id))
		o.Session = hex.EncodeToString(sum[:8])
	}
	return o
}

// identify gives each response the id of its request (AUD-6).
func identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()[requestHeader] = []string{events.NewID().String()}
		next.ServeHTTP(w, r)
	})
}

const requestHeader = "X-Request-Id"

// requestID returns the id of the request of a response.
func requestID(w http.ResponseWriter) (id events.ID) {
	if text := w.Header()[requestHeader]; len(text) != 1 || len(text[0]) != 2*len(id) {
		return events.NewID()
	} else if _, err := hex.Decode(id[:], []byte(text[0])); err != nil {
		return events.NewID()
	}
	return id
}

// Refusals of HTTP come from strangers, as fast as these like. So a record has these many, and the number of others.
const (
	refusalBurst = 100
	refusalPace  = time.Second
)

// A refusals records the requests that the guard refuses.
type refusals struct {
	mu      sync.Mutex
	limiter *rate.Limiter
	left    int // not recorded since the last one that was
}

// refused records a request that the guard refuses.
func (s *Server) refused(w http.ResponseWriter, r *http.Request, cause mcp.Cause) {
	sink := s.Config.Server.Events
	if sink == nil {
		return
	}
	f := &s.refusals
	f.mu.Lock()
	if f.limiter == nil {
		f.limiter = rate.NewLimiter(rate.Every(refusalPace), refusalBurst)
	}
	ok, left := f.limiter.Allow(), f.left
	if f.left++; ok {
		f.left = 0
	}
	f.mu.Unlock()
	if !ok {
		return
	}
	e := &events.Event{
		Type: events.HTTPRequest, Cause: cause, Outcome: events.OutcomeOf(cause), Began: time.Now(), ID: requestID(w),
		Source: events.Source{Transport: "http", Address: r.RemoteAddr, Agent: r.UserAgent()},
		Target: events.Target{Method: r.Method, Name: r.URL.Path}, Count: left,
	}
	if id := auth.IdentityOf(r.Context()); id != nil {
		e.Subject.User, e.Subject.Token = id.Name, id.Name
	}
	sink.Emit(e)
}
