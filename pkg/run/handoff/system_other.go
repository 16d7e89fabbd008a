//go:build !linux

package handoff

import "os"

// isSoleHolder always returns false, because this system does not report open files. No file
// is used again.
func isSoleHolder(*os.File) bool { return false }

// A Watcher reports changes of hand-off directories, on Linux only.
type Watcher struct{}

// Watch returns nil.
func (*Watcher) Watch(*Dir, func()) (stop func()) { return nil }
