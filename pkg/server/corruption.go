package server

import (
	"errors"
	"time"
)

// corruption counts the messages that could not be written to standard output
// (P-1103). The writer calls it from one goroutine at a time.
type corruption struct {
	recent window
	total  int
}

// clientGone is the end when the client has closed our output (P-904).
var clientGone = exit{code: 1, kill: true, silent: true, say: "mcp-bash: stdout closed; exiting"}

// writeFailed is told of every failure of standard output.
func (s *Server) writeFailed(err error, lost int) {
	if errors.Is(err, errHangup) {
		s.leave(clientGone)
		return
	}
	c, limits, now := &s.corruption, &s.project.Limits, time.Now()
	c.recent.length = limits.CorruptWindow
	s.complain("mcp-bash: stdout corruption detected (stdout write failure); %d prior event(s) in the last %ds",
		c.recent.count(now), int(limits.CorruptWindow/time.Second))
	c.recent.add(now)
	c.total++
	if len(c.recent.events) >= limits.CorruptEvents && !limits.AllowCorrupt {
		s.leave(exit{code: 2, kill: true, silent: true, say: "mcp-bash: exiting due to repeated stdout corruption."})
	}
}

// summariseCorruption says at the end how often writing failed (P-1104).
func (s *Server) summariseCorruption() {
	if n := s.corruption.total; n > 0 {
		limits := &s.project.Limits
		s.complain("mcp-bash corruption summary: %d event(s) recorded within the last %ds (threshold %d, allow "+
			"override %t).",
			n, int(limits.CorruptWindow/time.Second), limits.CorruptEvents, limits.AllowCorrupt)
	}
}
