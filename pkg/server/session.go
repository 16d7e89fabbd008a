package server

import (
	"sync/atomic"

	"mcp-bash/pkg/wire/mcp"
)

// A phase is where a session stands in its life (protocol section 7).
type phase int32

const (
	phaseNew       phase = iota
	phaseHandshake       // initialize was answered
	phaseReady           // notifications/initialized came
	phaseClosing         // shutdown was asked for
	phaseEnded           // nothing more is read
)

// A session is what the handshake settled. Only the goroutine that reads
// changes it; everybody may look.
type session struct {
	phase    atomic.Int32
	level    atomic.Int32 // of log messages, mcp.Level
	greeted  atomic.Bool  // the result of initialize was sent
	revision atomic.Pointer[mcp.Revision]
	client   atomic.Pointer[mcp.Capabilities]
}

func newSession(level mcp.Level) *session {
	s := &session{}
	s.level.Store(int32(level))
	s.revision.Store(mcp.Latest) // before initialize (P-600)
	s.client.Store(&mcp.Capabilities{})
	return s
}

func (s *session) at(p phase) bool      { return phase(s.phase.Load()) == p }
func (s *session) enter(p phase)        { s.phase.Store(int32(p)) }
func (s *session) threshold() mcp.Level { return mcp.Level(s.level.Load()) }
