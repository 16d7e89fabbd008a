package server

import (
	"errors"
	"time"
)

// A damageCounter counts messages that could not be written (protocol P-1103).
// The writer calls it from one goroutine at a time.
type damageCounter struct {
	events []time.Time
	all    int
}

// writeFailed is told of every failure of standard output.
func (s *Server) writeFailed(err error, lost int) {
	if errors.Is(err, errHangup) {
		s.leave(exit{code: 1, kill: true, silent: true, say: "mcp-bash: stdout closed; exiting"}) // P-904
		return
	}
	d, limits, now := &s.damage, &s.project.Limits, time.Now()
	for len(d.events) > 0 && now.Sub(d.events[0]) >= limits.CorruptWindow {
		d.events = d.events[1:]
	}
	window := int(limits.CorruptWindow / time.Second)
	s.complain("mcp-bash: stdout corruption detected (stdout write failure); %d prior event(s) in the last %ds", len(d.events), window)
	d.events = append(d.events, now)
	d.all++
	if len(d.events) >= limits.CorruptEvents && !limits.AllowCorrupt {
		s.leave(exit{code: 2, kill: true, silent: true, say: "mcp-bash: exiting due to repeated stdout corruption."})
	}
}

// summariseDamage is P-1104.
func (s *Server) summariseDamage() {
	if n := s.damage.all; n > 0 {
		limits := &s.project.Limits
		s.complain("mcp-bash corruption summary: %d event(s) recorded within the last %ds (threshold %d, allow override %t).",
			n, int(limits.CorruptWindow/time.Second), limits.CorruptEvents, limits.AllowCorrupt)
	}
}
