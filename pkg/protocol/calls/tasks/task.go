package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// A task is one call of a long-running tool. It is the [calls.Request.Out] of the request that runs the call.
type task struct {
	client    *Client
	key       string // of its requests
	tool      string
	after     time.Duration // time of a request until the hand-over
	asksFirst bool
	protocol  calls.Protocol
	newest    bool        // the protocol is stateless
	weight    int         // of the kept answer, in bytes; guarded by Table.mu
	expiry    *time.Timer // guarded by Table.mu

	mu       sync.Mutex
	changed  chan struct{}   // is closed at the next change
	first    origin          // the client's first request, or its retry; empty when over
	attached *calls.Request  // the client's request that waits before the hand-over
	waiting  context.Context // of the request of task_wait that waits
	sent     *calls.Request  // the last request that the server sent to itself; nil when over
	call     calls.Call      // the suspended call, or nil
	id       string          // "": not handed over
	asked    *questions      // open ones, or nil
	rounds   int             // of questions
	progress progress

	began, updated, ended time.Time
	over                  bool
	refused               bool // the last request behind the task did not begin, so it has no line in a record
	cancelled             bool
	fetched               bool // the client has got the answer
	result                []byte
	err                   *mcp.Error
}

// An origin has the parts of a client's request that requests of the call repeat.
type origin struct {
	id     jsonrpc.ID
	method *calls.Method
	params mcp.Params
	client calls.ClientSession
	event  *events.Event
}

func originOf(r *calls.Request) origin { return origin{r.ID, r.Method, r.Params, r.Client, r.Event} }

// send starts a request of the call.
func (x *task) send(params mcp.Params) {
	x.mu.Lock()
	if x.refused = x.over; x.over {
		x.mu.Unlock()
		return
	}
	of := &x.first
	r := &calls.Request{
		ID: of.id, Key: x.key, Method: of.method, Params: withToken(params), Protocol: x.protocol, Client: of.client,
		Out: x, Moved: x.moved, Event: of.event.Again(),
	}
	r.Client.Asker = x.protocol.Asker(x)
	x.sent = r
	x.mu.Unlock()
	switch x.client.requests.Schedule(r) {
	case calls.Run:
		go r.Run()
	case calls.Queued:
	default:
		x.mu.Lock()
		x.refused = true
		x.mu.Unlock()
		x.stop(mcp.Errorf(mcp.CodeInternal, "Too many queued requests").Because(mcp.CauseBusy))
	}
}

// retry lets a request of the client continue a call that has asked before the hand-over.
func (x *task) retry(r *calls.Request) {
	x.mu.Lock()
	x.attached, x.asked, x.first = r, nil, originOf(r)
	x.mu.Unlock()
	x.send(r.Params)
}

// Queue implements [session.Sink]. It gets progress and logs, and the questions of the handshake protocol.
func (x *task) Queue(line []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	isProgress := rawjson.TextOf(line, "method") == "notifications/progress"
	if isProgress {
		x.progress = progressOf(rawjson.Get(line, "params"))
		x.updated = time.Now()
		x.signal()
	}
	switch {
	case isProgress && calls.ProgressToken(x.first.params.Meta()) == nil: // only the task asked for it
	case x.attached != nil:
		x.attached.Notify(line)
	case !isProgress && x.id != "" && !x.newest: // TASK-32
		x.client.Out.Queue(line)
		x.client.Out.Push()
	}
}

func (x *task) Last(line []byte, err *mcp.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	result := rawjson.Get(line, "result")
	switch {
	case x.over:
	case err != nil:
		x.end(nil, err)
	case line == nil: // the server ends it
		x.end(nil, calls.ErrStopping)
	case x.newest && rawjson.TextOf(result, "resultType") == "input_required":
		x.ask(bytes.Clone(result))
	case x.id != "" && len(result) > x.client.table.Limits.Response-overhead:
		x.end(nil, mcp.Errorf(mcp.CodeInternal, "Response exceeded response size limit").Because(mcp.CauseAnswer))
	default:
		x.end(bytes.Clone(result), nil)
	}
}

func (*task) Push()    {}
func (*task) Deliver() {}

func (x *task) Full() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.attached != nil:
		return x.attached.Out.Full()
	case x.newest:
		return false
	}
	return x.client.Out.Full()
}

// Reserve implements [session.Sink]. It does nothing, because the answer to the client's request reserves space.
func (*task) Reserve(context.Context, int) {}
func (*task) Release(int)                  {}

// end records the end of the call. The lock is held.
func (x *task) end(result []byte, err *mcp.Error) {
	x.over, x.result, x.err, x.ended = true, result, err, time.Now()
	x.updated = x.ended
	x.first, x.sent, x.asked, x.call = origin{}, nil, nil, nil
	x.client.table.ended(x)
	x.signal()
}

// signal wakes all requests that wait for the task. The lock is held.
func (x *task) signal() {
	close(x.changed)
	x.changed = make(chan struct{})
}

// stop ends the call with a reason, unless it is over. Without a reason, the client has cancelled it.
func (x *task) stop(reason *mcp.Error) {
	x.mu.Lock()
	if x.over {
		x.mu.Unlock()
		return
	}
	x.cancelled = reason == nil
	call := x.call
	x.end(nil, reason)
	x.mu.Unlock()
	x.client.requests.Cancel(x.key)
	if call != nil {
		call.End(calls.ErrCancelled)
	}
}

// await answers a request with the first answer that look returns. It calls look after each change, and with due set
// once limit is over.
func (x *task) await(ctx context.Context, r *calls.Request, limit time.Duration,
	look func(due bool) (*calls.Answer, error)) (*calls.Answer, error) {
	r.Rest()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for due := false; ; {
		x.mu.Lock()
		changed := x.changed
		a, err := look(due)
		x.mu.Unlock()
		if a != nil || err != nil {
			return a, err
		}
		select {
		case <-changed:
		case <-timer.C:
			due = true
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// serve answers a request that waits for the call before the hand-over. If the request ends, the call ends too.
func (x *task) serve(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	limit, knows := x.after, extension(r)
	first := x.asksFirst && knows
	if knows && !first {
		limit = x.client.table.Grace
	}
	a, err := x.await(ctx, r, limit, func(due bool) (*calls.Answer, error) {
		asked := x.asked != nil
		switch {
		case x.over:
			return x.recorded(x.outcome())
		case asked && (!knows || first):
			return x.pass(), nil
		case due, asked, first && x.progress.value != "":
			return x.handOver(knows), nil
		}
		return nil, nil
	})
	if err != nil && ctx.Err() != nil {
		x.stop(nil)
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.recorded(a, err)
	}
	return a, err
}

// recorded marks an answer whose line belongs to the request behind the task. The lock is held.
func (x *task) recorded(a *calls.Answer, err error) (*calls.Answer, error) {
	if a == nil {
		a = &calls.Answer{}
	}
	a.Recorded = !x.refused
	return a, err
}

// outcome returns the answer of a call that is over. The lock is held.
func (x *task) outcome() (*calls.Answer, error) {
	switch {
	case x.err != nil:
		x.fetched = true
		return nil, x.err
	case x.cancelled:
		return nil, errCancelled
	}
	a := calls.Bytes(x.result)
	a.Done = x.sentAnswer
	return a, nil
}

// sentAnswer records whether the client has got the answer. It is for [calls.Answer.Done].
func (x *task) sentAnswer(sent bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fetched = x.fetched || sent
}

var errCancelled = errors.New("the call was cancelled")

// pass answers the client's request with the questions of the script. The call is suspended until the retry. The lock
// is held.
func (x *task) pass() *calls.Answer {
	asked := x.asked
	x.attached = nil
	x.client.table.expect(asked.state, x)
	a := calls.Bytes(asked.result)
	a.GoesOn, a.Recorded = true, true
	a.Done = func(sent bool) {
		if !sent && x.client.table.take(asked.state) != nil {
			x.stop(nil)
		}
	}
	return a
}

// handOver makes the call a task, and returns the answer to its request. The answer is nil if the client is leaving.
// The lock is held.
func (x *task) handOver(knows bool) *calls.Answer {
	if !x.client.table.publish(x) {
		return nil
	}
	x.attached = nil
	var a *calls.Answer
	if knows {
		a = object(x.appendTask)
		a.Task = true
	} else {
		a = x.state()
	}
	a.GoesOn = true
	a.Done = func(sent bool) {
		if !sent { // the client does not know the task
			x.stop(nil)
		}
	}
	return a
}

// questions are the open questions that a script has asked together, in the stateless protocol. The call is
// suspended.
type questions struct {
	result json.RawMessage // with the questions
	state  string          // of the suspended call
	list   []question
	bytes  int // of the answers
}

type question struct {
	key     string // of the script
	shown   string // the key for the client, which occurs once in a task
	request json.RawMessage
	answer  json.RawMessage // nil: none yet
}

// maxAnswers limits the answers to a part of the questions, in bytes.
const maxAnswers = 256 << 10

// ask records questions. The lock is held.
func (x *task) ask(result json.RawMessage) {
	x.rounds++
	asked := &questions{result: result, state: rawjson.TextOf(result, "requestState")}
	for key, request := range rawjson.All(rawjson.Get(result, "inputRequests")) {
		shown := key
		if x.rounds > 1 {
			shown += "#" + strconv.Itoa(x.rounds)
		}
		asked.list = append(asked.list, question{key: key, shown: shown, request: request})
	}
	x.asked, x.updated = asked, time.Now()
	if x.sent.Call != nil { // it is not a retry
		x.call = x.sent.Call
	}
	x.signal()
}

// appendOpen appends an object with the questions that have no answer.
func (q *questions) appendOpen(b *rawjson.Builder) {
	b.Object()
	for _, one := range q.list {
		if one.answer == nil {
			b.Name(one.shown).Raw(one.request)
		}
	}
	b.End()
}

// askable reports whether a client can answer all open questions.
func (q *questions) askable(client *mcp.Capabilities) bool {
	for _, one := range q.list {
		r := mcp.InputRequest{
			Method: rawjson.TextOf(one.request, "method"), Params: rawjson.Get(one.request, "params"),
		}
		if one.answer == nil && !client.CanAnswer(&r) {
			return false
		}
	}
	return true
}

// answer records the client's answers to open questions, and reports whether all are there.
func (q *questions) answer(responses json.RawMessage) (complete bool) {
	complete = true
	for i := range q.list {
		one := &q.list[i]
		if v := rawjson.Get(responses, one.shown); one.answer == nil && rawjson.KindOf(v) == rawjson.Object {
			one.answer = rawjson.Normal(v)
			q.bytes += len(v)
		}
		complete = complete && one.answer != nil
	}
	return complete
}

// update uses the answers in a request of the client. The call goes on when no answer is missing.
func (x *task) update(r *calls.Request) *mcp.Error {
	responses := r.Params.Get(mcp.ParamResponses)
	if rawjson.KindOf(responses) != rawjson.Object {
		return mcp.Errorf(mcp.CodeInvalidParams, "Invalid params").WithData("inputResponses must be an object")
	}
	x.mu.Lock()
	if x.asked == nil {
		x.mu.Unlock()
		return nil
	}
	complete := x.asked.answer(responses)
	tooLarge := !complete && x.asked.bytes > maxAnswers
	x.updated = time.Now()
	x.signal()
	x.mu.Unlock()
	switch {
	case tooLarge:
		x.stop(mcp.Errorf(mcp.CodeInternal, "The answers to a part of the questions are too large"))
	case complete:
		x.resume(&r.Client)
	}
	return nil
}

// moved continues a suspended call whose script has ended or no longer waits. If the call is not a task and no
// request waits for it, it does nothing: the client's retry continues the call.
func (x *task) moved() {
	x.mu.Lock()
	alone := x.id != "" || x.attached != nil
	x.mu.Unlock()
	if alone {
		x.resume(nil)
	}
}

// resume sends the retry that continues the suspended call, with the answers so far. client sent the last request;
// nil: the server resumes the call.
func (x *task) resume(client *calls.ClientSession) {
	x.mu.Lock()
	asked := x.asked
	if asked == nil {
		x.mu.Unlock()
		return
	}
	x.asked = nil
	if client != nil {
		x.first.client = *client
	}
	var b rawjson.Builder
	b.Object().Members(x.first.params.Raw, "requestState", "inputResponses").Name("requestState").String(asked.state).
		Name("inputResponses").Object()
	for _, one := range asked.list {
		b.OptionalRaw(one.key, one.answer)
	}
	params := mcp.ReadParams(b.End().End().Bytes())
	x.mu.Unlock()
	x.send(params)
}
