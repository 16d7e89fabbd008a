// Package tasks lets calls of long-running tools go on after their requests are answered (contract page tasks).
//
// Such a call is a request that the server sends to itself, in the protocol of its client. A task is the other end of
// this request: it gets the answer, the questions and the progress. Until the hand-over it passes them on to the
// client's request. Later the client asks for them.
package tasks

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"mcp-bash/pkg/auth/share"
	"mcp-bash/pkg/events/metrics"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/wire/mcp"
)

// A Config is the input of [NewTable].
type Config struct {
	Settings *project.Tasks
	Limits   *project.Limits
	Grace    time.Duration              // time until the hand-over, for clients with the extension; see Grace
	Running  int                        // maximum number of scripts
	Retry    time.Duration              // how long a question before the hand-over waits for its client
	NewID    func(caller string) string // returns the unguessable id of a new task for a caller
}

// A Table contains the tasks of all clients, and limits them.
type Table struct {
	Config
	pool *calls.Pool // runs the calls

	mu       sync.Mutex
	running  share.Usage      // by owner
	byID     map[string]*task // after the hand-over
	byState  map[string]retry // before the hand-over, by the state of an open question
	answered []*task          // with answers that are kept, the oldest first
	bytes    int              // of these answers
}

// NewTable returns a Table without tasks.
func NewTable(c Config) *Table {
	limits := *c.Limits
	limits.Concurrent = max(1, min(c.Settings.Max, c.Running))
	return &Table{Config: c, pool: calls.NewPool(&limits), byID: map[string]*task{}, byState: map[string]retry{}}
}

// Use returns how many tasks run.
func (t *Table) Use() metrics.Use {
	t.mu.Lock()
	defer t.mu.Unlock()
	return metrics.Use{Limit: "tasks", Used: t.running.All(), Most: min(t.Settings.Max, t.Running)}
}

// add counts a task that is about to run, unless too many run.
func (t *Table) add(c *Client) *mcp.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	reason := ""
	owner := c.Calls.Owner
	switch size := min(t.Settings.Max, t.Running); {
	case t.running.Of(owner) >= t.Settings.MaxClient:
		reason = "as many of them run as MCPBASH_MAX_CLIENT_TASKS allows; end one, or try again later"
	case t.running.Full(owner, size):
		reason = "as many of them run as MCPBASH_MAX_TASKS and the limit for open files allow; try again later"
	default:
		t.running.Add(owner, 1)
		c.running++
		return nil
	}
	return mcp.Errorf(mcp.CodeInternal, "Too many calls of long-running tools: %s", reason).
		Because(mcp.CauseBusy)
}

// publish makes a task known to its client, and reports whether that is possible. The task's lock is held.
func (t *Table) publish(x *task) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x.client.closed {
		return false
	}
	x.id = t.NewID(x.client.Caller)
	t.byID[x.id] = x
	return true
}

// overhead is the maximum size, in bytes, of a task without its answer, and of a response without its result.
const overhead = 4 << 10

// ended counts a task that has ended. It keeps the answer, if the client knows the task. The task's lock is held.
func (t *Table) ended(x *task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running.Add(x.client.Calls.Owner, -1)
	x.client.running--
	if x.id == "" {
		return
	}
	if x.client.closed {
		delete(t.byID, x.id)
		return
	}
	x.weight = overhead + len(x.result)
	if x.err != nil {
		x.weight += len(x.err.Message) + len(x.err.Data)
	}
	x.expiry = time.AfterFunc(t.Settings.TTL, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.drop(x)
	})
	t.answered = append(t.answered, x)
	t.bytes += x.weight
	for t.bytes > t.Settings.MaxResults && len(t.answered) > 0 {
		t.drop(t.answered[share.Victim(t.answered, func(x *task) (string, int) { return x.client.Calls.Owner, x.weight })])
	}
}

// drop forgets a task that has ended. The lock is held.
func (t *Table) drop(x *task) {
	if i := slices.Index(t.answered, x); i >= 0 {
		t.answered = slices.Delete(t.answered, i, i+1)
		t.bytes -= x.weight
		x.expiry.Stop()
		delete(t.byID, x.id)
	}
}

// Kept returns the bytes of the answers that are kept.
func (t *Table) Kept() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

// find returns a task, or nil. Tasks of other clients, and of the other protocol, do not exist for a request.
func (t *Table) find(r *calls.Request, id string) *task {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x := t.byID[id]; x != nil && x.protocol == r.Protocol {
		return x
	}
	return nil
}

// A retry is the request that the client is expected to send with its answers to questions.
type retry struct {
	task  *task
	timer *time.Timer // ends the task without the retry
}

// expect registers a task for the retry with a state. If no retry arrives in time, the suspended call ends. The
// task's lock is held.
func (t *Table) expect(state string, x *task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byState[state] = retry{x, time.AfterFunc(t.Retry+time.Second, func() {
		if t.take(state) != nil {
			x.stop(nil)
		}
	})}
}

// take returns the task that expects a retry with this state, or nil. The task no longer expects it.
func (t *Table) take(state string) *task {
	t.mu.Lock()
	defer t.mu.Unlock()
	expected := t.byState[state]
	if expected.task != nil {
		expected.timer.Stop()
		delete(t.byState, state)
	}
	return expected.task
}

// Owed reports whether a client would lose an answer if the server ended now. That is so if a task runs, or has ended
// after since and its client has not got the answer.
func (t *Table) Owed(since time.Time) bool {
	t.mu.Lock()
	list := slices.Collect(maps.Values(t.byID))
	t.mu.Unlock()
	return slices.ContainsFunc(list, func(x *task) bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return !x.over || !x.fetched && !x.cancelled && x.ended.After(since)
	})
}

// A Tool describes how the calls of a tool go on after their requests.
type Tool struct {
	tool.LongRunning
	Control bool // one of the server's own tools for tasks
	// NoControl means that the server's own tools for tasks do not exist, so only clients with the extension get
	// tasks.
	NoControl bool
}

// A ClientConfig is the input of [Table.NewClient].
type ClientConfig struct {
	Calls  calls.Config // of the requests behind the tasks
	Caller string       // see auth.Identity.Key
	Out    session.Sink // for messages that belong to no request
	// Tool returns nil for tools that are not long-running.
	Tool func(ctx context.Context, name string) *Tool
}

// A Client has the tasks of one client.
type Client struct {
	ClientConfig
	table    *Table
	requests *calls.Requests

	// guarded by the table's lock
	last    int
	running int
	closed  bool
}

// NewClient returns a client without tasks.
func (t *Table) NewClient(c ClientConfig) *Client {
	return &Client{ClientConfig: c, table: t, requests: t.pool.NewRequests(c.Calls)}
}

// Grace is how long a call runs before it becomes a task of a client with the extension. Most calls that fail do so
// earlier.
const Grace = 100 * time.Millisecond

// Handle answers a request of the client. It handles calls of long-running tools and of the server's own tools. The
// request's protocol handles all others.
func (c *Client) Handle(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	if r.Method.Name != "tools/call" {
		return r.Protocol.Handle(ctx, r)
	}
	name := r.Params.Text(mcp.ParamName)
	long := c.Tool(ctx, name)
	switch {
	case long == nil || long.NoControl && !extension(r):
		return r.Protocol.Handle(ctx, r)
	case long.Control:
		return c.control(ctx, r, name)
	}
	if state := r.Params.Text(mcp.ParamState); state != "" {
		x := c.table.take(state)
		if x == nil || x.protocol != r.Protocol {
			return r.Protocol.Handle(ctx, r)
		}
		x.retry(r)
		return x.serve(ctx, r)
	}
	if err := c.table.add(c); err != nil {
		return nil, err
	}
	x := c.newTask(name, long, r)
	x.send(r.Params)
	return x.serve(ctx, r)
}

// extension reports whether the client of a request knows tasks.
func extension(r *calls.Request) bool { return r.Client.Newest && r.Client.Capabilities.Tasks }

func (c *Client) newTask(name string, long *Tool, r *calls.Request) *task {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	c.last++
	now := time.Now()
	after := long.After
	if after == 0 {
		after = c.table.Settings.After
	}
	return &task{
		client: c, key: strconv.Itoa(c.last), tool: name, after: after, asksFirst: long.AsksFirst,
		protocol: r.Protocol, newest: r.Client.Newest, first: originOf(r), attached: r, began: now, updated: now,
		changed: make(chan struct{}),
	}
}

// The methods of the extension.
const (
	MethodGet    = "tasks/get"
	MethodUpdate = "tasks/update"
	MethodCancel = "tasks/cancel"
)

// Methods returns the methods of the extension.
func (c *Client) Methods() []*calls.Method {
	method := func(name string, handle func(r *calls.Request, x *task) (*calls.Answer, error)) *calls.Method {
		return &calls.Method{Name: name, Handle: func(_ context.Context, r *calls.Request) (*calls.Answer, error) {
			if !extension(r) {
				return nil, mcp.MissingTasks()
			}
			x := c.table.find(r, r.Params.Text(mcp.ParamTask))
			if x == nil {
				return nil, ErrUnknown
			}
			return handle(r, x)
		}}
	}
	return []*calls.Method{
		method(MethodGet, func(_ *calls.Request, x *task) (*calls.Answer, error) { return x.details(), nil }),
		method(MethodUpdate, func(r *calls.Request, x *task) (*calls.Answer, error) {
			if err := x.update(r); err != nil {
				return nil, err
			}
			return object(nil), nil
		}),
		method(MethodCancel, func(_ *calls.Request, x *task) (*calls.Answer, error) {
			x.stop(nil)
			return object(nil), nil
		}),
	}
}

// ErrUnknown is the error for a task that does not exist for the client.
var ErrUnknown = mcp.Errorf(mcp.CodeInvalidParams, "Task not found")

// IDOf returns the id of the task that a stateless request names, or "". Transports send such requests to the replica
// with the task.
func IDOf(method string, params *mcp.Params) string {
	switch method {
	case MethodGet, MethodUpdate, MethodCancel:
		return params.Text(mcp.ParamTask)
	case "tools/call":
		if IsControl(params.Text(mcp.ParamName)) {
			return rawjson.TextOf(params.Get(mcp.ParamArguments), "taskId")
		}
	}
	return ""
}

// Close ends the client's tasks, and forgets their answers. Calls that are not tasks yet go on, and never become tasks.
func (c *Client) Close() {
	t := c.table
	t.mu.Lock()
	c.closed = true
	for _, x := range slices.Clone(t.answered) {
		if x.client == c {
			t.drop(x)
		}
	}
	running := slices.Collect(maps.Values(t.byID))
	t.mu.Unlock()
	for _, x := range running {
		if x.client == c {
			x.stop(calls.ErrStopping)
		}
	}
}

// Cancel ends all calls of the client.
func (c *Client) Cancel(cause error) {
	c.Close()
	c.requests.CancelAll(cause)
}

// Busy reports whether a call runs.
func (c *Client) Busy() bool {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	return c.running > 0
}

// Keeps reports whether the answer of a task is kept.
func (c *Client) Keeps() bool {
	t := c.table
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.answered, func(x *task) bool { return x.client == c })
}

// Wait returns when no call runs.
func (c *Client) Wait() { c.requests.Wait() }
