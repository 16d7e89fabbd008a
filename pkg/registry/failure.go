package registry

import (
	"mcp-bash/pkg/registry/kinds"
)

// A Failure is the reason why a kind is not available. Its text is the logged message.
type Failure struct {
	Kind   *kinds.Kind
	Reason string
	Fatal  bool  // the lock or the registry directory failed, not the project
	Err    error // the cause
}

func (f *Failure) Error() string { return f.Reason }

func (f *Failure) Unwrap() error { return f.Err }
