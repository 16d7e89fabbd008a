package tasks

import (
	"context"
	"slices"
	"strconv"
	"time"

	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/wire/mcp"
)

// A Tool describes how the calls of a tool go on after their requests.
type Tool struct {
	tool.LongRunning
	Control bool // one of the server's own tools for tasks (TASK-21)
	// NoControl means that these tools do not exist, so only clients with the extension get tasks (TASK-26).
	NoControl bool
}

// A ClientConfig is the input of [Table.NewClient].
type ClientConfig struct {
	Calls  calls.Config // of the requests that the tasks are
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
	caller   string

	// guarded by the table's lock
	last    int
	running int
	closed  bool
}

// NewClient returns a client without tasks.
func (t *Table) NewClient(c ClientConfig) *Client {
	return &Client{ClientConfig: c, table: t, requests: t.pool.NewRequests(c.Calls), caller: c.Caller}
}

// Grace is how long a call runs before it becomes a task of a client with the extension. Most errors come earlier
// (TASK-11).
const Grace = 100 * time.Millisecond

// Handle answers a request of the client. It leaves ordinary ones to their protocol.
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

// extension reports whether the client of a request knows tasks (TASK-10).
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

// Methods returns the methods of the extension (TASK-12).
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
// with the task (TASK-41).
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

// Close ends the client's tasks, and forgets their answers. Calls that are not tasks yet go on, and never become tasks
// (TASK-61, TASK-62).
func (c *Client) Close() {
	t := c.table
	t.mu.Lock()
	c.closed = true
	for _, x := range slices.Clone(t.answered) {
		if x.client == c {
			t.drop(x)
		}
	}
	tasks := t.of(c)
	t.mu.Unlock()
	for _, x := range tasks {
		x.stop(calls.ErrStopping)
	}
}

// of returns the tasks of a client that run. The lock is held.
func (t *Table) of(c *Client) (running []*task) {
	for _, x := range t.byID {
		if x.client == c {
			running = append(running, x)
		}
	}
	return running
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
