package httpd

import (
	"maps"
	"runtime/debug"
	"slices"
	"time"
)

// restTime is the minimum time between two releases of memory to the system.
const restTime = 30 * time.Second

// maintain sends comments on silent streams, and ends what is no longer used.
// It returns unused memory to the system when no requests come.
func (s *Server) maintain() {
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
		if s.limits.keepAlive > 0 {
			s.running.keepAlive(s.limits.keepAlive)
			for _, st := range s.silent() {
				st.comment("")
			}
		}
		for _, st := range s.rejected() {
			go st.hangUp("the credential is no longer accepted") // H-49: it waits for the client
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

// silent returns the streams without net/http on which nothing was sent for a while.
func (s *Server) silent() (list []*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.streams {
		if st.silent(s.limits.keepAlive) {
			list = append(list, st)
		}
	}
	return list
}

// rejected returns the streams whose credential has expired or was revoked, each once.
func (s *Server) rejected() (list []*stream) {
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.streams))
	s.mu.Unlock()
	for _, st := range open {
		st.mu.Lock()
		if !st.opener.Accepted() {
			list, st.opener = append(list, st), nil
		}
		st.mu.Unlock()
	}
	return list
}
