// Package ctxlock provides a mutex whose Lock method accepts a context.
package ctxlock

import "context"

// A Mutex is a mutual exclusion lock. Create one with [New].
type Mutex chan struct{}

// New returns an unlocked mutex.
func New() Mutex { return make(Mutex, 1) }

// Lock locks the mutex. If the context ends first, Lock returns the cause.
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

// Unlock unlocks the mutex.
func (m Mutex) Unlock() { <-m }
