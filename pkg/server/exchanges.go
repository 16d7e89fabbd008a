package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// exchanges are the calls that may ask their client for input, and those of them that are
// parked (M-52, M-55).
type exchanges struct {
	client *client
	base   context.Context // of all calls
	// work has a request's method do its work.
	work handler
	// carry has another goroutine answer a request.
	carry  func(r *request, handle handler)
	ttl    time.Duration // of a parked call
	most   int           // parked calls
	room   int           // bytes of their requests
	now    func() time.Time
	sealer sealer

	mu      sync.Mutex
	none    sync.Cond // nothing runs or is parked any more
	last    uint64
	running int
	byID    map[uint64]*exchange // those that have asked
	waiting []*exchange          // the parked ones, the eldest first
	bytes   int                  // of waiting
	closed  bool
}

func newExchanges(ctx context.Context, p *project.Project, c *client, work handler,
	carry func(*request, handler)) *exchanges {
	t := &exchanges{
		client: c, base: ctx, work: work, carry: carry, ttl: p.Sessions.ParkedTTL,
		most: p.Sessions.MaxParkedCalls, room: p.Limits.Pending,
		now: time.Now, sealer: newSealer(), byID: make(map[uint64]*exchange),
	}
	t.none.L = &t.mu
	return t
}

// The reasons why a parked call ends without a retry.
var (
	errExpired  = errors.New("the client did not come back in time")
	errCrowded  = errors.New("more calls wait for their clients than may")
	errNoClient = errors.New("the client sends nothing any more")
)

// handle answers a request: it begins a call, or carries on the one that it names.
func (t *exchanges) handle(ctx context.Context, r *request) (*answer, error) {
	responses := rawjson.Get(r.params, "inputResponses")
	if responses != nil && rawjson.KindOf(responses) != rawjson.Object {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params").WithData("inputResponses must be an object")
	}
	state := rawjson.Get(r.params, "requestState")
	if rawjson.Absent(state) {
		return t.begin(r, responses).run(ctx)
	}
	x, err := t.resume(r, state)
	if err != nil {
		return nil, err
	}
	return x.await(ctx, r)
}

// begin makes a call of its first request.
func (t *exchanges) begin(r *request, advance json.RawMessage) *exchange {
	x := &exchange{
		table: t, request: r, advance: advance, changed: make(chan struct{}, 1), carrier: r, carried: make(chan struct{}),
		digest: sync.OnceValue(func() [sha256.Size]byte { return digestOf(r) }),
	}
	close(x.carried)
	x.ctx, x.cancel = context.WithCancelCause(t.base)
	r.peer.asker, r.carriedBy, r.whenCarried = x, x.carriedBy, x.whenCarried
	t.mu.Lock()
	t.last++
	x.id = t.last
	t.running++
	t.mu.Unlock()
	return x
}

// digestOf is what a retry has to repeat: method, name and arguments.
func digestOf(r *request) [sha256.Size]byte {
	var b rawjson.Builder
	b.Array().String(r.method.name)
	for _, name := range []string{"name", "arguments"} {
		v := rawjson.Get(r.params, name)
		if v == nil {
			v = json.RawMessage("null")
		}
		b.Append(func(dst []byte) []byte { return rawjson.AppendCanonical(dst, v) })
	}
	return sha256.Sum256(b.End().Bytes())
}

func badState(reason string) *mcp.Error {
	return mcp.Errorf(mcp.CodeInvalidParams, "Invalid requestState").WithData(reason)
}

// resume finds the call that a retry belongs to, and has it carried on.
func (t *exchanges) resume(r *request, sealed json.RawMessage) (*exchange, error) {
	text, _ := rawjson.Text(sealed)
	state, err := t.sealer.open(text)
	if err != nil {
		return nil, badState(err.Error())
	}
	if t.now().After(state.expires) {
		return nil, badState("it has expired; call again")
	}
	if state.request != digestOf(r) {
		return nil, badState("it belongs to another method, name or arguments")
	}
	t.mu.Lock()
	x := t.byID[state.call]
	t.mu.Unlock()
	if x == nil {
		return nil, badState("it was used already, or its call has ended")
	}
	if err := x.resume(r, state.round); err != nil {
		return nil, err
	}
	return x, nil
}

// parked enters a call among those that wait for their clients, and ends the eldest while
// there are too many.
func (t *exchanges) parked(x *exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[x.id] = x
	t.waiting = append(t.waiting, x)
	t.bytes += x.request.size()
	for len(t.waiting) > t.most || t.bytes > t.room && len(t.waiting) > 1 {
		eldest := t.waiting[0]
		t.remove(eldest)
		go eldest.giveUp(errCrowded) // which takes locks in the other order
	}
	if t.closed {
		go x.giveUp(errNoClient)
	}
}

// remove no longer counts a call among those that wait. The lock is held.
func (t *exchanges) remove(x *exchange) {
	if i := slices.Index(t.waiting, x); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.bytes -= x.request.size()
	}
}

// resumed is called when a request carries a call again.
func (t *exchanges) resumed(x *exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(x)
}

// left is called when a call has ended.
func (t *exchanges) left() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	if t.running == 0 {
		t.none.Broadcast()
	}
}

// forget is called when no request can carry a call on any more.
func (t *exchanges) forget(x *exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(x)
	delete(t.byID, x.id)
}

// close ends what is parked, and answers what is asked from now on: the client sends nothing
// any more (M-50).
func (t *exchanges) close() {
	t.mu.Lock()
	t.closed = true
	waiting := t.waiting
	t.waiting, t.bytes = nil, 0
	t.mu.Unlock()
	for _, x := range waiting {
		x.giveUp(errNoClient)
	}
}

func (t *exchanges) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// busy reports whether a call waits for its client.
func (t *exchanges) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting) > 0
}

// wait returns when no call runs.
func (t *exchanges) wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.running > 0 {
		t.none.Wait()
	}
}

// inputKey is the key of an input request that has none of its own.
func inputKey(n int) string { return "input-" + strconv.Itoa(n) }
