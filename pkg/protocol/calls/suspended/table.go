// Package suspended runs calls that can ask their clients in the stateless protocol. Such a call is answered with the
// script's question, and its script waits until another request brings the answer. Between the two requests the call is
// suspended.
package suspended

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"mcp-bash/pkg/auth/share"
	"mcp-bash/pkg/events/metrics"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/seal"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/protocol/internal/throttle"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/wire/mcp"
)

// A Table contains the suspended calls of all clients, and limits them. Calls of the handshake protocol with an open
// question count as well. If there are too many, it ends the oldest call of the owner that uses most.
type Table struct {
	base   context.Context // of all calls
	ttl    time.Duration   // of a suspended call
	bounds struct{ calls, scripts, bytes int }
	self   seal.Self

	mu      sync.Mutex
	changed sync.Cond // a call has ended
	last    uint64
	byID    map[uint64]*call // calls that have asked
	waiting []*waiter        // the oldest first
	scripts int              // of waiting calls
	bytes   int              // that waiting calls use
	evicted int              // scripts of evicted calls that have not ended yet
	endings []ending         // of calls that their clients may still ask for
}

// A waiter is a call that waits for its client. The fields are guarded by the table's lock.
type waiter struct {
	client    *Client
	weight    int                // the approximate memory of the call, in bytes
	over      bool               // only the answer is left
	evicted   bool               // ended because of a limit
	suspended *call              // nil: it belongs to the handshake protocol
	end       func(reason error) // ends a call of the handshake protocol
}

// An ending is the reason why a call was ended.
type ending struct {
	call   uint64
	client *Client
	reason error
}

const (
	maxEndings = 1024 // are remembered
	maxLogged  = 10   // evictions that are logged to one client in a minute
)

// NewTable returns a Table for the clients of this process.
func NewTable(ctx context.Context, p *project.Project, self seal.Self) *Table {
	t := &Table{base: ctx, ttl: p.Sessions.ParkedTTL, self: self, byID: make(map[uint64]*call)}
	t.bounds.calls, t.bounds.scripts, t.bounds.bytes = p.Sessions.MaxParkedCalls, handoff.MostWaiting(), p.Limits.Pending
	t.changed.L = &t.mu
	return t
}

// Use returns how many calls wait for their clients.
func (t *Table) Use() metrics.Use {
	t.mu.Lock()
	defer t.mu.Unlock()
	return metrics.Use{Limit: "suspended_calls", Used: len(t.waiting), Most: t.bounds.calls}
}

// A Client has the calls of one client. No other client can resume them.
type Client struct {
	table   *Table
	session *session.Session
	owner   string // see auth.Identity.Owner
	caller  string // see auth.Identity.Key

	// guarded by the table's lock
	running  int
	logged   throttle.Throttle // evictions
	closed   bool
	expected map[*calls.Request]bool // retries that may still resume a call; nil before the first
}

// NewClient returns a client without calls. owner and caller are keys of its identity.
func (t *Table) NewClient(s *session.Session, owner, caller string) *Client {
	return &Client{table: t, session: s, owner: owner, caller: caller, logged: throttle.New(maxLogged)}
}

// The settings that limit suspended calls.
const (
	ttlSetting = "MCPBASH_PARKED_CALL_TTL"
	maxSetting = "MCPBASH_MAX_PARKED_CALLS"
)

// The reasons why a suspended call ends without a retry.
var (
	errExpired  = errors.New("its client did not come back in time (" + ttlSetting + ")")
	errNoClient = errors.New("the client sends nothing any more")
	errTooMany  = errors.New("more calls waited for their client than " + maxSetting + " allows")
	errTooLarge = errors.New("the calls that waited for their client took more memory than " +
		"MCPBASH_MAX_PENDING_BYTES allows")
	errTooManyFiles = errors.New("the calls that waited for their client took an eighth of the open files " +
		"that are allowed (ulimit -n)")
)

// Expect is called when a request arrives. If it is a retry, [Client.Close] waits until it has resumed its call.
func (c *Client) Expect(r *calls.Request) {
	if rawjson.Absent(r.Params.Get(mcp.ParamState)) {
		return
	}
	c.table.mu.Lock()
	if c.expected == nil {
		c.expected = make(map[*calls.Request]bool)
	}
	c.expected[r] = true
	c.table.mu.Unlock()
	context.AfterFunc(r.Context, func() { c.resolved(r) })
}

// resolved is called when a retry has resumed its call, or will not.
func (c *Client) resolved(r *calls.Request) {
	c.table.mu.Lock()
	delete(c.expected, r)
	ends := c.closed && len(c.expected) == 0
	c.table.mu.Unlock()
	if ends {
		c.endAll()
	}
}

// Handle answers a request: it begins a call, or resumes the call that the request names.
func (c *Client) Handle(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	responses := r.Params.Get(mcp.ParamResponses)
	if responses != nil && rawjson.KindOf(responses) != rawjson.Object {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params").WithData("inputResponses must be an object")
	}
	if rawjson.Absent(r.Params.Get(mcp.ParamState)) {
		if r.Method.MayAsk != nil && !r.Lingers() {
			return r.Method.Handle(ctx, r)
		}
		return c.begin(r, responses).run(ctx)
	}
	x, err := c.find(r)
	c.resolved(r)
	if err != nil {
		return nil, err
	}
	return x.await(ctx, r)
}

// begin makes a call from its first request.
func (c *Client) begin(r *calls.Request, advance json.RawMessage) *call {
	t := c.table
	x := &call{
		waiter: waiter{client: c, weight: 2 * r.Size()}, // scripts get a copy of the arguments
		table:  t, request: r, advance: advance, changed: make(chan struct{}, 1),
		serving: r, moved: r.Moved,
		digest: sync.OnceValue(func() [sha256.Size]byte { return digestOf(r.Method.Name, &r.Params) }),
	}
	if x.moved == nil {
		x.moved = func() {}
	}
	x.suspended = x
	x.ctx, x.cancel = context.WithCancelCause(t.base)
	r.Client.Asker, r.Call = x, x
	t.mu.Lock()
	t.last++
	x.id = t.last
	c.running++
	t.mu.Unlock()
	return x
}

// digestOf returns the hash of the parts that a retry must repeat: method, name and arguments.
func digestOf(method string, params *mcp.Params) [sha256.Size]byte {
	var b rawjson.Builder
	b.Array().String(method)
	for _, part := range []mcp.Param{mcp.ParamName, mcp.ParamArguments} {
		v := params.Get(part)
		if v == nil {
			v = json.RawMessage("null")
		}
		b.Append(func(dst []byte) []byte { return rawjson.AppendCanonical(dst, v) })
	}
	return sha256.Sum256(b.End().Bytes())
}

// badState returns the error for an unusable requestState.
func badState(reason string) *mcp.Error {
	return mcp.Errorf(mcp.CodeInvalidParams, "Invalid requestState").WithData(reason)
}

// find returns the suspended call that a retry continues. It checks the time of a state only if another process made
// it, because calls of this process end by a timer.
func (c *Client) find(r *calls.Request) (*call, error) {
	t := c.table
	state, err := openState(t.self.Sealer, r.Params.Text(mcp.ParamState), c.caller)
	switch {
	case err != nil:
		return nil, badState(err.Error())
	case state.owner.Process != t.self.Process && time.Now().After(state.expires):
		return nil, badState("it has expired; call again")
	case state.request != digestOf(r.Method.Name, &r.Params):
		return nil, badState("it belongs to another method, name or arguments")
	case state.owner.Process != t.self.Process && state.owner.URL == "":
		return nil, badState(elsewhere + "which does not advertise an address; call again")
	case state.owner.Process != t.self.Process:
		return nil, badState(elsewhere + "which has ended; call again")
	}
	t.mu.Lock()
	x, reason := t.byID[state.call], t.reason(state.call, c)
	t.mu.Unlock()
	switch {
	case x == nil:
		return nil, reason
	case x.client != c:
		return nil, badState(seal.ErrForged.Error())
	}
	if err := x.resume(r, state.round); err != nil {
		return nil, err
	}
	return x, nil
}

const elsewhere = "its call belongs to another server, "

// Owner returns the replica that sealed a text for a caller. The text is the state of a suspended call, or the id of a
// task. The owner is zero for the texts of this process and for invalid and expired ones.
func (t *Table) Owner(sealed, caller string) seal.Owner {
	state, err := openState(t.self.Sealer, sealed, caller)
	if err != nil || time.Now().After(state.expires) {
		return seal.Owner{}
	}
	return t.self.Elsewhere(state.owner)
}

// idLife is how long other replicas know the owner of an id.
const idLife = 30 * 24 * time.Hour

// NewID returns an unguessable id for a caller. If this process has a URL, [Table.Owner] of other replicas returns it
// for the id.
func (t *Table) NewID(caller string) string {
	if t.self.URL == "" {
		return rand.Text()
	}
	state := requestState{owner: t.self.Owner, expires: time.Now().Add(idLife)}
	t.mu.Lock()
	t.last++
	state.call = t.last
	t.mu.Unlock()
	return sealState(t.self.Sealer, state, caller)
}

// ErrOwnerGone is the error for a retry whose replica cannot be reached.
var ErrOwnerGone = badState(elsewhere + "which cannot be reached; call again")

// reason returns the error for a retry of a call that does not exist. The lock is held.
func (t *Table) reason(call uint64, client *Client) *mcp.Error {
	i := slices.IndexFunc(t.endings, func(e ending) bool { return e.call == call && e.client == client })
	if i < 0 {
		return badState(usedUp)
	}
	return badState("its call was ended: " + t.endings[i].reason.Error())
}

const usedUp = "it was used already, or its call has ended"

// suspend adds a call.
func (t *Table) suspend(x *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[x.id] = x
	t.add(&x.waiter)
	if x.client.closed {
		go x.End(errNoClient)
	}
}

// add counts a call that waits. The lock is held.
func (t *Table) add(w *waiter) {
	t.waiting = append(t.waiting, w)
	t.bytes += w.weight
	t.scripts++
	t.evict()
}

// Waiting counts a request of the handshake protocol whose script waits for the client, until over is called. It is a
// [calls.Config.Waiting].
func (c *Client) Waiting(r *calls.Request, bytes int) (over func()) {
	w := &waiter{client: c, weight: 2*r.Size() + bytes, end: r.Evict}
	t := c.table
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(w)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.remove(w); w.evicted {
			t.evicted--
			t.changed.Broadcast()
		}
	}
}

// weigh changes the counted memory of a call.
func (t *Table) weigh(x *call, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x.weight += bytes
	if slices.Contains(t.waiting, &x.waiter) {
		t.bytes += bytes
		t.evict()
	}
}

// finished sets the counted memory of a call that has ended to the size of its answer.
func (t *Table) finished(x *call, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	bytes, x.weight = bytes-x.weight, bytes
	x.over = true
	if slices.Contains(t.waiting, &x.waiter) {
		t.scripts--
		t.bytes += bytes
		t.evict()
	}
}

// evict ends waiting calls while they exceed a limit. The lock is held.
func (t *Table) evict() {
	for {
		var reason error
		var cost func(w *waiter) int
		switch {
		case len(t.waiting) > t.bounds.calls:
			reason, cost = errTooMany, func(*waiter) int { return 1 }
		case t.bytes > t.bounds.bytes && len(t.waiting) > 1:
			reason, cost = errTooLarge, func(w *waiter) int { return w.weight }
		case t.scripts > t.bounds.scripts:
			reason, cost = errTooManyFiles, func(w *waiter) int {
				if w.over {
					return 0
				}
				return 1
			}
		default:
			return
		}
		w := t.waiting[share.Victim(t.waiting, func(w *waiter) (string, int) { return w.client.owner, cost(w) })]
		t.remove(w)
		end := w.end
		if w.suspended != nil {
			end = w.suspended.stop
			t.remember(w.suspended, reason)
		}
		if !w.over {
			w.evicted = true
			t.evicted++
		}
		log := w.client.logged.Allow(time.Now())
		go func() { // end takes locks in the other order
			end(reason)
			if log {
				w.client.session.Log(mcp.Warning, session.LogCore, "A call that waited for its client was ended: "+reason.Error())
			}
		}()
	}
}

// remove no longer counts a call, and reports whether it waited. The lock is held.
func (t *Table) remove(w *waiter) bool {
	i := slices.Index(t.waiting, w)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.bytes -= w.weight
	if !w.over {
		t.scripts--
	}
	return true
}

// take removes a suspended call that is about to end, and reports whether it was suspended.
func (t *Table) take(x *call, reason error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	removed := t.remove(&x.waiter)
	if removed {
		t.remember(x, reason)
	}
	return removed
}

// remember stores why a call was ended. The lock is held.
func (t *Table) remember(x *call, reason error) {
	if len(t.endings) == maxEndings {
		t.endings = slices.Delete(t.endings, 0, 1)
	}
	t.endings = append(t.endings, ending{x.id, x.client, reason})
}

// resumed removes a call that a request serves again. The error is for a call that is not
// suspended any more.
func (t *Table) resumed(x *call) *mcp.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.remove(&x.waiter) {
		return t.reason(x.id, x.client)
	}
	return nil
}

// evictionPatience is how long the script of an evicted call may delay the start of another one. Scripts that ignore
// SIGTERM end after a second, or later on a busy machine. Each keeps its descriptors until then.
const evictionPatience = 20 * time.Second

// awaitScripts waits, before another script starts, until scripts of evicted calls have closed
// their files.
func (t *Table) awaitScripts(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.evicted == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, evictionPatience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.changed.Broadcast()
	})
	defer stop()
	for t.scripts+t.evicted > t.bounds.scripts && ctx.Err() == nil {
		t.changed.Wait()
	}
}

// ended is called when the script of a call has ended.
func (t *Table) ended(x *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x.evicted {
		t.evicted--
	}
	x.client.running--
	t.changed.Broadcast()
}

// forget removes a call that no request can serve any more.
func (t *Table) forget(x *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(&x.waiter)
	delete(t.byID, x.id)
}

// Close ends the client's suspended calls, and cancels later questions of its scripts, because the client sends nothing
// any more. Retries that have arrived still resume their calls.
func (c *Client) Close() {
	c.table.mu.Lock()
	c.closed = true
	ends := len(c.expected) == 0
	c.table.mu.Unlock()
	if ends {
		c.endAll()
	}
}

// endAll ends the client's suspended calls.
func (c *Client) endAll() {
	c.table.mu.Lock()
	waiting := slices.Clone(c.table.waiting)
	c.table.mu.Unlock()
	for _, w := range waiting {
		if w.client == c && w.suspended != nil {
			w.suspended.End(errNoClient)
		}
	}
}

func (c *Client) isClosed() bool {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	return c.closed
}

// Busy reports whether a call of the client waits.
func (c *Client) Busy() bool {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	return slices.ContainsFunc(c.table.waiting, func(w *waiter) bool { return w.client == c })
}

// Wait returns when no call of the client runs.
func (c *Client) Wait() {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	for c.running > 0 {
		c.table.changed.Wait()
	}
}
