package httpd

import (
	"net"
	"net/http"
	"time"

	"mcp-bash/pkg/events/metrics"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/serve/httpd/internal/guard"
)

// limits are the bounds of the transport (http section 7).
type limits struct {
	body, header int // bytes of a request
	sessions     int
	sessionIdle  time.Duration // 0: none
	streams      int
	keepAlive    time.Duration // between comments on a silent stream; 0: none
	drain        time.Duration
	drainDelay   time.Duration
	kept         time.Duration // keptTime
	replay       int           // bytes of events that a stream keeps for resumption
	pending      int           // bytes for all sessions
}

func readLimits(env project.Env) limits {
	return limits{
		body: settings.Int(env, "MCPBASH_HTTP_MAX_BODY"), header: settings.Int(env, "MCPBASH_HTTP_MAX_HEADER"),
		sessions:    settings.Int(env, "MCPBASH_HTTP_MAX_SESSIONS"),
		sessionIdle: settings.Duration(env, "MCPBASH_HTTP_SESSION_IDLE"),
		streams:     settings.Int(env, "MCPBASH_HTTP_MAX_STREAMS"),
		keepAlive:   settings.Duration(env, "MCPBASH_HTTP_KEEPALIVE"),
		drain:       settings.Duration(env, "MCPBASH_HTTP_DRAIN"),
		drainDelay:  settings.Duration(env, "MCPBASH_HTTP_DRAIN_DELAY"),
		kept:        keptTime,
		replay:      settings.Int(env, "MCPBASH_HTTP_REPLAY"),
		pending:     settings.Int(env, "MCPBASH_MAX_PENDING_BYTES"),
	}
}

// LimitConnections returns the [http.Server.ConnState] of another server of this process, with its own limit.
func LimitConnections(most int) func(net.Conn, http.ConnState) {
	return guard.NewConnections(most).State
}

// Reading returns that of the protocol, with the limits of HTTP.
func (s *Server) Reading() metrics.Reading {
	r := s.Server.Reading()
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Uses = append(r.Uses, s.connections.Use(),
		metrics.Use{Limit: "sessions", Used: len(s.sessions), Most: s.limits.sessions},
		metrics.Use{Limit: "streams", Used: s.persons.streams.All(), Most: s.limits.streams})
	return r
}
