package ctxlock

import "context"

// A Mutex is a lock that one can stop waiting for.
type Mutex chan struct{}

func New() Mutex { return make(Mutex, 1) }

func (t Mutex) Lock(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t Mutex) Unlock() { <-t }
