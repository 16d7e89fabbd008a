package registry

import (
	"context"
	"fmt"
	"os"
	"time"

	"mcp-bash/pkg/project"
)

const (
	lockFirst   = time.Millisecond
	lockLongest = 50 * time.Millisecond
)

// An unwritableError: the directory cannot be written to.
type unwritableError struct{ err error }

func (e *unwritableError) Error() string { return project.PlainError(e.err).Error() }

// A lockedError: somebody else holds the lock.
type lockedError struct {
	name string // of the lock
	wait time.Duration
}

func (e *lockedError) Error() string {
	return fmt.Sprintf("registry lock '%s' unavailable after %gs", e.name, e.wait.Seconds())
}

// await locks a file, trying until wait is over. The error is a
// [*lockedError], an [*unwritableError] for a file that cannot be locked, or
// the context's.
func await(ctx context.Context, f *os.File, name string, wait time.Duration, try func(*os.File) (bool, error)) error {
	end := time.Now().Add(wait)
	for pause := lockFirst; ; pause = min(2*pause, lockLongest) {
		locked, err := try(f)
		if locked {
			return nil
		}
		if err != nil {
			return &unwritableError{err}
		}
		left := time.Until(end)
		if left <= 0 {
			return &lockedError{name, wait}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(pause, left)):
		}
	}
}
