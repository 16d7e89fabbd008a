package calls

import (
	"bytes"
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/console"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// A plain protocol adds nothing.
type plain struct{}

func (plain) Handle(ctx context.Context, r *Request) (*Answer, error) { return r.Method.Handle(ctx, r) }
func (plain) Extra(*Request, *Answer) mcp.Extra                       { return mcp.Extra{} }
func (plain) Fault(e *mcp.Error) *mcp.Error                           { return e }
func (plain) Asker(session.Sink) mcp.Asker                            { return nil }

// output is a sink that keeps all lines.
type output struct{ bytes.Buffer }

func (o *output) Queue(line []byte)           { o.Write(line) }
func (o *output) Last(l []byte, _ *mcp.Error) { o.Write(l) }
func (*output) Push()                         {}
func (*output) Deliver()                      {}
func (*output) Full() bool                    { return false }
func (*output) Reserve(context.Context, int)  {}
func (*output) Release(int)                   {}

// idle reports whether nothing of the pool is in use.
func (p *Pool) idle() bool {
	for i := range p.lanes {
		if l := &p.lanes[i]; l.held.All() != 0 || !l.turns.Empty() {
			return false
		}
	}
	return p.clients.All() == 0
}

// newRequests returns the requests of a client. Standard error goes to stderr.
func newRequests(t *testing.T, p *Pool, stderr io.Writer) *Requests {
	return p.newRequests(t, "", stderr)
}

func (p *Pool) newRequests(t *testing.T, owner string, stderr io.Writer) *Requests {
	c := console.New(stderr, &project.Project{})
	return p.NewRequests(Config{
		Owner: owner, Context: t.Context(), Session: session.NewSession(&output{}, c, nil), Console: c,
		Limits: &project.Limits{Response: 1 << 20}, After: func(*Method) {},
	})
}

func newRequest(key string, out session.Sink, handle Handler) *Request {
	return &Request{
		ID: jsonrpc.ID(key), Key: key, Params: mcp.Params{Raw: make([]byte, 60)}, Protocol: plain{}, Out: out,
		Method: &Method{Name: "tools/call", Handle: handle, Starts: func(*Request) bool { return true }},
	}
}

// P-507, P-2600: any error is answered.
func TestInternalError(t *testing.T) {
	want := `{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error","data":"cancelled"}}` + "\n"
	if got := string(jsonrpc.AppendError(nil, nil, asError(tool.ErrCancelled).AppendJSON)); got != want {
		t.Error(got)
	}
}

// P-2601: a panic ends its request. The client gets no details, and standard error gets the stack.
func TestPanic(t *testing.T) {
	var stderr bytes.Buffer
	q := newRequests(t, NewPool(&project.Limits{Concurrent: 1, Pending: 1 << 20}), &stderr)
	out := &output{}
	r := newRequest("7", out, func(context.Context, *Request) (*Answer, error) { panic("secret\nof ours") })
	if q.Schedule(r) != Run {
		t.Fatal("not scheduled")
	}
	r.Run()
	r.Method.Handle = func(context.Context, *Request) (*Answer, error) { panic("another") }
	_, err := r.Handle(t.Context())
	if got := out.String(); got != `{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"Internal error"}}`+"\n" ||
		string(asError(err).AppendJSON(nil)) != `{"code":-32603,"message":"Internal error"}` {
		t.Errorf("%s, %v", got, err)
	}
	for _, want := range []string{
		`mcp-bash: internal error in tools/call: secret\nof ours`, "mcp-bash: internal error in tools/call: another\n",
		"calls.TestPanic.func1(", "calls.TestPanic.func2(",
	} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%q is not in\n%s", want, stderr.String())
		}
	}
}

// P-1804: the memory of a request counts until the request is over, however it ends.
func TestPendingBytes(t *testing.T) {
	q := newRequests(t, NewPool(&project.Limits{Concurrent: 1, Pending: 100}), io.Discard)
	ask := func() bool { return false }
	first, second, third := newWork("1"), newWork("2"), newWork("3")
	if q.Schedule(first.request) != Run || q.Schedule(second.request) != Queued || q.Schedule(third.request) != Refused ||
		!q.Full() {
		t.Error("scheduled otherwise")
	}
	passed := make(chan struct{})
	go func() {
		q.AwaitRoom(ask)
		close(passed)
	}()
	q.Cancel("2")
	<-passed
	if q.Schedule(third.request) != Queued {
		t.Error("there is no room after a cancellation")
	}
	go first.request.Run()
	close(first.end)
	<-third.started
	q.Cancel("3")
	close(third.end)
	q.Wait()
	if q.bytes != 0 || q.answered != 0 || q.running != 0 || !q.pool.idle() {
		t.Errorf("left over: %+v", q)
	}
}

// outcomes is a sink that keeps the ids of requests with their causes.
type outcomes struct{ list []string }

func (o *outcomes) Ready() error { return nil }

func (o *outcomes) Emit(e *events.Event) error {
	o.list = append(o.list, e.ID+" "+string(e.Cause))
	return nil
}

// AUD-3: a request that is cancelled in the queue has a line.
func TestCancelledInQueueIsRecorded(t *testing.T) {
	q := newRequests(t, NewPool(&project.Limits{Concurrent: 1, Pending: 1 << 20}), io.Discard)
	seen := &outcomes{}
	q.Events = seen
	first := newWork("1").schedule(t, q, Run)
	for _, key := range []string{"2", "3"} {
		w := newWork(key)
		w.request.Event = &events.Event{ID: key, Began: time.Now()}
		w.schedule(t, q, Queued)
	}
	q.Shared = true
	w := newWork("4")
	w.request.Event = &events.Event{ID: "4", Began: time.Now()}
	ctx := q.Context
	var end context.CancelFunc
	q.Context, end = context.WithCancel(ctx)
	w.schedule(t, q, Queued)
	end()
	w.request.Run()
	q.Cancel("2")
	q.CancelAll(ErrCancelled)
	close(first.end)
	q.Wait()
	if got := strings.Join(seen.list, ", "); got != "4 cancelled, 2 cancelled, 3 cancelled" {
		t.Error(got)
	}
	if q.bytes != 0 || !q.pool.idle() {
		t.Errorf("left over: %+v", q)
	}
}

// AUD-3: the time in the queue ends when the handler begins, also if another goroutine answers.
func TestQueuedUntilHandler(t *testing.T) {
	q := newRequests(t, NewPool(&project.Limits{Concurrent: 1, Pending: 1 << 20}), io.Discard)
	q.Events = &outcomes{}
	const work = 20 * time.Millisecond
	r := newRequest("1", &output{}, func(_ context.Context, r *Request) (*Answer, error) {
		time.Sleep(work) // is measured
		r.HandOff(func(context.Context, *Request) (*Answer, error) { return Bytes(nil), nil })
		return nil, ErrHandedOff
	})
	r.Event = &events.Event{Began: time.Now()}
	q.Schedule(r)
	r.Run()
	q.Wait()
	if w := &r.Event.Work; w.Took-w.Queued < work {
		t.Errorf("%v of %v in the queue", w.Queued, w.Took)
	}
}

// work is a request that runs until its end is closed.
type work struct {
	request      *Request
	started, end chan struct{}
	answer       *Answer
}

func newWork(key string) *work {
	w := &work{started: make(chan struct{}), end: make(chan struct{}), answer: Bytes(nil)}
	w.request = newRequest(key, &output{}, func(context.Context, *Request) (*Answer, error) {
		close(w.started)
		<-w.end
		return w.answer, nil
	})
	return w
}

// schedule schedules work, and runs it if it has a slot.
func (w *work) schedule(t *testing.T, q *Requests, want Outcome) *work {
	t.Helper()
	if got := q.Schedule(w.request); got != want {
		t.Errorf("request %s: %v, want %v", w.request.Key, got, want)
	} else if want == Run {
		go w.request.Run()
		<-w.started
	}
	return w
}

func (w *work) runs() bool {
	select {
	case <-w.started:
		return true
	default:
		return false
	}
}

// P-1800: all clients together never have more running requests than there are slots, and the
// clients take turns.
func TestShares(t *testing.T) {
	const slots, number = 2, 20
	p := NewPool(&project.Limits{Concurrent: slots, Pending: 10000})
	var mu sync.Mutex
	var order []string
	running, most := 0, 0
	begin := make(chan struct{})
	handle := func(_ context.Context, r *Request) (*Answer, error) {
		mu.Lock()
		order = append(order, r.Key)
		running++
		most = max(most, running)
		mu.Unlock()
		<-begin
		mu.Lock()
		running--
		mu.Unlock()
		return Bytes(nil), nil
	}
	var clients []*Requests
	schedule := func(q *Requests, key string, want Outcome) {
		r := newRequest(key, &output{}, handle)
		if got := q.Schedule(r); got != want {
			t.Errorf("request %s: %v, want %v", key, got, want)
		} else if got == Run {
			go r.Run()
		}
	}
	busy := newRequests(t, p, io.Discard)
	for i, key := range []string{"1", "2", "3", "4", "last"} {
		schedule(busy, key, map[bool]Outcome{true: Run, false: Queued}[i < slots])
	}
	for i := range number {
		clients = append(clients, newRequests(t, p, io.Discard))
		schedule(clients[i], "other", Queued)
	}
	close(begin)
	for _, q := range append(clients, busy) {
		q.Wait()
	}
	if most > slots || !p.idle() {
		t.Errorf("%d requests ran at once; left over: %+v", most, p)
	}
	// Goroutines that got their slots at the same time begin in any order.
	if at := slices.Index(order, "last"); len(order) != number+5 || at < len(order)-slots {
		t.Errorf("clients do not take turns: %v", order)
	}
}

// P-1803: a client that does not read keeps no slot. Its requests continue when it reads.
func TestNoSlotWithoutReader(t *testing.T) {
	p := NewPool(&project.Limits{Concurrent: 2, Pending: 10000})
	deaf, other := newRequests(t, p, io.Discard), newRequests(t, p, io.Discard)
	reads := make(chan struct{})
	var stuck []*work
	for _, key := range []string{"1", "2"} {
		w := newWork(key)
		w.request.Out = &unread{reads: reads, full: key == "2"}
		w.answer.Size = 2 * largeAnswer
		stuck = append(stuck, w)
	}
	stuck[0].schedule(t, deaf, Run)
	close(stuck[0].end) // its answer waits for the client
	stuck[1].schedule(t, deaf, Queued)
	var others []*work
	for _, key := range []string{"1", "2"} {
		o := newWork(key)
		if other.Schedule(o.request) == Run {
			go o.request.Run()
		}
		<-o.started
		others = append(others, o)
	}
	if stuck[1].runs() {
		t.Error("a request runs although its client does not read")
	}
	close(reads)
	close(others[0].end)
	<-stuck[1].started
	close(others[1].end)
	close(stuck[1].end)
	deaf.Wait()
	other.Wait()
	if !p.idle() {
		t.Errorf("left over: %+v", p)
	}
}

// unread is a sink whose client does not read until reads is closed.
type unread struct {
	output
	reads chan struct{}
	full  bool
}

func (u *unread) Full() bool {
	select {
	case <-u.reads:
		return false
	default:
		return u.full
	}
}
func (u *unread) Reserve(ctx context.Context, _ int) {
	select {
	case <-u.reads:
	case <-ctx.Done():
	}
}

// The clients share the memory for requests.
func TestShareOfMemory(t *testing.T) {
	p := NewPool(&project.Limits{Concurrent: 9, Pending: 200})
	busy, other := newRequests(t, p, io.Discard), newRequests(t, p, io.Discard)
	for _, key := range []string{"1", "2"} {
		busy.Schedule(newRequest(key, &output{}, nil))
	}
	if busy.Full() {
		t.Error("a client alone has a share")
	}
	if r := newRequest("1", &output{}, nil); other.Schedule(r) != Run || !busy.Full() || other.Full() {
		t.Error("a second client does not halve the share")
	}
}

// M-60: a request that stays open without an answer keeps only its id.
func TestOpenRequestKeepsLittle(t *testing.T) {
	q := newRequests(t, NewPool(&project.Limits{Concurrent: 2, Pending: 50}), io.Discard)
	r := newRequest("1", &output{}, func(_ context.Context, r *Request) (*Answer, error) {
		r.Shed()
		return &Answer{Open: true}, nil
	})
	if q.Schedule(r) != Run || !q.Full() {
		t.Fatal("a large request does not count")
	}
	if r.Run(); q.Full() || q.bytes != 0 || r.Size() > 10 {
		t.Errorf("%d bytes count, %d are kept", q.bytes, r.Size())
	}
}

// P-1401: the step is so small that the next report is still larger, and large enough for a client
// to distinguish.
func TestStepUp(t *testing.T) {
	for _, from := range []float64{-1e300, -100, -1e-9, 0, 5e-324, 0.5, 1, 50, 99, 1e6, 1 << 53, 1e300} {
		for value, n := from, 0; n < 1000; n++ {
			next := stepUp(value)
			if next <= value || from != 0 && math.Abs(next-from) > max(math.Abs(from), 1)*1e-9 {
				t.Fatalf("%v: %v after %v", from, next, value)
			}
			value = next
		}
	}
	if stepUp(0) < 1e-300 || !math.IsInf(stepUp(math.MaxFloat64), 1) {
		t.Error(stepUp(0), stepUp(math.MaxFloat64))
	}
}
