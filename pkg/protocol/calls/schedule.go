package calls

import (
	"context"
	"slices"
	"sync"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/console"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/wire/jsonrpc"
)

// maxQueued is the number of requests of one client that can wait for a slot (P-1801).
const maxQueued = 1024

// A Pool limits the requests of all clients in a process: the number that run at once, and the
// memory that they use. A client alone can use all slots. Clients with waiting requests take
// turns for the slots that become free. A request that waits for its client holds no slot, so a
// client that does not read its answers cannot stop others (P-1800).
type Pool struct {
	slots   int
	bound   int       // bytes of requests, which the clients with requests share equally
	lines   sync.Pool // of *[]byte, for answers
	mu      sync.Mutex
	changed sync.Cond   // a request was answered or has ended, or the client has something to read
	running int         // the requests that hold a slot
	clients []*Requests // clients with requests; the next one to get a slot is first
}

// NewPool returns a Pool.
func NewPool(limits *project.Limits) *Pool {
	p := &Pool{slots: limits.Concurrent, bound: limits.Pending}
	p.changed.L = &p.mu
	return p
}

// A Config is the input of [Pool.NewRequests].
type Config struct {
	Context context.Context // of all requests
	Session *session.Session
	Console *console.Console
	Limits  *project.Limits
	After   func(m *Method) // is called after each request
	Handle  Handler         // answers the requests; nil: their protocols do
	// Shared means that no slot is reserved for the client, because there can be any number of
	// clients. Its requests wait for a slot themselves.
	Shared bool
}

// Requests are the requests of one client that run or wait for a slot (protocol section 18).
type Requests struct {
	Config
	pool *Pool

	// guarded by the pool's lock
	inFlight map[string]*Request
	running  int // not waiting; without the resting ones at most the number of slots
	resting  int // running requests that wait for something else than their own work
	answered int // running requests whose answers are ready
	queue    []*Request
	bytes    int // of all that run or wait
}

// NewRequests returns the requests of a new client.
func (p *Pool) NewRequests(c Config) *Requests {
	return &Requests{Config: c, pool: p, inFlight: make(map[string]*Request)}
}

// An Outcome is the result of scheduling a request.
type Outcome int

// The outcomes.
const (
	Run       Outcome = iota // the caller runs the request
	Queued                   // it runs later, on another goroutine, unless it waits itself
	Duplicate                // its id is in use (P-506)
	Refused                  // too many requests are waiting
)

// Schedule takes a slot for a request, or a place in the queue. It gives the request a context.
func (q *Requests) Schedule(r *Request) Outcome {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	mustWait := len(q.queue) > 0 || q.pool.running >= q.pool.slots || !q.ready(r)
	switch {
	case q.inFlight[r.Key] != nil:
		return Duplicate
	case q.tooLarge() || mustWait && len(q.queue) >= maxQueued:
		return Refused
	}
	r.requests, r.bytes = q, r.Size()
	r.Context, r.cancel = context.WithCancelCause(q.Context)
	q.inFlight[r.Key] = r
	q.bytes += r.bytes
	if q.running+len(q.queue) == 0 {
		q.pool.clients = append(q.pool.clients, q)
	}
	if mustWait {
		if q.queue = append(q.queue, r); q.Shared {
			r.turn = make(chan struct{})
		}
		q.pool.dispatch()
		return Queued
	}
	q.start(r)
	return Run
}

// ready reports whether a request may take a slot: its client reads (P-1803), and does not have
// too many answers that wait to be read. The lock is held.
func (q *Requests) ready(r *Request) bool { return q.running-q.resting < q.pool.slots && !r.Out.Full() }

// start gives a slot to a request. The lock is held.
func (q *Requests) start(r *Request) {
	r.slot = true
	q.running++
	q.pool.running++
}

// dispatch starts the waiting requests for which there are slots. The clients take turns. The
// lock is held.
func (p *Pool) dispatch() {
	for p.running < p.slots {
		at := slices.IndexFunc(p.clients, (*Requests).startable)
		if at < 0 {
			return
		}
		q := p.clients[at]
		p.clients = append(slices.Delete(p.clients, at, at+1), q)
		r := q.queue[0]
		q.queue[0] = nil
		q.queue = q.queue[1:]
		if q.start(r); r.turn != nil {
			close(r.turn)
		} else {
			go r.Run()
		}
	}
}

// startable reports whether the client's next request may take a slot. If the client has too much
// to read, a goroutine waits until it has read. The lock is held.
func (q *Requests) startable() bool {
	if len(q.queue) == 0 {
		return false
	}
	r := q.queue[0]
	if r.Context.Err() != nil || q.ready(r) {
		return true
	}
	if r.Out.Full() && !r.waiting {
		r.waiting = true
		go func() {
			r.Out.Reserve(r.Context, 0)
			q.pool.mu.Lock()
			defer q.pool.mu.Unlock()
			r.waiting = false
			q.pool.dispatch()
		}()
	}
	return false
}

// tooLarge reports whether the client's requests use more than its share of the memory. The lock
// is held.
func (q *Requests) tooLarge() bool { return q.bytes > q.pool.bound/max(1, len(q.pool.clients)) }

// yield makes the slot of a request available. The request has no work left but to give its
// answer to the client.
func (q *Requests) yield(r *Request) {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	q.freeSlot(r)
}

// Rest makes the slot of a request available, because the request does no work until its answer. The
// caller limits the number of such requests.
func (r *Request) Rest() {
	q := r.requests
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	if !r.resting {
		r.resting = true
		q.resting++
		q.freeSlot(r)
		q.pool.dispatch()
	}
}

// freeSlot is yield while the lock is held.
func (q *Requests) freeSlot(r *Request) {
	if r.slot {
		r.slot = false
		q.pool.running--
		q.pool.dispatch()
	}
}

// release makes the id and the slot of a request available again. A client that has the answer
// can use the id again, so this happens before the answer is sent.
func (q *Requests) release(r *Request) {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	if q.inFlight[r.Key] == r {
		delete(q.inFlight, r.Key)
	}
	if !r.answered {
		r.answered = true
		q.answered++
		q.pool.changed.Broadcast()
	}
	q.freeSlot(r)
}

// end ends a running request, whose id is released.
func (q *Requests) end(r *Request) {
	r.cancel(nil)
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	q.bytes -= r.bytes
	q.running--
	if r.resting {
		q.resting--
	}
	if r.answered {
		q.answered--
	}
	if r.slot {
		r.slot = false
		q.pool.running--
	}
	q.pool.settle()
}

// awaitTurn waits until a request of a shared server has a slot. It returns false if the request
// ended before.
func (q *Requests) awaitTurn(r *Request) bool {
	select {
	case <-r.turn:
		return true
	case <-r.Context.Done():
	}
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	if r.slot {
		return true
	}
	if i := slices.Index(q.queue, r); i >= 0 { // the client has ended
		q.queue = slices.Delete(q.queue, i, i+1)
		q.bytes -= r.bytes
		delete(q.inFlight, r.Key)
		r.Close()
		q.pool.settle()
	}
	return false
}

// settle starts waiting requests, removes clients without requests, and wakes all that wait for a
// change. The lock is held.
func (p *Pool) settle() {
	p.dispatch()
	p.clients = slices.DeleteFunc(p.clients, func(q *Requests) bool { return q.running+len(q.queue) == 0 })
	p.changed.Broadcast()
}

// AwaitRoom waits while the client's requests use too much memory. It does not wait while asked
// reports an open question, because running requests wait for the answer (P-1804).
func (q *Requests) AwaitRoom(asked func() bool) {
	q.await(func() bool { return !q.tooLarge() || asked() })
}

// Full reports whether [Requests.AwaitRoom] could wait.
func (q *Requests) Full() bool {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	return q.tooLarge()
}

// Wake makes [Requests.AwaitRoom] check again.
func (q *Requests) Wake() {
	q.pool.mu.Lock()
	q.pool.changed.Broadcast()
	q.pool.mu.Unlock()
}

// WaitAnswered returns when all requests are answered, whether or not the client reads.
func (q *Requests) WaitAnswered() {
	q.await(func() bool { return q.running <= q.answered && len(q.queue) == 0 })
}

// Wait returns when no request is in flight.
func (q *Requests) Wait() { q.await(func() bool { return q.running == 0 && len(q.queue) == 0 }) }

func (q *Requests) await(done func() bool) {
	q.pool.mu.Lock()
	for !done() {
		q.pool.changed.Wait()
	}
	q.pool.mu.Unlock()
}

// Busy reports whether a request is in flight.
func (q *Requests) Busy() bool {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	return q.running > 0 || len(q.queue) > 0
}

// InUse reports whether a request in flight has this id.
func (q *Requests) InUse(id jsonrpc.ID) bool {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	return len(q.inFlight) > 0 && q.inFlight[id.Key()] != nil
}

// Cancel ends the request with a key without an answer, and reports whether there is one.
func (q *Requests) Cancel(key string) bool {
	q.pool.mu.Lock()
	r := q.inFlight[key]
	if r != nil {
		delete(q.inFlight, key)
		if i := slices.Index(q.queue, r); i >= 0 {
			q.queue = slices.Delete(q.queue, i, i+1)
			q.bytes -= r.bytes
			q.pool.settle()
		}
	}
	q.pool.mu.Unlock()
	if r == nil {
		return false
	}
	r.Close()
	r.cancel(ErrCancelled)
	return true
}

// CancelAll ends every request without an answer.
func (q *Requests) CancelAll(cause error) {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	for _, r := range q.inFlight {
		r.Close()
		r.cancel(cause)
	}
	for _, r := range q.queue {
		q.bytes -= r.bytes
	}
	q.queue = nil
	q.pool.settle()
}
