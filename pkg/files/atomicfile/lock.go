package atomicfile

import (
	"context"
	"fmt"
	"os"
	"time"

	"mcp-bash/pkg/files/fsys"
)

// The pauses between two attempts.
const (
	lockFirst   = time.Millisecond
	lockLongest = 50 * time.Millisecond
)

// An UnwritableError means that a directory cannot be written to, or a file cannot be locked.
type UnwritableError struct{ Err error }

func (e *UnwritableError) Error() string { return fsys.Cause(e.Err).Error() }

// A LockedError means that another program holds the lock.
type LockedError struct {
	Name string // of the lock, in messages
	Wait time.Duration
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("registry lock '%s' unavailable after %gs", e.Name, e.Wait.Seconds())
}

// Lock locks a file for as long as it stays open. It calls [TryLock] until the time wait has passed. The error is a
// [*LockedError], an [*UnwritableError], or the cause of the context.
func Lock(ctx context.Context, f *os.File, name string, wait time.Duration) error {
	end := time.Now().Add(wait)
	for pause := lockFirst; ; pause = min(2*pause, lockLongest) {
		locked, err := TryLock(f)
		if locked {
			return nil
		}
		if err != nil {
			return &UnwritableError{err}
		}
		left := time.Until(end)
		if left <= 0 {
			return &LockedError{name, wait}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(pause, left)):
		}
	}
}
