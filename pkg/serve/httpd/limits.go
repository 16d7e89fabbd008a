package httpd

import (
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
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
