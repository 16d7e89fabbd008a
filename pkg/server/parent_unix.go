//go:build unix

package server

import (
	"fmt"
	"os"
	"time"

	"mcp-bash/pkg/wire/mcp"
)

// watchParent ends the server when the process that started it is gone
// (P-1002).
func (s *Server) watchParent() {
	pace := s.project.Sessions.OrphanCheck
	if pace <= 0 || s.parent == 1 {
		return
	}
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for {
		select {
		case <-s.base.Done():
			return
		case <-ticker.C:
		}
		if os.Getppid() == s.parent {
			continue
		}
		text := fmt.Sprintf("process orphaned (original parent PID %d no longer exists)", s.parent)
		if s.session.at(phaseReady) {
			s.log(mcp.Warning, logCore, fmt.Sprintf("Process orphaned - original parent PID %d no longer exists",
				s.parent))
		}
		e := exit{kill: true}
		if s.project.Logging.Level == mcp.Debug {
			e.say = "mcp-bash: " + text + "; exiting"
		}
		s.leave(e)
		return
	}
}
