package ctxlock

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestMutex(t *testing.T) {
	m := New()
	if err := m.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if err := m.Lock(ctx); err != why {
		t.Error(err)
	}
	m.Unlock()
	if err := m.Lock(ctx); err != nil { // an unlocked mutex does not wait
		t.Error(err)
	}
	m.Unlock()
	n := 0
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if m.Lock(t.Context()) == nil {
				n++
				m.Unlock()
			}
		})
	}
	group.Wait()
	if n != 50 {
		t.Error(n)
	}
}
