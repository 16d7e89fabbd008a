package calls

import (
	"context"
	"time"

	"mcp-bash/pkg/wire/mcp"
)

// Rest frees the slot of a request that does no work until its answer. The caller must limit the number of such
// requests.
func (r *Request) Rest() {
	r.requests.pool.mu.Lock()
	defer r.requests.pool.mu.Unlock()
	r.rest()
}

// rest is Rest while the lock is held.
func (r *Request) rest() {
	if q := r.requests; !r.resting {
		r.resting = true
		q.resting++
		q.freeSlot(r)
		q.pool.dispatch()
	}
}

// resume queues the request for a slot, before the requests of its client that have not begun. The channel is closed
// when the request has a slot. The lock is held.
func (r *Request) resume() <-chan struct{} {
	q := r.requests
	switch l := &q.pool.lanes[r.lane]; {
	case r.slot, r.answered:
		return q.pool.closed
	case r.resumed != nil:
		return r.resumed
	case l.held.All() < l.slots:
		q.start(r)
		return q.pool.closed
	}
	at := 0
	for at < len(q.queues[r.lane]) && q.queues[r.lane][at].began {
		at++
	}
	turn := make(chan struct{})
	r.resumed = turn
	q.enqueue(r, at)
	q.pool.dispatch()
	return turn
}

// resumeNow takes a slot even if none is free, because the script already works. The lock is held.
func (r *Request) resumeNow() {
	q := r.requests
	if q.dequeue(r) {
		close(r.resumed)
		r.resumed = nil
	}
	if !r.slot && !r.answered {
		q.start(r)
	}
}

// await waits for a channel that resume returned. After the end of ctx the request goes on without a slot.
func (r *Request) await(ctx context.Context, turn <-chan struct{}) {
	select {
	case <-turn:
		return
	case <-ctx.Done():
	}
	q := r.requests
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	if q.dequeue(r) {
		r.resumed = nil
	}
}

// Await waits until a channel is closed or ctx ends. Meanwhile the request keeps no slot, because it
// waits for its client.
func (r *Request) Await(ctx context.Context, ready <-chan struct{}) {
	select {
	case <-ready:
		return
	default:
	}
	r.Rest()
	select {
	case <-ready:
	case <-ctx.Done():
	}
	q := r.requests
	q.pool.mu.Lock()
	turn := r.resume()
	q.pool.mu.Unlock()
	r.await(ctx, turn)
}

// Enter waits for a slot for scripts. A request whose Method.Starts returned false calls it before it starts a
// script. The error is the cause of ctx.
func (r *Request) Enter(ctx context.Context) error {
	q := r.requests
	q.pool.mu.Lock()
	if r.lane == scripts {
		q.pool.mu.Unlock()
		return nil
	}
	r.rest()
	r.lane = scripts
	turn := r.resume()
	q.pool.mu.Unlock()
	r.await(ctx, turn)
	return context.Cause(ctx)
}

// asking sends the questions of a request's script to the client. It implements [mcp.Asker]. While
// a question is open, the request keeps no slot. The script gets the last answer when the request has
// a slot again.
type asking struct{ r *Request }

func (a asking) Ready() bool             { return a.r.asker.Ready() }
func (a asking) Patience() time.Duration { return a.r.asker.Patience() }

func (a asking) Ask(requests []mcp.InputRequest) mcp.PendingInput {
	r, q := a.r, a.r.requests
	size := 0
	for i := range requests {
		size += len(requests[i].Params)
	}
	q.pool.mu.Lock()
	first := r.questions == 0
	r.questions++
	r.rest()
	q.pool.mu.Unlock()
	if first && q.Waiting != nil {
		over := q.Waiting(r, size)
		q.pool.mu.Lock()
		r.over = over
		q.pool.mu.Unlock()
	}
	return &question{PendingInput: r.asker.Ask(requests), r: r}
}

// A question has the input requests that a script sent together. It implements [mcp.PendingInput].
type question struct {
	mcp.PendingInput
	r *Request

	// guarded by the pool's lock
	settled bool
	turn    <-chan struct{} // closed when the script may get the answer
}

func (p *question) Responses() ([]mcp.InputResponse, bool) {
	list, done := p.PendingInput.Responses()
	if !done {
		return nil, false
	}
	select {
	case <-p.settle():
		return list, true
	default:
		return nil, false
	}
}

func (p *question) Wait(ctx context.Context) ([]mcp.InputResponse, error) {
	list, err := p.PendingInput.Wait(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.settle():
		return list, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close implements [mcp.PendingInput]. The script goes on at once: it ends, or asks something else.
func (p *question) Close() []mcp.InputResponse {
	p.settle()
	r := p.r
	r.requests.pool.mu.Lock()
	if r.questions == 0 {
		r.resumeNow()
	}
	r.requests.pool.mu.Unlock()
	return p.PendingInput.Close()
}

// settle records that the answers have arrived. If other questions are open, the script gets the answers at once, and
// the request still keeps no slot.
func (p *question) settle() <-chan struct{} {
	r, q := p.r, p.r.requests
	var over func()
	q.pool.mu.Lock()
	if !p.settled {
		p.settled, p.turn = true, q.pool.closed
		if r.questions--; r.questions == 0 {
			p.turn = r.resume()
			over, r.over = r.over, nil
		}
	}
	turn := p.turn
	q.pool.mu.Unlock()
	if over != nil {
		over()
	}
	return turn
}
