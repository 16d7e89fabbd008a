// Package tasks lets calls of long-running tools go on after their requests are answered (contract page tasks).
//
// Such a call is a request that the server sends to itself, in the protocol of its client. A task is the other end of
// this request: it gets the answer, the questions and the progress. Until the hand-over it passes them on to the
// client's request. Later the client asks for them.
package tasks

import (
	"maps"
	"slices"
	"sync"
	"time"

	"mcp-bash/pkg/auth/share"
	"mcp-bash/pkg/events/metrics"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// A Config is the input of [NewTable].
type Config struct {
	Settings *project.Tasks
	Limits   *project.Limits
	Grace    time.Duration              // time until the hand-over, for clients with the extension; see Grace
	Running  int                        // maximum number of scripts
	Retry    time.Duration              // how long a question before the hand-over waits for its client
	NewID    func(caller string) string // returns the id of a new task for a caller, which nobody can guess
}

// A Table contains the tasks of all clients, and limits them (TASK-50, TASK-51).
type Table struct {
	Config
	pool *calls.Pool // runs the calls

	mu       sync.Mutex
	running  share.Usage      // by owner
	byID     map[string]*task // after the hand-over
	byState  map[string]retry // before it, by the state of an open question
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
	return mcp.Errorf(mcp.CodeInternal, "Too many calls of long-running tools: %s", reason)
}

// publish makes a task known to its client, and reports whether that is possible. The task's lock is held.
func (t *Table) publish(x *task) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x.client.closed {
		return false
	}
	x.id = t.NewID(x.client.caller)
	t.byID[x.id] = x
	return true
}

// overhead is more than a task uses next to its answer, in bytes, and more than a response has next to it.
const overhead = 4 << 10

// ended counts that a task no longer runs. It keeps the answer, if the client knows the task. The task's lock is held.
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

// find returns a task, or nil. Tasks of other clients, and of the other protocol, do not exist for a request
// (TASK-40).
func (t *Table) find(r *calls.Request, id string) *task {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x := t.byID[id]; x != nil && x.protocol == r.Protocol {
		return x
	}
	return nil
}

// A retry of a request is expected, because the request was answered with questions.
type retry struct {
	task  *task
	timer *time.Timer // ends the task without the retry
}

// expect waits for a retry. The suspended call ends without one. The task's lock is held.
func (t *Table) expect(state string, x *task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byState[state] = retry{x, time.AfterFunc(t.Retry+time.Second, func() {
		if t.take(state) != nil {
			x.stop(nil)
		}
	})}
}

// take returns the task that expects a retry with this state, or nil. It expects no other one.
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

// Owed reports whether the end of the server would take an answer from a client. A task runs, or has ended after a time
// and its client has not got the answer (TASK-62).
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
