package httpd

import (
	"context"
	"sync"
	"sync/atomic"
)

// unread counts the bytes of large answers that clients have not read yet (P-1803). The identities that have such
// answers share the bound equally, so a client that does not read stops no other one.
type unread struct {
	bound int
	all   atomic.Int64 // bytes

	mu   sync.Mutex
	of   map[string]int // bytes, by the key of the identity
	room chan struct{}  // closed when there can be room again; nil: nobody waits
}

// full reports whether the answers of an identity take more than its share.
func (u *unread) full(key string) bool {
	if u.all.Load() == 0 {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.exceeds(key)
}

// exceeds is full with the lock held.
func (u *unread) exceeds(key string) bool { return u.of[key] > u.bound/max(1, len(u.of)) }

// reserve waits until the identity has room, or ctx ends. Then it counts an answer.
func (u *unread) reserve(ctx context.Context, key string, size int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.exceeds(key) && ctx.Err() == nil {
		if u.room == nil {
			u.room = make(chan struct{})
		}
		room := u.room
		u.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
		}
		u.mu.Lock()
	}
	u.add(key, size)
}

// add changes the count of an identity. The lock is held. A request that ends while it waits is released first, so the
// count can be negative in between.
func (u *unread) add(key string, size int) {
	if u.of == nil {
		u.of = map[string]int{}
	}
	if u.of[key] += size; u.of[key] == 0 {
		delete(u.of, key)
	}
	u.all.Add(int64(size))
}

// release ends the count of an answer, which was read or is lost.
func (u *unread) release(key string, size int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.add(key, -size)
	if u.room != nil {
		close(u.room)
		u.room = nil
	}
}
