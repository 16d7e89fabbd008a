//go:build !linux || (!amd64 && !arm64)

package observe

import (
	"errors"

	"mcp-bash/pkg/run/confine"
)

// A Session observes the processes that a thread forks.
type Session struct{}

// Enter fails: this system cannot observe scripts.
func Enter(confine.Kernel, *confine.Profile, bool) (*Session, error) {
	return nil, errors.New("observing a script needs Linux 5.9 or newer on x86-64 or ARM64")
}

// Report returns the observations so far.
func (s *Session) Report() Report { return Report{} }
