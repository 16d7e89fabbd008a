// Package ctxlock has a lock that one can stop waiting for.
package ctxlock

import "context"

// A Mutex is a lock that one can stop waiting for. Make one with [New].
type Mutex chan struct{}

// New returns a lock that nobody holds.
func New() Mutex { return make(Mutex, 1) }

// Lock takes the lock. If the context ends before that, it returns the cause.
func (m Mutex) Lock(ctx context.Context) error {
	select {
	case m <- struct{}{}:
		return nil
	default:
	}
	select {
	case m <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Unlock gives the lock back.
func (m Mutex) Unlock() { <-m }
