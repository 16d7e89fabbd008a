package suspended

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/wire/mcp"
)

// tasks are the tasks of all clients. The table's lock guards them.
type tasks struct {
	settings  *project.Tasks
	max       int // calls of long-running tools that run at once
	maxResult int // bytes

	running int
	byID    map[string]*call
	kept    []*call // that run or have a result, the oldest first
	bytes   int     // of the results
}

// taskOverhead is more than a response contains next to the result of a task, in bytes.
const taskOverhead = 4 << 10

func newTasks(p *project.Project) tasks {
	return tasks{
		settings: &p.Tasks, max: min(p.Tasks.Max, handoff.MostWaiting()), maxResult: p.Limits.Response - taskOverhead,
		byID: map[string]*call{},
	}
}

// addRunning counts a call of a long-running tool, unless too many run (TK-41).
func (t *Table) addRunning() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tasks.running >= t.tasks.max {
		return false
	}
	t.tasks.running++
	return true
}

func (t *Table) removeRunning() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tasks.running--
}

// taskIDLife is how long other replicas forward requests for a task.
const taskIDLife = 30 * 24 * time.Hour

// newTaskID returns an id that nobody can guess. Where there are other replicas, it contains the
// address of this one, sealed like the state of a suspended call (TK-33).
func (t *Table) newTaskID(x *call) string {
	if t.own.owner == "" {
		return rand.Text()
	}
	state := t.own
	state.call, state.expires = x.id, time.Now().Add(taskIDLife)
	return t.sealer.seal(state, x.client.caller)
}

// addTask adds a call that has become a task.
func (t *Table) addTask(x *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[x.id] = x
	t.tasks.byID[x.task.id] = x
	t.tasks.kept = append(t.tasks.kept, x)
	if x.client.closed {
		go x.cancel(errNoClient)
	}
}

// keep keeps the result of a task that has ended, within the limits (TK-40, TK-42). The lock of the
// call is held.
func (t *Table) keep(x *call, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x.weight, x.task.over = bytes+taskOverhead, true
	t.tasks.bytes += x.weight
	if x.client.closed {
		t.drop(x)
		return
	}
	time.AfterFunc(t.tasks.settings.TTL, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.drop(x)
	})
	for t.tasks.bytes > t.tasks.settings.MaxBytes {
		t.drop(t.heaviest())
	}
}

// heaviest returns the oldest result of the client whose results use most memory. The lock is held.
func (t *Table) heaviest() *call {
	costs := map[*Client]int{}
	var most *Client
	for _, x := range t.tasks.kept {
		if x.task.over {
			if costs[x.client] += x.weight; most == nil || costs[x.client] > costs[most] {
				most = x.client
			}
		}
	}
	i := slices.IndexFunc(t.tasks.kept, func(x *call) bool { return x.client == most && x.task.over })
	return t.tasks.kept[i]
}

// drop forgets a task that has ended. The lock is held.
func (t *Table) drop(x *call) {
	i := slices.Index(t.tasks.kept, x)
	if i < 0 {
		return
	}
	t.tasks.kept = slices.Delete(t.tasks.kept, i, i+1)
	t.tasks.bytes -= x.weight
	delete(t.tasks.byID, x.task.id)
	delete(t.byID, x.id)
}

// endTasks ends the tasks of a client, and forgets their results (TK-43).
func (c *Client) endTasks() {
	t := c.table
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range slices.Clone(t.tasks.kept) {
		switch {
		case x.client != c:
		case x.task.over:
			t.drop(x)
		default:
			go x.cancel(errNoClient)
		}
	}
}

// taskOf returns a task of the client. Tasks of other clients and of the other protocol do not exist
// for it (TK-30).
func (c *Client) taskOf(r *calls.Request, id json.RawMessage) (*call, *mcp.Error) {
	name, isText := rawjson.Text(id)
	if !isText {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params").WithData("taskId must be a string")
	}
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	x := c.table.tasks.byID[name]
	if x == nil || x.client != c || x.task.protocol != r.Protocol {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Task not found")
	}
	return x, nil
}

// tasksOf returns the tasks of the client, the newest first.
func (c *Client) tasksOf(r *calls.Request) (own []*call) {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	for _, x := range slices.Backward(c.table.tasks.kept) {
		if x.client == c && x.task.protocol == r.Protocol {
			own = append(own, x)
		}
	}
	return own
}

// The methods of the Tasks extension.
const (
	MethodGet    = "tasks/get"
	MethodUpdate = "tasks/update"
	MethodCancel = "tasks/cancel"
)

// Methods returns the methods of the Tasks extension (TK-11).
func (c *Client) Methods() []*calls.Method {
	method := func(name string, handle func(r *calls.Request, x *call) (*calls.Answer, error)) *calls.Method {
		return &calls.Method{Name: name, Handle: func(_ context.Context, r *calls.Request) (*calls.Answer, error) {
			if !r.Client.Capabilities.Tasks {
				return nil, mcp.MissingTasks()
			}
			x, err := c.taskOf(r, rawjson.Get(r.Params, "taskId"))
			if err != nil {
				return nil, err
			}
			return handle(r, x)
		}}
	}
	return []*calls.Method{
		method(MethodGet, func(_ *calls.Request, x *call) (*calls.Answer, error) {
			return describing(x.details(), false), nil
		}),
		method(MethodUpdate, func(r *calls.Request, x *call) (*calls.Answer, error) {
			responses := rawjson.Get(r.Params, "inputResponses")
			if rawjson.KindOf(responses) != rawjson.Object {
				return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params").WithData("inputResponses must be an object")
			}
			x.update(responses)
			return describing(json.RawMessage("{}"), false), nil
		}),
		method(MethodCancel, func(_ *calls.Request, x *call) (*calls.Answer, error) {
			x.cancelTask()
			return describing(json.RawMessage("{}"), false), nil
		}),
	}
}

// details returns a DetailedTask.
func (x *call) details() json.RawMessage {
	x.mu.Lock()
	defer x.mu.Unlock()
	var b rawjson.Builder
	x.appendDetails(b.Object())
	return b.End().Bytes()
}

// update uses the client's responses to open questions. Other keys are ignored.
func (x *call) update(responses json.RawMessage) {
	x.mu.Lock()
	for _, in := range slices.Clone(x.open) {
		if v := rawjson.Get(responses, in.Key); v != nil {
			in.take(v)
		}
	}
	x.recount()
	x.task.updated = time.Now()
	x.expectAnswers()
	x.mu.Unlock()
	x.signal()
}

// cancelTask ends a task because its client wants that. A task that has ended stays as it is.
func (x *call) cancelTask() {
	x.mu.Lock()
	x.task.cancelled = x.task.cancelled || !x.ended
	x.mu.Unlock()
	x.cancel(calls.ErrCancelled)
}

// taskIDOf returns the id of the task that a request names, or "".
func taskIDOf(params json.RawMessage) string {
	if id, ok := rawjson.Text(rawjson.Get(params, "taskId")); ok {
		return id
	}
	if IsControl(rawjson.TextOf(params, "name")) {
		return rawjson.TextOf(rawjson.Get(params, "arguments"), "taskId")
	}
	return ""
}
