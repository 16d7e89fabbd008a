package registry

import (
	"errors"
	"fmt"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/script"
)

// checkRunnable warns about a script that nothing can start (tools T-44).
func (s *subject) checkRunnable(file string) {
	if _, err := script.Command(file); errors.Is(err, script.ErrNotRunnable) {
		s.say(mcp.Warning, fmt.Sprintf("%s: %s is not runnable; run chmod +x %s, or begin it with #!",
			s.shown, s.path, script.Quote(file)))
	}
}
