package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// An exchange is one call of the stateless era, which may take several requests: each is
// answered with what the script wants to know, and the next one brings that. In between the
// call is suspended: its script runs, and no request carries it (M-50).
type exchange struct {
	table   *exchanges
	id      uint64
	weight  int      // the bytes that the call takes, about; guarded by exchanges.mu
	over    bool     // only its answer is left; guarded by exchanges.mu
	ending  bool     // it was ended to have fewer scripts; guarded by exchanges.mu
	request *request // the first
	digest  func() [sha256.Size]byte
	advance json.RawMessage // answers that it brought along, nil for none
	ctx     context.Context
	cancel  context.CancelCauseFunc
	changed chan struct{} // holds one: there may be something to answer
	unwatch func() bool   // no longer ends the call with the first request

	mu sync.Mutex
	// handedOver: the first request is answered by another goroutine than the script's.
	handedOver bool
	carrier    *request      // nil while parked
	carried    chan struct{} // is closed while there is a carrier
	round      uint32        // how often the client was asked
	asked      int           // how many input requests had no key of their own
	open       []*inputItem  // what is not answered yet
	inputs     int           // bytes of open, as they were counted last
	ended      bool
	deliver    func() // sends what is to come before the answer; nil for nothing
	backlog    int    // bytes of that
	answer     *answer
	err        error
	deadline   *time.Timer // of a suspended one
}

// maxRounds is how often a call asks its client: clients give up after ten requests (M-54).
const maxRounds = 9

// run has the method do its work on the goroutine of the first request, and returns its answer.
// When the script asks for something, that request is handed over to another goroutine, which
// answers it, and this one goes on with the script alone: calls that never ask wake nobody.
func (x *exchange) run(ctx context.Context) (*answer, error) {
	x.unwatch = context.AfterFunc(ctx, func() { x.cancel(context.Cause(ctx)) })
	defer x.table.left(x)
	x.table.awaitScripts(x.ctx)
	a, err := x.table.work(x.ctx, x.request)
	x.mu.Lock()
	x.ended, x.open = true, nil
	if !x.handedOver {
		x.mu.Unlock()
		x.unwatch()
		x.cancel(nil) // what is over needs no context
		return a, err
	}
	x.answer, x.err = a, err
	if x.carrier == nil && x.ctx.Err() == nil {
		x.freeze()
	}
	x.mu.Unlock()
	x.signal()
	if x.ctx.Err() != nil {
		x.discard()
	}
	return nil, errHandedOver
}

// freeze leaves nothing of a suspended call that has ended but its answer: it may be long until
// somebody comes for it (M-55). The lock is held.
func (x *exchange) freeze() {
	bytes := x.backlog
	if x.answer != nil {
		x.answer, x.err = x.table.freeze(x.request, x.answer)
	}
	if x.answer != nil {
		bytes += x.answer.size
	}
	var e *mcp.Error
	if errors.As(x.err, &e) {
		bytes += len(e.Message) + len(e.Data)
	}
	x.request.shed()
	x.request, x.advance = nil, nil
	x.table.kept(x, bytes)
}

// keep takes what is to be sent before the answer, once a request carries the call.
func (x *exchange) keep(bytes int, deliver func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.deliver, x.backlog = deliver, bytes+len(x.request.id)+len(x.request.key) // of which deliver is part
}

// handOver leaves the first request to another goroutine. The lock is held.
func (x *exchange) handOver() {
	if !x.handedOver {
		x.handedOver = true
		x.unwatch()
		x.table.carry(x.request, x.await)
	}
}

// giveUp ends a call, if it is suspended.
func (x *exchange) giveUp(why error) {
	if x.table.take(x, why) {
		x.stop(why)
	}
}

// stop ends a call that no request can carry on any more.
func (x *exchange) stop(why error) {
	x.cancel(why)
	x.discard()
}

// discard forgets a call that is cancelled, with its outcome if there is one, unless a
// request waits for that.
func (x *exchange) discard() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.ended || x.carrier != nil {
		return
	}
	if a := x.answer; a != nil && a.done != nil {
		a.done(false)
	}
	x.answer = nil
	x.table.forget(x)
}

func (x *exchange) signal() {
	select {
	case x.changed <- struct{}{}:
	default:
	}
}

// await returns the answer to a request that carries the call: its outcome, or what the
// client has to say first. When the request ends before, so does the call.
func (x *exchange) await(ctx context.Context, r *request) (*answer, error) {
	over := ctx.Done()
	for {
		a, deliver, err, ok := x.next(ctx, r)
		if deliver != nil {
			deliver()
		}
		if ok {
			return a, err
		}
		select {
		case <-x.changed:
		case <-over:
			x.cancel(context.Cause(ctx))
			over = nil // the answer comes once the script has ended
		}
	}
}

// next returns what there is to answer now, if anything, and what is to be delivered before.
func (x *exchange) next(ctx context.Context, r *request) (a *answer, deliver func(), err error, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		x.table.forget(x)
		x.cancel(nil)
		return x.answer, x.deliver, x.err, true
	}
	if ctx.Err() != nil {
		return nil, nil, nil, false
	}
	x.settle(r.peer.capabilities)
	if len(x.open) == 0 {
		return nil, nil, nil, false
	}
	return x.park(), nil, nil, true
}

// settle answers for the client what cannot be put to it any more. The lock is held.
func (x *exchange) settle(client *mcp.Capabilities) {
	for _, item := range slices.Clone(x.open) {
		switch {
		case x.table.isClosed():
			item.resolve(goneResponse(item.Method))
		case !canAsk(client, &item.InputRequest):
			item.resolve(unsupported(item.Method))
		case x.round >= maxRounds:
			item.resolve(failedInput(item.Method, mcp.Errorf(mcp.CodeInternal, "Too many rounds of input")))
		}
	}
}

// park makes the answer that asks for everything that is open, after which no request carries
// the call. The lock is held.
func (x *exchange) park() *answer {
	x.round++
	t := x.table
	state := requestState{call: x.id, round: x.round, expires: t.now().Add(t.ttl + time.Second), request: x.digest()}
	var b rawjson.Builder
	b.Object()
	for _, item := range x.open {
		item.round = x.round
		params := item.Params
		if params == nil {
			params = json.RawMessage("{}") // M-51
		}
		b.Name(item.Key).Object().Name("method").String(item.Method).Name("params").Raw(params).End()
	}
	asking := b.End().Bytes()
	x.carrier, x.carried = nil, make(chan struct{})
	x.recount()
	x.deadline = time.AfterFunc(t.ttl, func() { x.giveUp(errExpired) })
	t.parked(x)
	return &answer{
		size: len(asking) + 1024, interim: true,
		append: func(dst []byte, extra mcp.Extra) []byte {
			b := rawjson.Over(dst)
			extra.AppendMembers(b.Object())
			b.Name("inputRequests").Raw(asking).Name("requestState").String(t.sealer.seal(state))
			extra.AppendOwnMeta(b)
			return b.End().Bytes()
		},
		done: func(sent bool) {
			if !sent { // nobody can come back
				x.giveUp(errCancelledByClient)
			}
		},
	}
}

// resume has a retry carry the call on.
func (x *exchange) resume(r *request, round uint32) *mcp.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.round != round {
		return badState(usedUp)
	}
	if err := x.table.resumed(x); err != nil {
		return err
	}
	x.deadline.Stop()
	x.carrier = r
	close(x.carried)
	responses := rawjson.Get(r.params, "inputResponses")
	for _, item := range slices.Clone(x.open) {
		if item.round == round { // M-50: what was asked since is not answered by this
			item.take(rawjson.Get(responses, item.Key))
		}
	}
	return nil
}

// carriedBy is the request that carries the call, nil while it is parked.
func (x *exchange) carriedBy() *request {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.carrier
}

// whenCarried is closed while a request carries the call.
func (x *exchange) whenCarried() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.carried
}

// Ready is [mcp.Asker.Ready].
func (x *exchange) Ready() bool { return !x.table.client.full() }

// Patience is [mcp.Asker.Patience]: a script is to wait until its call ends by its time, which
// takes its children with it.
func (x *exchange) Patience() time.Duration { return x.table.ttl + 5*time.Second }

// Ask is [mcp.Asker.Ask].
func (x *exchange) Ask(requests []mcp.InputRequest) mcp.PendingInput {
	x.mu.Lock()
	defer x.mu.Unlock()
	set := &inputSet{exchange: x, done: make(chan struct{})}
	for _, r := range requests {
		item := &inputItem{InputRequest: r, set: set}
		set.items = append(set.items, item)
		item.Key = x.key(r.Key)
		x.open = append(x.open, item)
	}
	for _, item := range set.items {
		if refusal := item.prepare(); refusal != nil {
			item.resolve(failedInput(item.Method, refusal))
		} else if x.table.isClosed() {
			item.resolve(goneResponse(item.Method))
		} else if v := rawjson.Get(x.advance, item.Key); rawjson.KindOf(v) == rawjson.Object && item.allows(v) {
			item.resolve(mcp.InputResponse{Result: rawjson.Normal(v)})
		}
	}
	if x.carrier != nil {
		x.settle(x.carrier.peer.capabilities)
	}
	set.check()
	x.recount()
	if len(x.open) > 0 {
		x.handOver()
		x.signal()
	}
	return set
}

// recount weighs what the script asks, and what was answered of that. The lock is held.
func (x *exchange) recount() {
	bytes := 0
	for i, item := range x.open {
		if i == 0 || item.set != x.open[i-1].set { // those of a set stand together
			for _, each := range item.set.items {
				bytes += len(each.Params) + len(each.response.Result)
			}
		}
	}
	bytes, x.inputs = bytes-x.inputs, bytes
	x.table.weigh(x, bytes)
}

// key makes a key that nothing open has: the script's own, or a number (M-51).
func (x *exchange) key(wanted string) string {
	taken := func(key string) bool {
		return slices.ContainsFunc(x.open, func(i *inputItem) bool { return i.Key == key })
	}
	for wanted == "" || taken(wanted) {
		x.asked++
		wanted = inputKey(x.asked)
	}
	return wanted
}
