package httpd

import (
	"runtime/debug"
	"time"
)

// restTime is the minimum time between two releases of memory to the system.
const restTime = 30 * time.Second

// keepHouse sends comments on silent streams, and ends what is no longer used.
// It returns unused memory to the system when no requests come.
func (s *Server) keepHouse() {
	pace := 5 * time.Second
	for _, limit := range []time.Duration{s.limits.keepAlive, s.limits.sessionIdle} {
		if limit > 0 {
			pace = min(pace, limit/4)
		}
	}
	ticker := time.NewTicker(max(pace, 10*time.Millisecond))
	defer ticker.Stop()
	var garbage bool // may be left of requests and sessions
	var freed time.Time
	for {
		select {
		case <-s.Context.Done():
			return
		case <-ticker.C:
		}
		for _, st := range s.silent() {
			st.comment("")
		}
		s.dropCallers()
		s.dropSessions()
		switch {
		case s.used.Swap(false):
			garbage = true
		case garbage && time.Since(freed) > restTime:
			debug.FreeOSMemory()
			garbage, freed = false, time.Now()
		}
	}
}

// silent returns the streams on which nothing was sent for a while.
func (s *Server) silent() (list []*stream) {
	if s.limits.keepAlive <= 0 {
		return nil
	}
	since := time.Now().Add(-s.limits.keepAlive)
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.streams {
		st.mu.Lock()
		if st.active.Before(since) {
			list = append(list, st)
		}
		st.mu.Unlock()
	}
	return list
}
