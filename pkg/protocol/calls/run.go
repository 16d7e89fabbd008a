// Package calls runs the requests of clients. It schedules them and ends them in time. It forwards
// the progress and the logs of their scripts, and sends one response for each.
//
// A [Method] declares the handler of a request and its limits. [Requests.Schedule] gives a
// [Request] one of the slots of the [Pool], or a place in the queue of its owner. Its task then calls
// the handler with a context that ends at cancellation, timeout or shutdown, and writes the
// [Answer]. A request that waits for its client gives its slot back until the answer arrives.
package calls

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/protocol/internal/throttle"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// Run serves the request. A request of a shared client first waits for its slot here.
func (r *Request) Run() {
	if r.turn != nil && !r.requests.awaitTurn(r) {
		return
	}
	handle := r.Protocol.Handle
	if r.requests.Handle != nil {
		handle = r.requests.Handle
	}
	r.run(handle)
}

// HandOff answers the request on a new goroutine, with handle. The current goroutine continues with the call.
func (r *Request) HandOff(handle Handler) { go r.run(handle) }

// run is Run with a handler.
func (r *Request) run(handle Handler) {
	if handedOff := r.serve(handle); handedOff {
		return
	}
	q := r.requests
	q.Session.ReportMissed()
	q.After(r.Method)
	q.end(r)
}

// serve runs one request and sends its response, unless another goroutine has taken that over.
// A panic ends the request and not the process.
func (r *Request) serve(handle Handler) (handedOff bool) {
	defer func() {
		if fault := recover(); fault != nil {
			r.finish(nil, r.failed(fault))
		}
	}()
	if secs := r.seconds(); secs > 0 && !r.Method.OwnClock { // cheaper than a context with a deadline
		defer time.AfterFunc(settings.Seconds(secs), func() { r.cancel(timedOut(secs)) }).Stop()
	}
	if r.Event != nil {
		if r.started.IsZero() { // another goroutine can have started it
			r.started = time.Now()
		}
		if r.requests.Events.Ready() != nil {
			r.finish(nil, ErrUnrecorded)
			return false
		}
	}
	a, err := handle(r.Context, r)
	if err == ErrHandedOff {
		return true
	}
	switch cause := context.Cause(r.Context).(type) {
	case timedOut:
		timeout := mcp.Errorf(mcp.CodeInternal, "Request timed out")
		timeout.Data = json.RawMessage(fmt.Sprintf(`{"timeoutSecs":%d}`, int(cause)))
		err = timeout.Because(mcp.CauseTime) // P-1703, for any result
	case evicted:
		err = mcp.Errorf(mcp.CodeInternal, "The call was ended: %v", cause.reason).Because(mcp.CauseBusy)
	}
	r.finish(a, err)
	return false
}

// A timedOut is the cause of a request that exceeded its time limit, in seconds.
type timedOut int

func (timedOut) Error() string { return "request timed out" }

// An evicted is the cause of a request that was ended because of a limit.
type evicted struct{ reason error }

func (e evicted) Error() string { return e.reason.Error() }

// Evict ends the request with an error that has the reason.
func (r *Request) Evict(reason error) { r.cancel(evicted{reason}) }

// Handle calls the method's handler for a call that other requests can continue. A panic ends
// the call and not the process.
func (r *Request) Handle(ctx context.Context) (a *Answer, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			a, err = nil, r.failed(fault)
		}
	}()
	return r.Method.Handle(ctx, r)
}

// failed writes a recovered panic and its stack to standard error, and returns the error for the
// client, which contains neither.
func (r *Request) failed(fault any) *mcp.Error {
	c := r.requests.Console
	c.Complain("mcp-bash: internal error in %s: %v", r.Method.Name, fault)
	c.Write(debug.Stack())
	return mcp.Errorf(mcp.CodeInternal, "Internal error")
}

// largeAnswer is a size in bytes. A larger answer waits until the client has read earlier ones.
const largeAnswer = 64 << 10

// largeLine is the capacity, in bytes, above which the sink may keep the buffer of a line.
const largeLine = 16 << 10

// buffer returns an empty buffer for a line of approximately size bytes.
func (p *Pool) buffer(size int) *[]byte {
	b, _ := p.lines.Get().(*[]byte)
	if b == nil {
		b = new([]byte)
	}
	if cap(*b) < size {
		*b = make([]byte, 0, size)
	}
	return b
}

// recycle keeps the buffer of a line that was sent, unless the sink may keep it.
func (p *Pool) recycle(b *[]byte, line []byte) {
	if cap(line) <= largeLine {
		*b = line[:0]
		p.lines.Put(b)
	}
}

// finish sends the response of a request, within the limit for responses.
func (r *Request) finish(a *Answer, err error) {
	q := r.requests
	if a != nil && a.Open {
		q.release(r)
		return
	}
	sent := false
	if a != nil && a.Done != nil {
		defer func() { a.Done(sent && err == nil) }()
	}
	var line []byte
	var failure *mcp.Error
	reserved := 0
	release := func() {
		if reserved > 0 {
			r.Out.Release(reserved)
			reserved = 0
		}
	}
	defer release()
	switch {
	case err != nil:
		failure = r.Protocol.Fault(asError(err))
	case a == nil:
		failure = mcp.Errorf(mcp.CodeInternal, "Empty handler response")
	default:
		if a.Size > largeAnswer { // P-1803
			q.pool.mu.Lock()
			q.freeSlot(r)
			q.pool.mu.Unlock()
			r.Out.Reserve(r.Context, a.Size)
			reserved = a.Size
		}
		buffer := q.pool.buffer(a.Size)
		line = jsonrpc.AppendResult(*buffer, r.ID, func(dst []byte) []byte {
			return a.Append(dst, r.extra(a))
		})
		defer q.pool.recycle(buffer, line)
	}
	if failure != nil {
		line = jsonrpc.AppendError(nil, r.ID, failure.AppendJSON)
	}
	if limit := r.limit(); len(line) > limit {
		q.Console.Complain("mcp-bash: response exceeded %d bytes for id %s", limit, r.ID)
		err, failure = errTooLarge, errTooLarge
		line = jsonrpc.AppendError(nil, r.ID, failure.AppendJSON)
	}
	if e := r.record(a, err, len(line)); e != nil {
		err, failure = e, e
		line = jsonrpc.AppendError(nil, r.ID, e.AppendJSON)
	}
	q.release(r)
	sent = r.answer(line, failure)
	release()
	key, status := project.RequestKey(string(r.ID)), "ok"
	switch {
	case !sent:
		q.Session.Record("response", key, "cancelled", nil)
		return
	case err != nil:
		status = "error"
	}
	q.Session.Record("response", key, status, line)
	r.Out.Deliver()
	if q.Session.Debugging() {
		q.Session.Debugf(session.LogRPC, "Response id=%s bytes=%d", r.ID, len(line))
	}
}

var errTooLarge = mcp.Errorf(mcp.CodeInternal, "Response exceeded response size limit").Because(mcp.CauseAnswer)

// limit returns the maximum length of the response, in bytes.
func (r *Request) limit() int {
	switch limits := r.requests.Limits; {
	case r.Method.List:
		return limits.ListResponse
	case r.Method.Max > 0:
		return r.Method.Max
	default:
		return limits.Response
	}
}

// Render makes the result of an answer that cannot be sent yet, and releases everything that it
// is made of, such as files. Another request sends the result, so it gets the id of that request's event.
func (r *Request) Render(a *Answer) (rendered *Answer, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			rendered, err = nil, r.failed(fault)
		}
	}()
	result := a.Append(make([]byte, 0, a.Size), r.extra(a))
	if a.Done != nil {
		a.Done(true)
	}
	if len(result) > r.limit() {
		return nil, errTooLarge
	}
	if cap(result) > len(result)+len(result)/8 {
		result = bytes.Clone(result)
	}
	rendered = Bytes(result)
	if r.requests.Audit != nil && r.Event != nil {
		rendered.Append = func(dst []byte, extra mcp.Extra) []byte {
			meta := rawjson.Get(result, "_meta")
			for _, m := range extra.Meta {
				if m.Name == requestID {
					meta = rawjson.With(meta, m.Name, m.Value)
				}
			}
			return append(dst, rawjson.With(result, "_meta", meta)...)
		}
	}
	if a.Work != nil {
		work := *a.Work // without the event that it belongs to
		rendered.Work = &work
	}
	return rendered, nil
}

func asError(err error) *mcp.Error {
	if e, ok := errors.AsType[*mcp.Error](err); ok {
		return e
	}
	return mcp.Errorf(mcp.CodeInternal, "Internal error").WithData(err.Error())
}

// ErrUnrecorded is the error for a request that must be recorded and cannot be.
var ErrUnrecorded = mcp.Errorf(mcp.CodeInternal,
	"The server cannot record this request, and does nothing without a record").Because(mcp.CauseRecord)

// PrepareEvent does a part of the work for the record, while the script of the request runs. So less remains at the end
// of the script, when the memory that this work needs is no longer in the caches of the processor.
func (r *Request) PrepareEvent() {
	e, record := r.Event, r.requests.Audit
	if record == nil {
		return
	}
	e.Work = e.Draft
	e.Work.Arguments = r.Params.Get(mcp.ParamArguments)
	record.Prepare(e)
}

// record writes the event of a request, with an answer of some bytes. The result is the error that the client gets
// instead, if the event must be recorded and cannot be.
func (r *Request) record(a *Answer, err error, bytes int) *mcp.Error {
	e := r.Event
	if e == nil || a != nil && a.Recorded {
		return nil
	}
	if a != nil && a.Work != nil {
		e.Work = *a.Work
	}
	e.Work.Arguments = r.Params.Get(mcp.ParamArguments)
	e.Interim = a != nil && (a.Interim || a.GoesOn)
	e.Cause = e.Work.Cause
	if err != nil {
		failure := asError(err)
		e.Cause, e.Work.Code = cmp.Or(e.Cause, failure.Why()), r.Protocol.Fault(failure).Code
	}
	r.mu.Lock()
	if r.closed {
		e.Cause = mcp.CauseCancelled
	}
	r.mu.Unlock()
	e.Work.Took, e.Work.Bytes = time.Since(e.Began), bytes
	if !r.started.IsZero() {
		e.Work.Queued = r.started.Sub(e.Began)
	}
	if r.requests.Events.Emit(e) != nil {
		return ErrUnrecorded
	}
	return nil
}

// Ending returns a request that records the end of the call after this request was answered, or nil if it is not
// recorded.
func (r *Request) Ending() *Request {
	if r.Event == nil {
		return nil
	}
	e := r.Event.Again()
	e.Began = r.Event.Began
	return &Request{
		Params: r.Params, Event: e, Protocol: r.Protocol, requests: r.requests, started: r.started, closed: true,
	}
}

// RecordEnd records that a call has ended without an answer. a has its work, or is nil.
func (r *Request) RecordEnd(a *Answer) { r.record(a, ErrCancelled, 0) }

// requestID is the member of _meta with the id of a request's event.
const requestID = "mcpbash/requestId"

// extra returns the members that the protocol adds to a result. If requests are recorded, it adds the id of the
// request's event.
func (r *Request) extra(a *Answer) mcp.Extra {
	e := r.Protocol.Extra(r, a)
	if r.requests.Audit != nil && r.Event != nil {
		id := rawjson.Member{Name: requestID, Value: rawjson.Quote(r.Event.ID)}
		e.Meta = append(slices.Clip(e.Meta), id)
	}
	return e
}

// A Notifier forwards progress and logs of a script to the client, within the limits (protocol
// sections 14 and 15). The request asks for progress, and the client sets the level of logs.
type Notifier struct {
	request  *Request        // the first of the call
	token    json.RawMessage // of the last report
	sent     float64         // the last value that the client got
	value    float64         // the script's value that became sent
	message  string          // the message that came with value
	began    bool
	progress throttle.Throttle
	logs     throttle.Throttle
}

// NewNotifier returns a Notifier for the call that a request begins.
func NewNotifier(r *Request, limits *project.Limits) *Notifier {
	return &Notifier{request: r, progress: throttle.New(limits.Progress), logs: throttle.New(limits.Logs)}
}

// Ready implements [tool.Listener].
func (n *Notifier) Ready() bool { return n.request.Call == nil || n.request.Call.Listening() }

// Keep implements [tool.Listener].
func (n *Notifier) Keep(r tool.Reports) { n.request.Call.Keep(r.Size, func() { r.Deliver(n) }) }

// Progress sends a report with the request's own token. The protocol requires increasing values. An equal value with
// another message still shows that the script works, so it is increased by the smallest step. Any other value that does
// not increase is dropped.
func (n *Notifier) Progress(p tool.Progress) {
	value, err := strconv.ParseFloat(string(p.Value), 64)
	r := n.request.Serving()
	if r == nil || err != nil {
		return
	}
	token := ProgressToken(r.Params.Meta())
	if token == nil {
		return
	}
	if !bytes.Equal(token, n.token) {
		n.token, n.began = token, false
	}
	sent, shown := value, p.Value
	if n.began && value <= n.sent {
		if value != n.value || p.Message == nil || string(p.Message) == n.message {
			return
		}
		if sent = stepUp(n.sent); math.IsInf(sent, 0) {
			return
		}
		shown = strconv.AppendFloat(nil, sent, 'g', -1, 64)
	}
	if !n.progress.Allow(time.Now()) {
		return
	}
	n.sent, n.value, n.message, n.began = sent, value, string(p.Message), true
	var b rawjson.Builder
	b.Object().Name("progressToken").Raw(n.token).Name("progress").Raw(shown)
	b.OptionalRaw("total", p.Total)
	b.OptionalRaw("message", p.Message)
	notify(r, "notifications/progress", b.End().Bytes())
}

// stepUp returns the smallest larger value that every client can distinguish. Some clients cannot represent values
// very close to zero.
func stepUp(value float64) float64 {
	const smallest = 1.0 / (1 << 52)
	return max(math.Nextafter(value, math.Inf(1)), value+smallest)
}

// Log sends a message, if its level is high enough. Other messages do not count towards the limit.
func (n *Notifier) Log(m tool.LogMessage) {
	r := n.request.Serving()
	if r == nil || m.Level < r.Client.Threshold() || !n.logs.Allow(time.Now()) {
		return
	}
	var b rawjson.Builder
	b.Object().Name("level").String(m.Level.String())
	b.OptionalRaw("logger", m.Logger)
	notify(r, "notifications/message", b.Name("data").Raw(m.Data).End().Bytes())
}

// notify sends a notification. It never waits for the client, because its goroutine watches a script. If the client
// does not read, notify counts the message as missed.
func notify(r *Request, method string, params json.RawMessage) {
	if r.Out.Full() {
		r.requests.Session.Missed()
		return
	}
	r.Notify(jsonrpc.AppendNotification(nil, method, params))
}

// ProgressToken returns the token in a request's _meta, a string or an integer, or nil.
func ProgressToken(meta json.RawMessage) json.RawMessage {
	token := rawjson.Get(meta, "progressToken")
	switch rawjson.KindOf(token) {
	case rawjson.String, rawjson.Number:
		return token
	}
	return nil
}
