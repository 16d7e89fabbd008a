package calls

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

// A person is an asker whose questions are answered when answers is closed.
type person struct{ answers chan struct{} }

func (person) Ready() bool                               { return true }
func (person) Patience() time.Duration                   { return 0 }
func (p person) Ask([]mcp.InputRequest) mcp.PendingInput { return asked(p) }

type asked struct{ answers chan struct{} }

func (a asked) Responses() ([]mcp.InputResponse, bool) {
	select {
	case <-a.answers:
		return []mcp.InputResponse{{}}, true
	default:
		return nil, false
	}
}

func (a asked) Wait(ctx context.Context) ([]mcp.InputResponse, error) {
	select {
	case <-a.answers:
		return []mcp.InputResponse{{}}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (asked) Close() []mcp.InputResponse { return nil }

// inUse returns the number of slots of a lane that are in use.
func (p *Pool) inUse(lane int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lanes[lane].held.All()
}

// until waits for a condition.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(30 * time.Second); !ok(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatal("nothing happens")
		}
	}
}

// interview is a request that asks, and hands the test what it needs.
func interview(key string, p person) (w *work, pending chan mcp.PendingInput) {
	w = newWork(key)
	pending = make(chan mcp.PendingInput, 1)
	w.request.Client.Asker = p
	w.request.Method.Handle = func(_ context.Context, r *Request) (*Answer, error) {
		close(w.started)
		pending <- r.Client.Asker.Ask([]mcp.InputRequest{{Method: mcp.MethodElicit}})
		<-w.end
		return w.answer, nil
	}
	return w, pending
}

// P-1800: a request with an open question holds no slot, and its script gets the answer with one.
func TestQuestionsHoldNoSlot(t *testing.T) {
	p := NewPool(&project.Limits{Concurrent: 1, Pending: 10000})
	q, others := p.newRequests(t, "a", io.Discard), p.newRequests(t, "b", io.Discard)
	over := 0
	q.Waiting = func(*Request, int) func() { return func() { over++ } }
	one := person{make(chan struct{})}
	asks, pending := interview("1", one)
	asks.schedule(t, q, Run)
	input := <-pending
	second := newWork("1").schedule(t, others, Run)
	third := newWork("2").schedule(t, q, Queued)
	close(one.answers)
	if _, done := input.Responses(); done {
		t.Error("the script goes on without a slot")
	}
	waited := make(chan error)
	go func() {
		_, err := input.Wait(t.Context())
		waited <- err
	}()
	close(second.end)
	if err := <-waited; err != nil || third.runs() {
		t.Error("a request that has begun does not go first", err)
	}
	if _, done := input.Responses(); !done || p.inUse(scripts) != 1 || over != 1 {
		t.Errorf("%d slots are in use, over %d times", p.inUse(scripts), over)
	}
	close(asks.end)
	<-third.started
	close(third.end)
	q.Wait()
	others.Wait()
	if !p.idle() {
		t.Errorf("left over: %+v", p)
	}
}

// P-1800: a script that no longer waits for its answer works on, whether or not there is a slot. With another open
// question the request still holds none.
func TestQuestionIsWithdrawn(t *testing.T) {
	p := NewPool(&project.Limits{Concurrent: 1, Pending: 10000})
	q, others := p.newRequests(t, "a", io.Discard), p.newRequests(t, "b", io.Discard)
	one := person{make(chan struct{})}
	asks, pending := interview("1", one)
	asks.schedule(t, q, Run)
	first := <-pending
	second := asks.request.Client.Asker.Ask(nil)
	other := newWork("1").schedule(t, others, Run)
	first.Close()
	if p.inUse(scripts) != 1 {
		t.Error("a request with an open question holds a slot")
	}
	close(one.answers)
	if _, done := second.Responses(); done {
		t.Error("the script goes on without a slot")
	}
	second.Close()
	if p.inUse(scripts) != 2 {
		t.Error("a script that works holds no slot")
	}
	close(other.end)
	others.Wait()
	close(asks.end)
	q.Wait()
	if !p.idle() {
		t.Errorf("left over: %+v", p)
	}
}

// P-1800: a request that is cancelled while it waits for its slot leaves the queue.
func TestCancelledQuestion(t *testing.T) {
	p := NewPool(&project.Limits{Concurrent: 1, Pending: 10000})
	q, others := p.newRequests(t, "a", io.Discard), p.newRequests(t, "b", io.Discard)
	ready := make(chan struct{})
	asks := newWork("1")
	asks.request.Method.Handle = func(ctx context.Context, r *Request) (*Answer, error) {
		close(asks.started)
		r.Await(ctx, ready)
		return nil, context.Cause(ctx)
	}
	asks.schedule(t, q, Run)
	until(t, func() bool { return p.inUse(scripts) == 0 })
	other := newWork("1").schedule(t, others, Run)
	close(ready)
	until(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(q.queues[scripts]) == 1
	})
	q.Cancel("1")
	q.Wait()
	close(other.end)
	others.Wait()
	if !p.idle() {
		t.Errorf("left over: %+v", p)
	}
}

// M-55: a request that ends because of a limit is answered with the reason.
func TestEviction(t *testing.T) {
	q := newRequests(t, NewPool(&project.Limits{Concurrent: 1, Pending: 10000}), io.Discard)
	out := &output{}
	r := newRequest("1", out, func(ctx context.Context, r *Request) (*Answer, error) {
		r.Evict(errors.New("too many"))
		<-ctx.Done()
		return Bytes(nil), nil
	})
	q.Schedule(r)
	r.Run()
	want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The call was ended: too many"}}` + "\n"
	if got := out.String(); got != want {
		t.Error(got)
	}
}

// P-1800: an owner alone has all slots. While another one waits, it has at most half of them.
func TestHalfOfTheSlots(t *testing.T) {
	p := NewPool(&project.Limits{Concurrent: 4, Pending: 100000})
	clients := map[string]*Requests{}
	for _, name := range []string{"a1", "a2", "b1"} {
		clients[name] = p.newRequests(t, name[:1], io.Discard)
	}
	order := make(chan *work)
	begin := func(client, key string, want Outcome) *work {
		w := newWork(key)
		handle := w.request.Method.Handle
		w.request.Method.Handle = func(ctx context.Context, r *Request) (*Answer, error) {
			order <- w
			return handle(ctx, r)
		}
		if got := clients[client].Schedule(w.request); got != want {
			t.Fatalf("%s: %v", key, got)
		} else if got == Run {
			go w.request.Run()
			<-order
		}
		return w
	}
	var running []*work
	for i, key := range []string{"a1", "a2", "a3", "a4"} {
		running = append(running, begin([]string{"a1", "a2"}[i%2], key, Run))
	}
	for i, key := range []string{"a5", "a6", "a7", "a8"} {
		begin([]string{"a1", "a2"}[i%2], key, Queued)
	}
	for _, key := range []string{"b1", "b2", "b3", "b4"} {
		begin("b1", key, Queued)
	}
	var got []string
	next := func() {
		close(running[0].end)
		w := <-order
		got, running = append(got, w.request.Key), append(running[1:], w)
	}
	for range 8 {
		next()
	}
	if want := []string{"b1", "b2", "a5", "a6", "b3", "b4", "a7", "a8"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, w := range running {
		close(w.end)
	}
	for _, q := range clients {
		q.Wait()
	}
	if !p.idle() {
		t.Errorf("left over: %+v", p)
	}
}

// P-1800: requests that start no script run while scripts have all their slots, and the other way round. Their number
// is limited too. One that starts a script after all waits for a slot.
func TestLanes(t *testing.T) {
	p := NewPool(&project.Limits{Concurrent: 1, Pending: 10000})
	q := newRequests(t, p, io.Discard)
	light := func(key string) *work {
		w := newWork(key)
		w.request.Method.Starts = nil
		return w
	}
	script := newWork("1").schedule(t, q, Run)
	newWork("2").schedule(t, q, Queued)
	first := light("3").schedule(t, q, Run)
	second := light("4").schedule(t, q, Queued)
	close(first.end)
	<-second.started
	close(second.end)
	entered := make(chan error, 1)
	third := light("5")
	third.request.Method.Handle = func(ctx context.Context, r *Request) (*Answer, error) {
		close(third.started)
		entered <- r.Enter(ctx)
		return Bytes(nil), r.Enter(ctx)
	}
	until(t, func() bool { return p.inUse(others) == 0 })
	third.schedule(t, q, Run)
	fourth := light("6")
	until(t, func() bool { return p.inUse(others) == 0 })
	fourth.schedule(t, q, Run)
	close(fourth.end)
	select {
	case <-entered:
		t.Error("a script starts without a slot")
	default:
	}
	q.Cancel("2")
	close(script.end)
	if err := <-entered; err != nil {
		t.Error(err)
	}
	q.Wait()
	if !p.idle() {
		t.Errorf("left over: %+v", p)
	}
}

// P-1804: sessions do not multiply the memory of an owner, and its clients share it.
func TestShareOfMemoryByOwner(t *testing.T) {
	p := NewPool(&project.Limits{Concurrent: 9, Pending: 300})
	one, two := p.newRequests(t, "a", io.Discard), p.newRequests(t, "a", io.Discard)
	other := p.newRequests(t, "b", io.Discard)
	for _, q := range []*Requests{one, two, other} {
		q.Schedule(newRequest("1", &output{}, nil)) // 62 bytes
	}
	if one.Full() || two.Full() {
		t.Error("half of the share of an owner with 150 bytes is too small")
	}
	one.Schedule(newRequest("2", &output{}, nil))
	if !one.Full() || two.Full() {
		t.Error("a client has the share of another one")
	}
	other.Schedule(newRequest("2", &output{}, nil))
	if other.Full() {
		t.Error("two sessions of one owner take the share of another one")
	}
}
