package httpd

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/protocol"
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
	o.Session = shownSession(r.Header.Get(headers.Session))
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
	hex.Decode(id[:], []byte(w.Header().Get(requestHeader))) // identify has set it
	return id
}

// Refusals of HTTP come from strangers, as fast as these like. So a record has these many, and the number of others.
const (
	refusalBurst = 100
	refusalPace  = time.Second
)

// refused records a request that the guard refuses.
func (s *Server) refused(w http.ResponseWriter, r *http.Request, cause mcp.Cause) {
	sink := s.Config.Server.Events
	if sink == nil {
		return
	}
	chosen, left := s.refusals.Take()
	if !chosen {
		return
	}
	e := &events.Event{
		Type: events.HTTPRequest, Cause: cause, Began: time.Now(), ID: requestID(w),
		Source:  events.Source{Transport: "http", Address: r.RemoteAddr, Agent: r.UserAgent()},
		Subject: protocol.SubjectOf(auth.IdentityOf(r.Context())),
		Target:  events.Target{Method: r.Method, Name: r.URL.Path}, Count: left,
	}
	sink.Emit(e)
}
