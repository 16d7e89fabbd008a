package httpd

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/auth/share"
	"mcp-bash/pkg/wire/mcp"
)

// A body is the body of a request. Its bytes are counted by [arriving] until its message is accepted. Then the
// request counts its own memory.
type body struct {
	server *Server
	owner  string // see auth.Identity.Owner
	buffer *[]byte
	bytes  []byte // that have arrived
	kept   bool
	ended  atomic.Bool
}

// The errors of [Server.readBody].
var (
	errTooLarge   = errors.New("the body is too large")
	errIncomplete = errors.New("the body is incomplete")
	errBodies     = errors.New("the server receives too much data at once")
	errOwnBodies  = errors.New("too much data of this client at once")
)

// firstRead is the size of the buffer for a body before the first bytes arrive.
const firstRead = 4 << 10

// readBody reads the body of a request, and ends the time limit for the request. The caller must call done, also
// after an error.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) (*body, error) {
	b := &body{server: s, owner: auth.IdentityOf(r.Context()).Owner(), buffer: s.bodies.Get().(*[]byte)}
	if r.ContentLength > int64(s.limits.body) {
		return b, errTooLarge
	}
	defer http.NewResponseController(w).SetReadDeadline(time.Time{})
	b.bytes = (*b.buffer)[:0]
	for {
		b.grow(r.ContentLength)
		n, err := r.Body.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		if refused := s.arriving.accept(b.owner, len(b.bytes), n); refused != nil {
			return b, refused
		}
		b.bytes = b.bytes[:len(b.bytes)+n]
		switch {
		case len(b.bytes) > s.limits.body:
			return b, errTooLarge
		case err == io.EOF:
			return b, nil
		case err != nil:
			return b, errIncomplete
		}
	}
}

// grow makes space for at least one more byte. The buffer has at most twice the size of the bytes that have arrived,
// whatever length the client announced. length is negative if the client announced none.
func (b *body) grow(length int64) {
	size := cap(b.bytes)
	if len(b.bytes) < size {
		return
	}
	if size = max(2*size, firstRead); length >= 0 {
		size = min(size, max(int(length), len(b.bytes))+1) // the last byte is for the end of the body
	}
	b.bytes = append(make([]byte, 0, size), b.bytes...)
}

// done releases the bytes of the body. Only the first call has an effect. b may be nil.
func (b *body) done() {
	if b == nil || b.ended.Swap(true) {
		return
	}
	b.server.arriving.add(b.owner, -len(b.bytes))
	if b.kept {
		return
	}
	*b.buffer = b.bytes
	b.server.recycle(b.buffer)
	b.buffer, b.bytes = nil, nil
}

// keep returns the bytes, which stay valid after done.
func (b *body) keep() []byte {
	b.kept = true
	return b.bytes
}

// refuseBody answers a request whose body could not be read.
func (s *Server) refuseBody(w http.ResponseWriter, r *http.Request, err error) {
	status, refusal := http.StatusBadRequest, invalid(err.Error())
	switch err {
	case errTooLarge:
		status = http.StatusRequestEntityTooLarge
	case errBodies:
		status = http.StatusServiceUnavailable
		refusal.Because(mcp.CauseBusy)
	case errOwnBodies:
		status = http.StatusTooManyRequests
		refusal.Because(mcp.CauseRate)
	}
	w.Header()["Connection"] = s.values.closes
	s.refuseUnread(w, r, status, refusal)
}

// counted counts bytes of owners, within a bound. It is safe for concurrent use.
type counted struct {
	bound int
	mu    sync.Mutex
	of    share.Usage // bytes
}

func (c *counted) add(owner string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of.Add(owner, n)
}

// arriving counts the bytes of bodies that have arrived and belong to no accepted request yet. An owner has at most
// half of the bound, so that there is room for others.
type arriving struct{ counted }

// accept counts n more bytes of a body, of which own bytes are counted already. The only body of all is never
// refused. A caller without an identity is a program of this machine, which can use the whole bound.
func (a *arriving) accept(owner string, own, n int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case n == 0:
		return nil
	case a.of.All() > own && a.of.All()+n > a.bound:
		return errBodies
	case owner != "" && a.of.Of(owner) > own && a.of.Of(owner)+n > a.bound/2:
		return errOwnBodies
	}
	a.of.Add(owner, n)
	return nil
}

// unread counts the bytes of large answers that clients have not read yet. The owners of such answers share the bound
// equally, so a client that does not read cannot block other clients.
type unread struct {
	bound int
	all   atomic.Int64 // bytes

	mu   sync.Mutex
	of   share.Usage   // bytes
	room chan struct{} // closed when there can be room again; nil: no request waits
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

// kept counts the bytes of events that are kept for clients that resume a stream.
type kept struct{ counted }

// over reports whether all events take more than the bound, and the events of an owner more than its equal share.
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
