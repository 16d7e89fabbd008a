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

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/wire/mcp"
)

// exchanges are the calls that may ask their client for input, and those of them that are
// suspended (M-52, M-55).
type exchanges struct {
	exchangeHooks
	client *client
	log    mcp.LogFunc
	base   context.Context // of all calls
	ttl    time.Duration   // of a suspended call
	bounds struct{ calls, scripts, bytes int }
	now    func() time.Time
	sealer sealer

	mu      sync.Mutex
	none    sync.Cond // nothing runs or is suspended any more
	fewer   sync.Cond // ending has changed
	last    uint64
	running int
	byID    map[uint64]*exchange // those that have asked
	waiting []*exchange          // the suspended ones, the oldest first
	scripts int                  // of waiting, that have not ended
	ending  int                  // scripts of calls that were ended to have fewer of them, and that have not yet
	bytes   int                  // that waiting takes
	endings []ending             // why calls were ended that their clients may still ask for
	told    throttle             // of messages that calls were ended
	closed  bool
}

// exchangeHooks are what exchanges need of the server.
type exchangeHooks struct {
	// work has a request's method do its work.
	work handler
	// carry has another goroutine answer a request.
	carry func(r *request, handle handler)
	// freeze makes the result of an answer that is kept.
	freeze func(r *request, a *answer) (*answer, error)
}

func newExchanges(ctx context.Context, p *project.Project, c *client, log mcp.LogFunc,
	hooks exchangeHooks) *exchanges {
	t := &exchanges{
		exchangeHooks: hooks, client: c, log: log, base: ctx, ttl: p.Sessions.ParkedTTL,
		now: time.Now, sealer: newSealer(), byID: make(map[uint64]*exchange), told: newThrottle(maxTold),
	}
	t.bounds.calls, t.bounds.scripts, t.bounds.bytes = p.Sessions.MaxParkedCalls, handoff.MostWaiting(), p.Limits.Pending
	t.none.L, t.fewer.L = &t.mu, &t.mu
	return t
}

// The reasons why a suspended call ends without a retry.
var (
	errExpired  = errors.New("its client did not come back in time (MCPBASH_PARKED_CALL_TTL)")
	errNoClient = errors.New("the client sends nothing any more")
	errCrowded  = errors.New("more calls waited for their client than MCPBASH_MAX_PARKED_CALLS allows")
	errHeavy    = errors.New("the calls that waited for their client took more memory than " +
		"MCPBASH_MAX_PENDING_BYTES allows")
	errScarce = errors.New("the calls that waited for their client took a quarter of the open files " +
		"that are allowed (ulimit -n)")
)

// An ending is why a call was ended.
type ending struct {
	call uint64
	why  error
}

const (
	maxEndings = 1024 // are remembered
	maxTold    = 10   // are logged in a minute
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
	r.keep, r.grew = x.keep, func(bytes int) { t.weigh(x, bytes) }
	t.mu.Lock()
	t.last++
	x.id, x.weight = t.last, 2*r.size() // the arguments are there twice: in the form that scripts are given, too
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

// badState refuses a requestState, and says why.
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
	x, why := t.byID[state.call], t.whyEnded(state.call)
	t.mu.Unlock()
	if x == nil {
		return nil, why
	}
	if err := x.resume(r, state.round); err != nil {
		return nil, err
	}
	return x, nil
}

// whyEnded is the answer to a retry of a call that is not there. The lock is held.
func (t *exchanges) whyEnded(call uint64) *mcp.Error {
	if i := slices.IndexFunc(t.endings, func(e ending) bool { return e.call == call }); i >= 0 {
		return badState(endedBy(t.endings[i].why))
	}
	return badState(usedUp)
}

const usedUp = "it was used already, or its call has ended"

func endedBy(why error) string { return "its call was ended: " + why.Error() }

// parked enters a call among those that wait for their clients.
func (t *exchanges) parked(x *exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[x.id] = x
	t.waiting = append(t.waiting, x)
	t.bytes += x.weight
	t.scripts++
	t.relieve()
	if t.closed {
		go x.giveUp(errNoClient)
	}
}

// weigh notes that a call takes more bytes, or less.
func (t *exchanges) weigh(x *exchange, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x.weight += bytes
	if slices.Contains(t.waiting, x) {
		t.bytes += bytes
		t.relieve()
	}
}

// kept notes that nothing is left of a suspended call but its answer, of so many bytes.
func (t *exchanges) kept(x *exchange, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	bytes, x.weight = bytes-x.weight, bytes
	x.over = true
	if slices.Contains(t.waiting, x) {
		t.scripts--
		t.bytes += bytes
		t.relieve()
	}
}

// relieve ends the oldest of the suspended calls while they are too many, or take too much (M-55). The lock
// is held.
func (t *exchanges) relieve() {
	for {
		var why error
		oldest := 0
		switch {
		case len(t.waiting) > t.bounds.calls:
			why = errCrowded
		case t.bytes > t.bounds.bytes && len(t.waiting) > 1:
			why = errHeavy
		case t.scripts > t.bounds.scripts:
			why = errScarce
			oldest = slices.IndexFunc(t.waiting, func(x *exchange) bool { return !x.over })
		default:
			return
		}
		x := t.waiting[oldest]
		t.remove(x)
		t.remember(x, why)
		if !x.over {
			x.ending = true
			t.ending++
		}
		tell := t.told.allow(time.Now())
		go func() { // which takes locks in the other order
			x.stop(why)
			if tell {
				t.log(mcp.Warning, logCore, "A call that waited for its client was ended: "+why.Error())
			}
		}()
	}
}

// remove no longer counts a call among those that wait, and reports whether it was among them. The lock is
// held.
func (t *exchanges) remove(x *exchange) bool {
	i := slices.Index(t.waiting, x)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.bytes -= x.weight
	if !x.over {
		t.scripts--
	}
	return true
}

// take takes a call from those that wait, as it is to end, and reports whether it was among them.
func (t *exchanges) take(x *exchange, why error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	waited := t.remove(x)
	if waited {
		t.remember(x, why)
	}
	return waited
}

// remember notes why a call was ended. The lock is held.
func (t *exchanges) remember(x *exchange, why error) {
	if len(t.endings) == maxEndings {
		t.endings = slices.Delete(t.endings, 0, 1)
	}
	t.endings = append(t.endings, ending{x.id, why})
}

// resumed is called when a request is to carry a call again. The error is for its client: the call is not
// suspended any more.
func (t *exchanges) resumed(x *exchange) *mcp.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.remove(x) {
		return t.whyEnded(x.id)
	}
	return nil
}

// endingPatience is for how long a script that is to end may keep another from its start. Most end at
// once, and those that ignore SIGTERM after a second.
const endingPatience = 3 * time.Second

// awaitScripts waits, before another script is started, until the scripts have ended that were to, so that
// what they have open does not keep it from that. There are too many only for a moment.
func (t *exchanges) awaitScripts(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ending == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, endingPatience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.fewer.Broadcast()
	})
	defer stop()
	for t.scripts+t.ending > t.bounds.scripts && ctx.Err() == nil {
		t.fewer.Wait()
	}
}

// left is called when a call has ended.
func (t *exchanges) left(x *exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x.ending {
		t.ending--
		t.fewer.Broadcast()
	}
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
	waiting := slices.Clone(t.waiting)
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
