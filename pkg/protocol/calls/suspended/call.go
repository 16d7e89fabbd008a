package suspended

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/seal"
	"mcp-bash/pkg/wire/mcp"
)

// A call is one run of a method that several requests can serve, one after the other. It
// implements [calls.Call] and [mcp.Asker].
type call struct {
	waiter
	table   *Table
	id      uint64
	request *calls.Request // the first
	moved   func()         // see calls.Request.Moved; not nil
	digest  func() [sha256.Size]byte
	advance json.RawMessage // answers in the first request, or nil
	ctx     context.Context
	cancel  context.CancelCauseFunc
	changed chan struct{} // has one element after a change
	unwatch func() bool   // stops ending the call with the first request

	mu        sync.Mutex
	ending    *calls.Request // for the record, if the call ends while it is suspended
	handedOff bool           // another goroutine than the script's answers the first request
	serving   *calls.Request // nil while suspended
	round     uint32         // how often the client was asked
	asked     int            // the number of input requests without a key
	open      []*input       // input requests that are not answered yet
	inputs    int            // bytes of open, when last counted
	ended     bool
	deliver   func() // sends the reports that come before the answer; nil: none
	backlog   int    // bytes of these reports
	answer    *calls.Answer
	err       error
	deadline  *time.Timer // of a suspended call
}

// maxRounds is the maximum number of times that a call asks its client. Clients give up after ten requests.
const maxRounds = 9

// run calls the method's handler on the goroutine of the first request, and returns its answer. If the script asks
// for something, another goroutine answers the first request, and the current one stays with the script. A call that
// never asks wakes no other goroutine.
func (x *call) run(ctx context.Context) (*calls.Answer, error) {
	x.unwatch = context.AfterFunc(ctx, func() { x.cancel(context.Cause(ctx)) })
	defer x.table.ended(x)
	x.table.awaitScripts(x.ctx)
	a, err := x.request.Handle(x.ctx)
	x.mu.Lock()
	x.ended, x.open = true, nil
	if !x.handedOff {
		x.mu.Unlock()
		x.unwatch()
		x.cancel(nil)
		return a, err
	}
	x.answer, x.err = a, err
	alone := x.serving == nil
	if alone && x.ctx.Err() == nil {
		x.shrink()
	}
	x.mu.Unlock()
	x.signal()
	if x.ctx.Err() != nil {
		x.discard()
	}
	if alone {
		x.moved()
	}
	return nil, calls.ErrHandedOff
}

// shrink keeps only the rendered answer of a suspended call that has ended, because its client may fetch it late. The
// lock is held.
func (x *call) shrink() {
	bytes := x.backlog
	if x.answer != nil && x.err == nil {
		x.answer, x.err = x.request.Render(x.answer)
	}
	if x.answer != nil {
		bytes += x.answer.Size
	}
	if e, ok := errors.AsType[*mcp.Error](x.err); ok {
		bytes += len(e.Message) + len(e.Data)
	}
	x.request.Shed()
	x.request, x.advance = nil, nil
	if x.ending != nil {
		bytes += x.ending.Size()
	}
	x.table.finished(x, bytes)
}

func (x *call) Keep(bytes int, deliver func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.deliver, x.backlog = deliver, bytes+len(x.request.ID)+len(x.request.Key) // deliver refers to the request
}

func (x *call) Grew(bytes int) { x.table.weigh(x, bytes) }

func (x *call) Serving() *calls.Request {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.serving
}

func (x *call) Listening() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.serving != nil && len(x.open) == 0
}

// handOff lets another goroutine answer the first request. The lock is held.
func (x *call) handOff() {
	if !x.handedOff {
		x.handedOff = true
		x.unwatch()
		x.ending = x.request.Ending()
		x.request.HandOff(x.await)
	}
}

func (x *call) End(reason error) {
	if x.table.take(x, reason) {
		x.stop(reason)
	}
}

// stop ends a call that no request can resume any more.
func (x *call) stop(reason error) {
	x.cancel(reason)
	x.discard()
}

// discard records and forgets a cancelled call that has ended, unless a request waits for its result.
func (x *call) discard() {
	x.mu.Lock()
	if !x.ended || x.serving != nil {
		x.mu.Unlock()
		return
	}
	a, ending := x.answer, x.ending
	x.answer, x.ending = nil, nil
	x.table.forget(x)
	x.mu.Unlock()
	if ending != nil {
		ending.RecordEnd(a)
	}
	if a != nil && a.Done != nil {
		a.Done(false)
	}
}

func (x *call) signal() {
	select {
	case x.changed <- struct{}{}:
	default:
	}
}

// await returns the answer to a request that serves the call: the result, or the next question.
// The end of the request ends the call.
func (x *call) await(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
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

// next returns the answer that can be sent now, if any, and the function that delivers reports before it.
func (x *call) next(ctx context.Context, r *calls.Request) (a *calls.Answer, deliver func(), err error, ok bool) {
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
	x.resolveUnaskable(r.Client.Capabilities)
	if len(x.open) == 0 {
		return nil, nil, nil, false
	}
	return x.suspend(), nil, nil, true
}

// resolveUnaskable answers the questions that cannot be sent to the client. The lock is held.
func (x *call) resolveUnaskable(client *mcp.Capabilities) {
	for _, in := range slices.Clone(x.open) {
		switch {
		case x.client.isClosed():
			in.resolve(calls.GoneResponse(in.Method))
		case !client.CanAnswer(&in.InputRequest):
			in.resolve(calls.NoAnswer(in.Method, "decline", // T-124, T-128
				mcp.Errorf(mcp.CodeMethodNotFound, "Not supported by the client")))
		case x.round >= maxRounds:
			in.fail(mcp.Errorf(mcp.CodeInternal, "Too many rounds of input"))
		}
	}
}

// suspend returns the answer that contains all open questions. No request serves the call after
// it. The lock is held.
func (x *call) suspend() *calls.Answer {
	x.round++
	t := x.table
	state := requestState{owner: t.self.Owner}
	state.call, state.round, state.request = x.id, x.round, x.digest()
	state.expires = time.Now().Add(t.ttl + time.Second)
	var b rawjson.Builder
	b.Object()
	for _, in := range x.open {
		in.round = x.round
		params := in.Params
		if params == nil {
			params = json.RawMessage("{}") // M-51
		}
		b.Name(in.Key).Object().Name("method").String(in.Method).Name("params").Raw(params).End()
	}
	asking := b.End().Bytes()
	x.serving = nil
	x.recount()
	x.deadline = time.AfterFunc(t.ttl, func() { x.End(errExpired) })
	t.suspend(x)
	return &calls.Answer{
		Size: len(asking) + 1024, Interim: true,
		Append: func(dst []byte, extra mcp.Extra) []byte {
			b := rawjson.Over(dst)
			extra.AppendMembers(b.Object())
			b.Name("inputRequests").Raw(asking).Name("requestState").String(sealState(t.self.Sealer, state, x.client.caller))
			extra.AppendOwnMeta(b)
			return b.End().Bytes()
		},
		Done: func(sent bool) {
			if !sent { // the client did not get the state that a retry needs
				x.End(calls.ErrCancelled)
			}
		},
	}
}

// resume lets a retry serve the call.
func (x *call) resume(r *calls.Request, round uint32) *mcp.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.round != round {
		return badState(usedUp)
	}
	if err := x.table.resumed(x); err != nil {
		return err
	}
	x.deadline.Stop()
	x.serving = r
	responses := r.Params.Get(mcp.ParamResponses)
	for _, in := range slices.Clone(x.open) {
		if in.round == round { // M-50: the client does not know later questions
			in.take(rawjson.Get(responses, in.Key))
		}
	}
	return nil
}

func (x *call) Ready() bool { return !x.client.session.Full() }

// Patience implements [mcp.Asker]. The call expires before the script stops waiting, because only the end of the call
// also ends the script's child processes.
func (x *call) Patience() time.Duration { return x.table.ttl + 5*time.Second }

func (x *call) Ask(requests []mcp.InputRequest) mcp.PendingInput {
	x.mu.Lock()
	defer x.mu.Unlock()
	set := &inputSet{call: x, done: make(chan struct{})}
	for _, r := range requests {
		in := &input{InputRequest: r, set: set}
		set.inputs = append(set.inputs, in)
		in.Key = x.key(r.Key)
		x.open = append(x.open, in)
	}
	for _, in := range set.inputs {
		if refusal := in.prepare(); refusal != nil {
			in.fail(refusal)
		} else if x.client.isClosed() {
			in.resolve(calls.GoneResponse(in.Method))
		} else if v := rawjson.Get(x.advance, in.Key); rawjson.KindOf(v) == rawjson.Object && in.allows(v) {
			in.resolve(mcp.InputResponse{Result: rawjson.Normal(v)})
		}
	}
	if x.serving != nil {
		x.resolveUnaskable(x.serving.Client.Capabilities)
	}
	set.check()
	x.recount()
	if len(x.open) > 0 {
		x.handOff()
		x.signal()
	}
	return set
}

// recount counts the memory of the script's questions and their answers. The lock is held.
func (x *call) recount() {
	bytes := 0
	for i, in := range x.open {
		if i == 0 || in.set != x.open[i-1].set { // the inputs of a set are adjacent
			for _, each := range in.set.inputs {
				bytes += len(each.Params) + len(each.response.Result)
			}
		}
	}
	bytes, x.inputs = bytes-x.inputs, bytes
	x.table.weigh(x, bytes)
}

// key returns a key that no open question has: the script's own, or a number.
func (x *call) key(wanted string) string {
	taken := func(key string) bool {
		return slices.ContainsFunc(x.open, func(in *input) bool { return in.Key == key })
	}
	for wanted == "" || taken(wanted) {
		x.asked++
		wanted = "input-" + strconv.Itoa(x.asked)
	}
	return wanted
}

// A requestState names the suspended call of a retry. The client gets it sealed, and can neither read nor forge it.
type requestState struct {
	owner   seal.Owner // the process that suspended the call; its URL can be ""
	call    uint64
	round   uint32
	expires time.Time         // whole seconds
	request [sha256.Size]byte // the hash of method, name and arguments
}

// stateSize is the length of a state without owner before it is sealed, in bytes.
const stateSize = len(seal.Process{}) + 8 + 4 + 8 + sha256.Size

// sealState returns a state as text that openState accepts only with the same caller.
func sealState(s seal.Sealer, state requestState, caller string) string {
	text := make([]byte, 0, stateSize+len(state.owner.URL))
	text = append(text, state.owner.Process[:]...)
	text = binary.BigEndian.AppendUint64(text, state.call)
	text = binary.BigEndian.AppendUint32(text, state.round)
	text = binary.BigEndian.AppendUint64(text, uint64(state.expires.Unix()))
	text = append(text, state.request[:]...)
	text = append(text, state.owner.URL...)
	return s.Seal(text, []byte(caller))
}

// openState returns the state that sealState sealed for a caller.
func openState(s seal.Sealer, sealed, caller string) (state requestState, err error) {
	text, err := s.Open(sealed, []byte(caller), stateSize, stateSize+seal.MaxURL)
	if err != nil {
		return state, err
	}
	copy(state.owner.Process[:], text)
	state.call = binary.BigEndian.Uint64(text[16:])
	state.round = binary.BigEndian.Uint32(text[24:])
	state.expires = time.Unix(int64(binary.BigEndian.Uint64(text[28:])), 0)
	copy(state.request[:], text[36:])
	state.owner.URL = string(text[stateSize:])
	return state, nil
}
