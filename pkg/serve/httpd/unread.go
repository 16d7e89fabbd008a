package httpd

import (
	"context"
	"sync"
	"sync/atomic"

	"mcp-bash/pkg/auth/share"
)

// unread counts the bytes of large answers that clients have not read yet (P-1803). The owners of such answers share
// the bound equally, so a client that does not read stops no other one.
type unread struct {
	bound int
	all   atomic.Int64 // bytes

	mu   sync.Mutex
	of   share.Usage   // bytes
	room chan struct{} // closed when there can be room again; nil: nobody waits
}

// full reports whether the answers of an owner take more than its share.
func (u *unread) full(owner string) bool {
	if u.all.Load() == 0 {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.of.Exceeds(owner, u.bound)
}

// reserve waits until the owner has room, or ctx ends. Then it counts an answer.
func (u *unread) reserve(ctx context.Context, owner string, size int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.of.Exceeds(owner, u.bound) && ctx.Err() == nil {
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
	u.add(owner, size)
}

// add changes the count of an owner. The lock is held. A request that ends while it waits is released first, so the
// count can be negative in between.
func (u *unread) add(owner string, size int) {
	u.of.Add(owner, size)
	u.all.Add(int64(size))
}

// release ends the count of an answer, which was read or is lost.
func (u *unread) release(owner string, size int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.add(owner, -size)
	if u.room != nil {
		close(u.room)
		u.room = nil
	}
}

// kept counts the bytes of events that clients can get again (H-44). It is safe for concurrent use.
type kept struct {
	bound int
	mu    sync.Mutex
	of    share.Usage // bytes
}

func (k *kept) add(owner string, bytes int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.of.Add(owner, bytes)
}

// over reports whether all events take more than the bound, and those of an owner more than its equal share.
func (k *kept) over(owner string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of.All() > k.bound && k.of.Exceeds(owner, k.bound)
}

// full reports whether all events take more than the bound.
func (k *kept) full() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of.All() > k.bound
}
