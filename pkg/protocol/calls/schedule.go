package calls

import (
	"context"
	"slices"
	"sync"
	"time"

	"mcp-bash/pkg/auth/share"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/metrics"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/console"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/wire/jsonrpc"
)

// maxQueued is the maximum number of requests of one client that wait for a slot.
const maxQueued = 1024

// A Pool limits the requests of all clients in a process: the number that run at once, and the memory that they use. An
// owner alone can use all slots. Owners with waiting requests take turns for the slots that become free, and so do the
// clients of an owner. A request that waits for its client or for a person holds no slot.
type Pool struct {
	bound   int       // bytes of requests, which the owners with requests share equally
	lines   sync.Pool // of *[]byte, for answers
	mu      sync.Mutex
	changed sync.Cond // a request was answered or has ended, or the client has something to read
	lanes   [2]lane
	closed  chan struct{} // a channel that is always closed
	clients share.Usage   // clients with requests, by owner
}

// A lane has the slots for one kind of requests.
type lane struct {
	slots int
	held  share.Usage            // slots, by owner
	turns share.Turns[*Requests] // clients whose requests wait
	queue int                    // requests that wait
}

// The lanes. Requests that start no script never wait for requests that start one.
const (
	scripts = iota // requests that can start a script
	others
)

// NewPool returns a Pool.
func NewPool(limits *project.Limits) *Pool {
	p := &Pool{bound: limits.Pending, closed: make(chan struct{})}
	close(p.closed)
	p.changed.L = &p.mu
	for i := range p.lanes {
		p.lanes[i].slots = limits.Concurrent
	}
	return p
}

// Uses returns how many slots are in use, and how many requests wait for one.
func (p *Pool) Uses() (list []metrics.Use, queued int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for kind, name := range [...]string{scripts: "scripts", others: "other_requests"} {
		l := &p.lanes[kind]
		list, queued = append(list, metrics.Use{Limit: name, Used: l.held.All(), Most: l.slots}), queued+l.queue
	}
	return list, queued
}

// A Config is the input of [Pool.NewRequests].
type Config struct {
	Context context.Context // of all requests
	Owner   string          // of the client; see [auth.Identity.Owner]
	Session *session.Session
	Console *console.Console
	Limits  *project.Limits
	After   func(m *Method) // is called after each request
	Events  events.Sink     // nil: requests are not reported
	// Audit is the record of the requests, whose ids answers then have. nil: nothing is recorded.
	Audit  events.Preparer
	Handle Handler // answers the requests; nil: their protocols do
	// Shared means that no slot is reserved for the client, because there can be any number of clients. Each request
	// waits for its slot on its own goroutine.
	Shared bool
	// Waiting counts a request whose script waits for the client, until over is called; nil: there is no limit. bytes
	// is the size of the questions.
	Waiting func(r *Request, bytes int) (over func())
}

// Requests are the requests of one client that run or wait for a slot (protocol section 18).
type Requests struct {
	Config
	pool *Pool

	// guarded by the pool's lock
	inFlight map[string]*Request
	running  int           // begun and not ended
	resting  int           // running requests that wait without a slot
	answered int           // running requests whose answers are ready
	queues   [2][]*Request // that wait for a slot of each lane; requests that have begun before come first
	queued   int           // requests that have not begun
	bytes    int           // of all that run or wait
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
	Queued                   // another goroutine runs it later; if Shared, the caller runs it, and Run waits
	Duplicate                // its id is in use
	Refused                  // too many requests are waiting
)

// Schedule takes a slot for a request, or a place in the queue. It gives the request a context.
func (q *Requests) Schedule(r *Request) Outcome {
	p := q.pool
	r.lane = others
	if starts := r.Method.Starts; starts != nil && starts(r) {
		r.lane = scripts
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &p.lanes[r.lane]
	mustWait := len(q.queues[r.lane]) > 0 || l.held.All() >= l.slots || !q.ready(r)
	switch {
	case q.inFlight[r.Key] != nil:
		return Duplicate
	case q.tooLarge() || mustWait && q.queued >= maxQueued:
		return Refused
	}
	r.requests, r.bytes = q, r.Size()
	r.Context, r.cancel = context.WithCancelCause(q.Context)
	if r.asker = r.Client.Asker; r.asker != nil {
		r.Client.Asker = asking{r}
	}
	q.inFlight[r.Key] = r
	q.bytes += r.bytes
	if q.running+q.queued == 0 {
		p.clients.Add(q.Owner, 1)
	}
	if mustWait {
		if q.queued++; q.Shared {
			r.turn = make(chan struct{})
		}
		q.enqueue(r, len(q.queues[r.lane]))
		p.dispatch()
		return Queued
	}
	q.start(r)
	return Run
}

// ready reports whether a request may begin: its client reads, and does not have too many answers that wait to be read.
// The lock is held.
func (q *Requests) ready(r *Request) bool {
	return q.running-q.resting < q.pool.lanes[scripts].slots+q.pool.lanes[others].slots && !r.Out.Full()
}

// enqueue lets a request wait for a slot of its lane. The lock is held.
func (q *Requests) enqueue(r *Request, at int) {
	q.pool.lanes[r.lane].queue++
	queue := &q.queues[r.lane]
	if *queue = slices.Insert(*queue, at, r); len(*queue) == 1 {
		q.pool.lanes[r.lane].turns.Add(q.Owner, q)
	}
}

// dequeue removes a waiting request, and reports whether it waited. The lock is held.
func (q *Requests) dequeue(r *Request) bool {
	queue := &q.queues[r.lane]
	i := slices.Index(*queue, r)
	if i < 0 {
		return false
	}
	q.pool.lanes[r.lane].queue--
	if *queue = slices.Delete(*queue, i, i+1); len(*queue) == 0 {
		q.pool.lanes[r.lane].turns.Remove(q.Owner, q)
	}
	if !r.began {
		q.queued--
	}
	return true
}

// start gives a slot to a request. The lock is held.
func (q *Requests) start(r *Request) {
	r.slot = true
	q.pool.lanes[r.lane].held.Add(q.Owner, 1)
	if !r.began {
		r.began = true
		q.running++
	}
	if r.resting {
		r.resting = false
		q.resting--
	}
}

// dispatch gives free slots to waiting requests. The owners take turns. An owner with half of the slots waits while
// others wait. The lock is held.
func (p *Pool) dispatch() {
	for kind := range p.lanes {
		l := &p.lanes[kind]
		startable := func(q *Requests) bool { return q.startable(q.queues[kind][0]) }
		hasHalf := func(owner string) bool { return l.held.Of(owner) >= share.Half(l.slots) }
		for l.held.All() < l.slots {
			q, ok := l.turns.Next(startable, hasHalf)
			if !ok {
				break
			}
			r := q.queues[kind][0]
			q.dequeue(r)
			q.start(r)
			switch {
			case r.resumed != nil:
				close(r.resumed)
				r.resumed = nil
			case r.turn != nil:
				close(r.turn)
			default:
				go r.Run()
			}
		}
	}
}

// startable reports whether a waiting request may take a slot. If the client has too much to read, a
// goroutine waits until it has read. The lock is held.
func (q *Requests) startable(r *Request) bool {
	if r.began || r.Context.Err() != nil || q.ready(r) {
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

// tooLarge reports whether the client's requests use more than its share of the memory: an equal part
// of the share of its owner. The lock is held.
func (q *Requests) tooLarge() bool {
	clients := &q.pool.clients
	return q.bytes > clients.Equal(q.pool.bound)/max(1, clients.Of(q.Owner))
}

// freeSlot makes the slot of a request available. The request waits, or only has to send its answer. The lock is held.
func (q *Requests) freeSlot(r *Request) {
	if r.slot {
		r.slot = false
		q.pool.lanes[r.lane].held.Add(q.Owner, -1)
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

// end ends a running request. Its id has been released.
func (q *Requests) end(r *Request) {
	r.cancel(nil)
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	q.running--
	if r.resting {
		q.resting--
	}
	if r.answered {
		q.answered--
	}
	if r.slot {
		r.slot = false
		q.pool.lanes[r.lane].held.Add(q.Owner, -1)
	}
	q.forget(r)
	q.pool.settle()
}

// forget ends the count of a request, which neither runs nor waits any more. The lock is held.
func (q *Requests) forget(r *Request) {
	if q.bytes -= r.bytes; q.running+q.queued == 0 {
		q.pool.clients.Add(q.Owner, -1)
	}
}

// awaitTurn waits until a request of a shared server has a slot. It returns false if the request ended before.
func (q *Requests) awaitTurn(r *Request) bool {
	select {
	case <-r.turn:
		return true
	case <-r.Context.Done():
	}
	q.pool.mu.Lock()
	hasSlot := r.slot
	withdrawn := !hasSlot && q.withdraw(r) // the client has ended
	if withdrawn {
		delete(q.inFlight, r.Key)
	}
	q.pool.mu.Unlock()
	if withdrawn {
		q.abandon(r)
	}
	return hasSlot
}

// withdraw removes a request from its queue, unless it has begun. The caller then calls abandon, without the lock. The
// lock is held.
func (q *Requests) withdraw(r *Request) bool {
	if r.began || !q.dequeue(r) {
		return false
	}
	q.running++ // until it is recorded
	return true
}

// abandon closes and records a request that did not begin.
func (q *Requests) abandon(r *Request) {
	r.Close()
	r.started = time.Now()
	r.record(nil, ErrCancelled, 0)
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	q.running--
	q.forget(r)
	q.pool.settle()
}

// settle starts waiting requests, and wakes all that wait for a change. The lock is held.
func (p *Pool) settle() {
	p.dispatch()
	p.changed.Broadcast()
}

// AwaitRoom waits while the client's requests use too much memory. It does not wait while asked reports an open
// question, because running requests wait for the answer.
func (q *Requests) AwaitRoom(asked func() bool) {
	q.await(func() bool { return !q.tooLarge() || asked() })
}

// Full reports whether the client's requests use too much memory.
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
	q.await(func() bool { return q.running <= q.answered && q.queued == 0 })
}

// Wait returns when no request is in flight.
func (q *Requests) Wait() { q.await(func() bool { return q.running+q.queued == 0 }) }

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
	return q.running+q.queued > 0
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
	r, withdrawn := q.inFlight[key], false
	if r != nil {
		delete(q.inFlight, key)
		withdrawn = q.withdraw(r)
	}
	q.pool.mu.Unlock()
	if r == nil {
		return false
	}
	r.Close()
	r.cancel(ErrCancelled)
	if withdrawn {
		q.abandon(r)
	}
	return true
}

// CancelAll ends every request without an answer.
func (q *Requests) CancelAll(cause error) {
	var withdrawn []*Request
	q.pool.mu.Lock()
	for _, r := range q.inFlight {
		r.Close()
		r.cancel(cause)
	}
	for _, queue := range q.queues {
		for _, r := range slices.Clone(queue) {
			if q.withdraw(r) {
				withdrawn = append(withdrawn, r)
			}
		}
	}
	q.pool.settle()
	q.pool.mu.Unlock()
	for _, r := range withdrawn {
		q.abandon(r)
	}
}
