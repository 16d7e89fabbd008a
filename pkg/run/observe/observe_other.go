//go:build !linux || (!amd64 && !arm64)

package observe

import (
	"errors"

	"mcp-bash/pkg/run/confine"
)

// A Session observes what a thread forks.
type Session struct{}

// Enter fails: scripts cannot be observed on this system (CF-54).
func Enter(confine.Kernel, *confine.Profile, bool) (*Session, error) {
	return nil, errors.New("a script cannot be observed on this system; it takes Linux 5.9 on x86-64 or ARM64")
}

// Report returns what was observed so far.
func (s *Session) Report() Report { return Report{} }
