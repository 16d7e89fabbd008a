package suspended

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// A task is the part of a call that only calls of long-running tools have. Such a call starts like any
// other. If it is not over in time, it is detached: its request is answered with a handle, and the
// script goes on (contract page tasks). The lock of the call guards the fields.
type task struct {
	id       string
	tool     string
	long     *calls.Long
	protocol calls.Protocol
	client   *mcp.Capabilities // of the first request
	asker    mcp.Asker         // of the last request in the handshake protocol; nil in the stateless protocol
	detached bool
	used     map[string]bool // keys of questions
	changes  broadcaster

	began, updated, ended time.Time
	progress              tool.Progress // the last one
	progressed            bool
	logs                  []tool.LogMessage // the last ones
	logBytes              int
	cancelled             bool        // by the client
	unanswered            *time.Timer // ends a task whose questions nobody answers
	result                []byte      // of a detached call, once it has ended without an error
	over                  bool        // only the result is left; guarded by Table.mu
}

const (
	// grace is how long a call can take before it becomes a task of a client that knows tasks. A call
	// that fails at once is answered with its error (TK-12).
	grace = 100 * time.Millisecond

	maxTaskLogs     = 50      // messages that are kept
	maxTaskLogBytes = 8 << 10 // of these messages
	maxTaskText     = 1 << 10 // bytes of the message of a progress report
	maxTaskKeys     = 256     // keys of the script's own choice; later questions have numbers
)

// tells reports whether the client knows the extension.
func (k *task) extension() bool { return k.asker == nil && k.client.Tasks }

// HandleLong answers a request of a long-running tool, or of a tool that controls tasks.
func (c *Client) HandleLong(ctx context.Context, r *calls.Request, long *calls.Long,
	advance json.RawMessage) (*calls.Answer, error) {
	if long.Control != "" {
		return c.control(ctx, r, long.Control)
	}
	x, err := c.start(r, long, advance)
	if err != nil {
		return nil, err
	}
	return x.attend(ctx, r)
}

// start begins the call of a long-running tool on a goroutine of its own.
func (c *Client) start(r *calls.Request, long *calls.Long, advance json.RawMessage) (*call, error) {
	t := c.table
	if !t.addRunning() {
		return nil, mcp.Errorf(mcp.CodeInternal, "Tool '%s' cannot be started", rawjson.TextOf(r.Params, "name")).
			Explain(errTooManyTasks)
	}
	asker := r.Client.Asker
	if r.Client.Newest {
		asker = nil
	}
	x := c.begin(r, advance)
	now := time.Now()
	x.handedOff = true
	x.task = &task{
		tool: rawjson.TextOf(r.Params, "name"), long: long, protocol: r.Protocol, client: r.Client.Capabilities,
		asker: asker, used: map[string]bool{}, began: now, updated: now,
	}
	go x.work()
	return x, nil
}

var errTooManyTasks = errors.New("as many calls of long-running tools run as MCPBASH_MAX_TASKS allows; try again later")

// work runs the script of the call.
func (x *call) work() {
	defer x.table.ended(x)
	defer x.table.removeRunning()
	x.table.awaitScripts(x.ctx)
	a, err := x.request.Handle(x.ctx)
	k := x.task
	x.mu.Lock()
	x.ended, x.open = true, nil
	x.answer, x.err = a, err
	k.ended = time.Now()
	k.updated = k.ended
	if k.unanswered != nil {
		k.unanswered.Stop()
	}
	ended := x.ctx.Err() != nil
	switch {
	case k.detached:
		x.keep()
	case x.serving == nil && !ended:
		x.shrink()
	}
	detached := k.detached
	x.mu.Unlock()
	x.signal()
	switch {
	case detached:
		x.cancel(nil)
	case ended:
		x.discard()
	}
}

// keep keeps only the rendered result of a task that has ended. The lock is held.
func (x *call) keep() {
	k, t := x.task, x.table
	size := k.logBytes
	if x.answer != nil {
		var rendered *calls.Answer
		if rendered, x.err = x.request.Render(x.answer); x.err == nil {
			k.result = rendered.Append(nil, mcp.Extra{})
			size += len(k.result)
		}
		x.answer = nil
	}
	if len(k.result) > t.tasks.maxResult {
		k.result, x.err = nil, mcp.Errorf(mcp.CodeInternal, "Response exceeded response size limit")
	}
	if x.err != nil {
		var e *mcp.Error
		if reason := context.Cause(x.ctx); reason != nil && reason != calls.ErrCancelled && !errors.As(reason, &e) {
			x.err = mcp.Errorf(mcp.CodeInternal, "Task ended: %s", reason)
		}
		if !errors.As(x.err, &e) {
			e = mcp.Errorf(mcp.CodeInternal, "Internal error").WithData(x.err.Error())
		}
		x.err = k.protocol.Fault(e)
		size += len(e.Message) + len(e.Data)
	}
	x.request.Shed()
	x.request, x.advance = nil, nil
	t.keep(x, size)
}

// patience returns how long a request waits before it gets a handle.
func (x *call) patience() time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	if k := x.task; !k.detached && k.extension() && !k.long.AsksFirst {
		return grace
	}
	return x.after()
}

func (x *call) after() time.Duration { return cmp.Or(x.task.long.After, x.table.tasks.settings.After) }

// attend answers a request that waits for a call: the first one, a retry, or one of task_wait.
func (x *call) attend(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	return x.attendFor(ctx, r, x.patience())
}

func (x *call) attendFor(ctx context.Context, r *calls.Request, limit time.Duration) (*calls.Answer, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	over := ctx.Done()
	due := false
	for {
		changed := x.task.changes.next()
		a, err, ok := x.look(ctx, r, due)
		if ok {
			return a, err
		}
		select {
		case <-changed:
		case <-timer.C:
			due = true
		case <-over:
			if x.leave(r) {
				return nil, context.Cause(ctx)
			}
			x.cancel(context.Cause(ctx))
			over = nil // the answer comes once the script has ended
		}
	}
}

// leave ends the service of a request, and reports whether the call goes on without it.
func (x *call) leave(r *calls.Request) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.task.detached {
		return false
	}
	if x.serving == r {
		x.serving = nil
	}
	return true
}

// look returns the answer that is possible now, if any. due means that the request has waited long
// enough.
func (x *call) look(ctx context.Context, r *calls.Request, due bool) (a *calls.Answer, err error, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	k := x.task
	switch {
	case x.ended && k.detached:
		a, err = x.outcome()
		return a, err, true
	case x.ended:
		x.table.forget(x)
		x.cancel(nil)
		return x.answer, x.err, true
	case ctx.Err() != nil:
		return nil, nil, false
	}
	if len(x.open) > 0 {
		switch {
		case k.asker != nil:
			x.relay()
		case !k.detached && k.extension() && !k.long.AsksFirst:
			due = true
		default:
			x.resolveUnaskable(r.Client.Capabilities)
			if len(x.open) == 0 {
				break
			}
			if !k.detached {
				return x.suspend(), nil, true
			}
			x.serving = nil
			x.round++
			return x.questions(func() {}), nil, true
		}
	}
	early := k.extension() && k.progressed // the questions are over
	switch {
	case k.detached && due:
		x.serving = nil
		return x.report(), nil, true
	case !k.detached && (due || early) && !x.client.isClosed():
		return x.detach(), nil, true
	}
	return nil, nil, false
}

// outcome returns the result of a task that has ended. The lock is held.
func (x *call) outcome() (*calls.Answer, error) {
	if x.err != nil {
		return nil, x.err
	}
	return calls.Bytes(x.task.result), nil
}

// detach makes the call a task, and returns the answer to its request. The lock is held.
func (x *call) detach() *calls.Answer {
	k := x.task
	k.detached, k.id = true, x.table.newTaskID(x)
	x.serving = nil
	x.table.addTask(x)
	x.expectAnswers()
	var a *calls.Answer
	if k.extension() {
		a = x.created()
	} else {
		a = x.report()
	}
	a.Done = func(sent bool) {
		if !sent { // nobody knows the task
			x.cancel(calls.ErrCancelled)
		}
	}
	return a
}

// asked is called after the script has asked. The lock is held.
func (k *task) asked(x *call) {
	k.updated = time.Now()
	if k.asker == nil {
		client := k.client
		if x.serving != nil {
			client = x.serving.Client.Capabilities
		}
		x.resolveUnaskable(client)
	}
	if k.detached {
		x.expectAnswers()
	}
}

// expectAnswers ends a task whose client does not answer its questions. The lock is held.
func (x *call) expectAnswers() {
	k := x.task
	if k.unanswered != nil {
		k.unanswered.Stop()
	}
	if len(x.open) == 0 {
		return
	}
	k.unanswered = time.AfterFunc(x.table.ttl, func() {
		x.mu.Lock()
		open := len(x.open) > 0
		x.mu.Unlock()
		if open {
			x.cancel(errExpired)
		}
	})
}

// relay puts the open questions to a client of the handshake protocol, while a request of it waits.
// The lock is held.
func (x *call) relay() {
	if x.serving == nil {
		return
	}
	for _, in := range x.open {
		if in.withdraw != nil {
			continue
		}
		ctx, cancel := context.WithCancel(x.ctx)
		in.withdraw = cancel
		pending := x.task.asker.Ask([]mcp.InputRequest{in.InputRequest})
		go func() {
			defer cancel()
			responses, err := pending.Wait(ctx)
			if err != nil {
				pending.Close()
				return
			}
			x.mu.Lock()
			if slices.Contains(x.open, in) {
				in.resolve(responses[0])
				x.recount()
			}
			x.mu.Unlock()
			x.signal()
		}()
	}
}

// Progress implements [calls.Call].
func (x *call) Progress(p tool.Progress) {
	if x.task == nil {
		return
	}
	x.mu.Lock()
	k := x.task
	message := p.Message
	if len(message) > maxTaskText {
		text, _ := rawjson.Text(message)
		message = rawjson.Quote(cut(text, maxTaskText))
	}
	k.progress = tool.Progress{Value: bytes.Clone(p.Value), Total: bytes.Clone(p.Total), Message: bytes.Clone(message)}
	k.updated = time.Now()
	began := !k.progressed
	k.progressed = true
	x.mu.Unlock()
	if began {
		x.signal()
	}
}

// cut returns the beginning of a text, at most n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xc0 == 0x80 {
		n--
	}
	return text[:n] + "…"
}

// Log implements [calls.Call].
func (x *call) Log(m tool.LogMessage) {
	if x.task == nil || m.Level <= mcp.Debug {
		return
	}
	size := len(m.Data) + len(m.Logger)
	if size > maxTaskLogBytes {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	k := x.task
	k.logs = append(k.logs, tool.LogMessage{Level: m.Level, Logger: bytes.Clone(m.Logger), Data: bytes.Clone(m.Data)})
	k.logBytes += size
	for len(k.logs) > maxTaskLogs || k.logBytes > maxTaskLogBytes {
		k.logBytes -= len(k.logs[0].Data) + len(k.logs[0].Logger)
		k.logs = k.logs[1:]
	}
	k.updated = time.Now()
}

// status returns the state of a task, in the words of the extension. The lock is held.
func (x *call) status() string {
	switch {
	case x.ended && x.err == nil:
		return "completed"
	case x.ended && x.task.cancelled:
		return "cancelled"
	case x.ended:
		return "failed"
	case len(x.open) > 0:
		return "input_required"
	}
	return "working"
}

// statusMessage describes the state of a task, or is "". The lock is held.
func (x *call) statusMessage() string {
	k := x.task
	var e *mcp.Error
	switch {
	case x.ended && errors.As(x.err, &e):
		return cut(e.Message, maxTaskText)
	case x.ended:
		return ""
	case len(x.open) > 0:
		return "the tool waits for an answer of the user"
	case !k.progressed:
		return ""
	}
	text := cut(string(k.progress.Value), 32)
	if k.progress.Total != nil {
		text += " of " + cut(string(k.progress.Total), 32)
	}
	if message, ok := rawjson.Text(k.progress.Message); ok && message != "" {
		text += ": " + message
	}
	return text
}

// runtime returns how long the task has run. The lock is held.
func (x *call) runtime() time.Duration {
	if x.ended {
		return x.task.ended.Sub(x.task.began)
	}
	return time.Since(x.task.began)
}

// pollInterval is how often a client asks for a task: less often when it takes long.
func (x *call) pollInterval() time.Duration {
	if x.runtime() < 30*time.Second {
		return time.Second
	}
	return 5 * time.Second
}

// appendTask appends the members of a Task to an open object (TK-13). The lock is held.
func (x *call) appendTask(b *rawjson.Builder) {
	k := x.task
	b.Name("taskId").String(k.id).Name("status").String(x.status())
	if text := x.statusMessage(); text != "" {
		b.Name("statusMessage").String(text)
	}
	const form = "2006-01-02T15:04:05.000Z"
	b.Name("createdAt").String(k.began.UTC().Format(form)).Name("lastUpdatedAt").String(k.updated.UTC().Format(form))
	if b.Name("ttlMs"); x.ended {
		b.Int(int((x.runtime() + x.table.tasks.settings.TTL).Milliseconds()))
	} else {
		b.Null()
	}
	b.Name("pollIntervalMs").Int(int(x.pollInterval().Milliseconds()))
}

// created returns the answer that describes a new task. The lock is held.
func (x *call) created() *calls.Answer {
	var b rawjson.Builder
	x.appendTask(b.Object())
	return describing(b.End().Bytes(), true)
}

// appendDetails appends the members of a task, and what belongs to its state (TK-14). The lock is held.
func (x *call) appendDetails(b *rawjson.Builder) {
	x.appendTask(b)
	var e *mcp.Error
	switch {
	case !x.ended && len(x.open) > 0:
		b.Name("inputRequests")
		x.appendQuestions(b)
	case x.ended && x.err == nil:
		b.Name("result").Raw(x.task.result)
	case x.ended && !x.task.cancelled && errors.As(x.err, &e):
		b.Name("error").Append(e.AppendJSON)
	}
}

// describing returns an answer with the members of an object. isTask marks the answer that creates
// the task.
func describing(object json.RawMessage, isTask bool) *calls.Answer {
	return &calls.Answer{
		Size: len(object) + 1024, Task: isTask,
		Append: func(dst []byte, extra mcp.Extra) []byte {
			b := rawjson.Over(dst)
			extra.AppendMembers(b.Object())
			for _, m := range rawjson.Members(object) {
				b.Name(m.Name).Raw(m.Value)
			}
			extra.AppendOwnMeta(b)
			return b.End().Bytes()
		},
	}
}

// report returns the state of a task as the result of a tool (TK-21). The lock is held.
func (x *call) report() *calls.Answer {
	k := x.task
	status := x.status()
	text := fmt.Sprintf("Task %s (tool %s) ", k.id, k.tool)
	switch status {
	case "completed":
		text += "is completed. " + waitTool + " returns its result."
	case "cancelled", "failed":
		text += "is " + status + "."
	default:
		text += "is still running in the background after " + strconv.Itoa(int(x.runtime().Seconds())) + " s."
	}
	if message := x.statusMessage(); message != "" {
		text += "\nStatus: " + message
	}
	if !x.ended {
		text += fmt.Sprintf("\nCall %s with {\"taskId\":%q} to wait for the result. Do not call %s again. %s shows the "+
			"state, %s ends the task.", waitTool, k.id, k.tool, statusTool, cancelTool)
	}
	var b rawjson.Builder
	x.appendState(&b)
	return toolResult(text, b.Bytes(), false)
}

// appendState appends the state of a task for programs and models. The lock is held.
func (x *call) appendState(b *rawjson.Builder) {
	k := x.task
	b.Object().Name("taskId").String(k.id).Name("tool").String(k.tool).Name("status").String(x.status())
	if text := x.statusMessage(); text != "" {
		b.Name("statusMessage").String(text)
	}
	b.Name("elapsedSecs").Int(int(x.runtime().Seconds()))
	if k.progressed {
		b.Name("progress").Raw(k.progress.Value)
		if k.progress.Total != nil {
			b.Name("total").Raw(k.progress.Total)
		}
	}
	if len(k.logs) > 0 {
		b.Name("logs").Array()
		for _, m := range k.logs {
			b.Object().Name("level").String(m.Level.String())
			if m.Logger != nil {
				b.Name("logger").Raw(m.Logger)
			}
			b.Name("data").Raw(m.Data).End()
		}
		b.End()
	}
	b.End()
}

// toolResult returns the result of a tool of the server itself.
func toolResult(text string, structured json.RawMessage, isError bool) *calls.Answer {
	var b rawjson.Builder
	b.Object().Name("content").Array().Object().Name("type").String("text").Name("text").String(text).End().End()
	b.Name("isError").Bool(isError)
	if structured != nil {
		b.Name("structuredContent").Raw(structured)
	}
	return describing(b.End().Bytes(), false)
}

// A broadcaster wakes all goroutines that wait for a change.
type broadcaster struct {
	mu sync.Mutex
	c  chan struct{}
}

// next returns a channel that is closed at the next change.
func (b *broadcaster) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.c == nil {
		b.c = make(chan struct{})
	}
	return b.c
}

func (b *broadcaster) broadcast() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.c != nil {
		close(b.c)
		b.c = nil
	}
}
