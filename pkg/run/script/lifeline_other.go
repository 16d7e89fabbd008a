//go:build unix && !linux

package script

// A lifeline does nothing. Only Linux can signal a process group when another process ends.
type lifeline struct{}

func newLifeline() (*lifeline, error) { return nil, nil }
func (l *lifeline) tie(pid int)       {}
func (l *lifeline) tied() bool        { return true }
func (l *lifeline) release()          {}
func (l *lifeline) close()            {}
