package server

import (
	"strconv"
	"time"

	"mcp-bash/pkg/wire/mcp"
)

// watchIdle ends the server when the client has said nothing for long (protocol
// P-1000). Waiting for an answer of ours is not idleness.
func (s *Server) watchIdle() {
	limit := s.project.Sessions.Idle
	if limit <= 0 {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-s.base.Done():
			return
		case <-timer.C:
		}
		if s.requests.busy() || s.stateless.calls.busy() || s.streams.listening() {
			s.activity.Store(time.Now().UnixNano()) // it begins when the last one ends
		}
		quiet := time.Since(time.Unix(0, s.activity.Load()))
		if quiet >= limit {
			secs := seconds(limit)
			if s.session.at(phaseReady) {
				s.log(mcp.Warning, logCore, "Server idle timeout ("+secs+"s) - no client activity")
			}
			s.leave(exit{kill: true, say: "mcp-bash: idle timeout after " + secs +
				"s with no client activity; exiting"})
			return
		}
		timer.Reset(min(limit-quiet, idlePace(limit)))
	}
}

// idlePace is how often we look whether requests still run.
func idlePace(limit time.Duration) time.Duration { return max(limit/4, 100*time.Millisecond) }

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
