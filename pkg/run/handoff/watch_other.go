//go:build !linux

package handoff

// A Watcher reports changes of hand-off directories, on Linux only.
type Watcher struct{}

// Watch returns nil.
func (*Watcher) Watch(*Dir, func()) (stop func()) { return nil }
