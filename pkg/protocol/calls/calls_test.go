package calls

import (
	"bytes"
	"context"
	"strings"
	"testing"

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

// output is a sink that keeps all lines.
type output struct{ bytes.Buffer }

func (o *output) Queue(line []byte)           { o.Write(line) }
func (o *output) Last(l []byte, _ *mcp.Error) { o.Write(l) }
func (*output) Push()                         {}
func (*output) Deliver()                      {}
func (*output) Full() bool                    { return false }
func (*output) Reserve(context.Context, int)  {}
func (*output) Release(int)                   {}

// newRequests returns the requests of a client. Standard error goes to stderr.
func newRequests(t *testing.T, p *Pool, stderr *bytes.Buffer) *Requests {
	c := console.New(stderr, &project.Project{})
	return p.NewRequests(Config{
		Context: t.Context(), Session: session.NewSession(&output{}, c, nil), Console: c,
		Limits: &project.Limits{Response: 1 << 20}, After: func(*Method) {},
	})
}

func newRequest(key string, out session.Sink, handle Handler) *Request {
	return &Request{
		ID: jsonrpc.ID(key), Key: key, Params: make([]byte, 60), Protocol: plain{}, Out: out,
		Method: &Method{Name: "tools/call", Handle: handle},
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
	q := newRequests(t, NewPool(&project.Limits{Concurrent: 1, Pending: 100}), nil)
	ask := func() bool { return false }
	out := &output{}
	first, second, third := newRequest("1", out, nil), newRequest("2", out, nil), newRequest("3", out, nil)
	if q.Schedule(first) != Run || q.Schedule(second) != Queued || q.Schedule(third) != Refused || !q.Full() {
		t.Error("scheduled otherwise")
	}
	passed := make(chan struct{})
	go func() {
		q.AwaitRoom(ask)
		close(passed)
	}()
	q.Cancel("2")
	<-passed
	if q.Schedule(third) != Queued {
		t.Error("there is no room after a cancellation")
	}
	q.release(first)
	if q.pool.next(first) != third {
		t.Error("the waiting request does not run")
	}
	q.Cancel("3")
	if q.pool.next(third) != nil || q.bytes != 0 || q.answered != 0 || q.running != 0 || len(q.pool.clients) != 0 {
		t.Errorf("left over: %+v", q)
	}
}

// A client that uses all slots leaves one for each other client, and waiting clients take turns.
func TestShares(t *testing.T) {
	p := NewPool(&project.Limits{Concurrent: 2, Pending: 1000})
	busy, other := newRequests(t, p, nil), newRequests(t, p, nil)
	schedule := func(q *Requests, key string, want Outcome) *Request {
		t.Helper()
		r := newRequest(key, &output{}, nil)
		if got := q.Schedule(r); got != want {
			t.Errorf("request %s: %v, want %v", key, got, want)
		}
		return r
	}
	b1, b2 := schedule(busy, "1", Run), schedule(busy, "2", Run)
	b3, b4 := schedule(busy, "3", Queued), schedule(busy, "4", Queued)
	o1 := schedule(other, "1", Run) // next to two of the other client
	o2 := schedule(other, "2", Queued)
	next := func(ended, want *Request) {
		t.Helper()
		ended.requests.release(ended)
		if got := p.next(ended); got != want {
			t.Errorf("after %s: %+v", ended.Key, got)
		}
	}
	next(o1, o2)  // its last one makes room for its next one
	next(b1, nil) // three ran
	next(b2, b3)
	o3 := schedule(other, "3", Queued)
	next(b3, o3) // the turn of the other client
	next(o2, b4)
	next(o3, nil)
	next(b4, nil)
	if p.running != 0 || len(p.clients) != 0 {
		t.Errorf("left over: %+v", p)
	}
}

// The clients share the memory for requests.
func TestShareOfMemory(t *testing.T) {
	p := NewPool(&project.Limits{Concurrent: 9, Pending: 200})
	busy, other := newRequests(t, p, nil), newRequests(t, p, nil)
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
	q := newRequests(t, NewPool(&project.Limits{Concurrent: 2, Pending: 50}), nil)
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
