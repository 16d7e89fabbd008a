package script

import (
	"slices"

	"mcp-bash/pkg/run/code"
)

// Prepare calls Ready and Allow if they are set. Run calls it too. Callers that create files for a script call it
// first, with the files that the script runs.
func (r *Runner) Prepare(files ...code.File) error {
	if r.Ready != nil {
		if err := r.Ready(); err != nil {
			return err
		}
	}
	if r.Allow == nil {
		return nil
	}
	if err := r.Allow(slices.Clone(files)...); err != nil { // a clone, so that callers without Allow allocate nothing
		return &NotAllowedError{err}
	}
	return nil
}

// A NotAllowedError is the reason why [Runner.Allow] refuses files.
type NotAllowedError struct{ err error }

func (e *NotAllowedError) Error() string { return e.err.Error() }

func (e *NotAllowedError) Unwrap() error { return e.err }

func (r *Runner) prepare(s *Spec) error {
	if r.Allow == nil {
		return r.Prepare()
	}
	return r.Prepare(append(slices.Clone(s.Sources), s.Script)...)
}
