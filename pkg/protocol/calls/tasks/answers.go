package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// object returns an answer that is an object. appendMembers writes its members; nil: the object is empty.
func object(appendMembers func(b *rawjson.Builder)) *calls.Answer {
	var members rawjson.Builder
	members.Object()
	if appendMembers != nil {
		appendMembers(&members)
	}
	text := members.End().Bytes()
	return &calls.Answer{Size: len(text) + 1024, Append: func(dst []byte, extra mcp.Extra) []byte {
		b := rawjson.Over(dst)
		extra.AppendMembers(b.Object())
		b.Members(text)
		extra.AppendOwnMeta(b)
		return b.End().Bytes()
	}}
}

// status returns the state of the task. The lock is held.
func (x *task) status() string {
	switch {
	case x.cancelled:
		return "cancelled"
	case x.over && x.err != nil:
		return "failed"
	case x.over:
		return "completed"
	case x.asked != nil:
		return "input_required"
	}
	return "working"
}

// message describes the state, or is "". The lock is held.
func (x *task) message() string {
	switch {
	case x.err != nil:
		return cut(x.err.Message, maxText)
	case x.over:
		return ""
	case x.asked != nil:
		return "the tool waits for an answer of the user"
	}
	return cut(x.progress.text(), maxText)
}

// runtime returns how long the call runs or ran. The lock is held.
func (x *task) runtime() time.Duration {
	if x.over {
		return x.ended.Sub(x.began)
	}
	return time.Since(x.began)
}

// appendTask appends the members of a task. The lock is held.
func (x *task) appendTask(b *rawjson.Builder) {
	b.Name("taskId").String(x.id).Name("status").String(x.status())
	b.Optional("statusMessage", x.message())
	const form = "2006-01-02T15:04:05.000Z"
	b.Name("createdAt").String(x.began.UTC().Format(form)).Name("lastUpdatedAt").String(x.updated.UTC().Format(form))
	if b.Name("ttlMs"); x.over {
		b.Int(int((x.runtime() + x.client.table.Settings.TTL).Milliseconds()))
	} else {
		b.Null()
	}
	interval := 5000
	if x.runtime() < 30*time.Second {
		interval = 1000
	}
	b.Name("pollIntervalMs").Int(interval)
}

// details returns the answer to tasks/get.
func (x *task) details() *calls.Answer {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := object(func(b *rawjson.Builder) {
		x.appendTask(b)
		switch {
		case x.asked != nil:
			x.asked.appendOpen(b.Name("inputRequests"))
		case x.err != nil:
			b.Name("error").Append(x.err.AppendJSON)
		case x.over && !x.cancelled:
			b.Name("result").Raw(x.result)
		}
	})
	if x.over {
		a.Done = x.sentAnswer
	}
	return a
}

// state returns the state of the task as the result of a tool, for models and programs. The lock is held.
func (x *task) state() *calls.Answer {
	text := fmt.Sprintf("Task %s of tool %s ", x.id, x.tool)
	if status := x.status(); x.over {
		text += "is " + status + "."
	} else {
		text += fmt.Sprintf("still runs in the background after %d s.", int(x.runtime().Seconds()))
	}
	if message := x.message(); message != "" {
		text += "\nState: " + message
	}
	switch {
	case !x.over:
		text += fmt.Sprintf("\nCall %s with {\"taskId\":%s} to wait for the result. Do not call %s again for it. %s ends "+
			"the task.", mcp.TaskWait, rawjson.Quote(x.id), x.tool, mcp.TaskCancel)
	case !x.cancelled:
		text += "\n" + mcp.TaskWait + " returns the result."
	}
	var b rawjson.Builder
	b.Object().Name("taskId").String(x.id).Name("tool").String(x.tool).Name("status").String(x.status())
	b.Optional("statusMessage", x.message())
	b.Name("elapsedSecs").Int(int(x.runtime().Seconds()))
	if x.progress.value != "" {
		b.Name("progress").Raw(json.RawMessage(x.progress.value))
	}
	if x.progress.total != "" {
		b.Name("total").Raw(json.RawMessage(x.progress.total))
	}
	return toolResult(text, b.End().Bytes(), false)
}

// toolResult returns the result of one of the server's own tools. structured may be nil.
func toolResult(text string, structured json.RawMessage, isError bool) *calls.Answer {
	return object(func(b *rawjson.Builder) {
		b.Name("content").Array().Object().Name("type").String("text").Name("text").String(text).End().End()
		b.OptionalRaw("structuredContent", structured)
		b.Name("isError").Bool(isError)
	})
}

// toolFailure returns a result with an error, and with its cause for the record.
func toolFailure(cause mcp.Cause, text string) *calls.Answer {
	a := toolResult(text, nil, true)
	a.Work = &events.Work{Cause: cause}
	return a
}

const taskID = `"taskId":{"type":"string","description":"The id that the call of the tool returned."}`

// Controls are the tools for clients without the extension, as tools/list shows them.
var Controls = [...]json.RawMessage{
	json.RawMessage(`{"name":"` + mcp.TaskStatus + `","title":"State of a task","description":"Shows the state and the ` +
		`progress of a call that runs in the background.","inputSchema":{"type":"object","properties":{` + taskID +
		`},"required":["taskId"],"additionalProperties":false},"annotations":{"readOnlyHint":true,` +
		`"openWorldHint":false}}`),
	json.RawMessage(`{"name":"` + mcp.TaskWait + `","title":"Wait for a task","description":"Waits for a call that runs ` +
		`in the background, and returns its result. If it takes longer, it returns the progress so far: call it again.",` +
		`"inputSchema":{"type":"object","properties":{` + taskID + `,"seconds":{"type":"integer","minimum":1,` +
		`"description":"Wait at most so long. The default is also the maximum."}},"required":["taskId"],` +
		`"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`),
	json.RawMessage(`{"name":"` + mcp.TaskCancel + `","title":"End a task","description":"Ends a call that runs in the ` +
		`background.","inputSchema":{"type":"object","properties":{` + taskID + `},"required":["taskId"],` +
		`"additionalProperties":false},"annotations":{"readOnlyHint":false,"destructiveHint":true,` +
		`"idempotentHint":true,"openWorldHint":false}}`),
}

// IsControl reports whether name is the name of one of the [Controls].
func IsControl(name string) bool { return slices.Contains(mcp.TaskTools(), name) }

// control answers a call of one of the [Controls]. Its errors are results of the tool, because models read them.
func (c *Client) control(ctx context.Context, r *calls.Request, name string) (*calls.Answer, error) {
	arguments := r.Params.Get(mcp.ParamArguments)
	id, isText := rawjson.Text(rawjson.Get(arguments, "taskId"))
	if !isText {
		return toolFailure(mcp.CauseArguments,
			`taskId is missing: call with {"taskId":"ID"}, with the id that the call of the tool returned.`), nil
	}
	x := c.table.find(r, id)
	if x == nil {
		return toolFailure(mcp.CauseNotFound, "There is no such task. Its answer is no longer kept, or the server was "+
			"started again. Call the tool again if you still need its result."), nil
	}
	switch name {
	case mcp.TaskWait:
		return x.wait(ctx, r, settings.Seconds(rawjson.PositiveInt(rawjson.Get(arguments, "seconds"))))
	case mcp.TaskCancel:
		x.stop(nil)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state(), nil
}

// wait answers a request that waits for the task, for the given time or the maximum.
func (x *task) wait(ctx context.Context, r *calls.Request, seconds time.Duration) (*calls.Answer, error) {
	limit := x.after
	if seconds > 0 {
		limit = min(limit, seconds)
	}
	if r.Params.Get(mcp.ParamResponses) != nil {
		if err := x.update(r); err != nil {
			return nil, err
		}
	}
	x.mu.Lock()
	x.waiting = r.Context
	x.signal()
	x.mu.Unlock()
	return x.await(ctx, r, limit, func(due bool) (*calls.Answer, error) {
		asked := x.asked != nil
		switch {
		case x.cancelled:
			return x.state(), nil
		case x.over:
			return x.outcome()
		case asked && r.Client.Newest && x.asked.askable(r.Client.Capabilities):
			a := object(func(b *rawjson.Builder) { x.asked.appendOpen(b.Name("inputRequests")) })
			a.Interim = true // TASK-31
			return a, nil
		case asked, due, x.waiting != r.Context:
			return x.state(), nil
		}
		return nil, nil
	})
}

// withToken returns parameters with a progress token: the client's, or else the task's own.
func withToken(params mcp.Params) mcp.Params {
	meta := params.Meta()
	if calls.ProgressToken(meta) != nil {
		return params
	}
	return params.WithMeta(rawjson.With(meta, "progressToken", rawjson.Quote("task")))
}

// progress is the last report of a script.
type progress struct{ value, total, message string } // JSON, JSON and text; "": none

// maxText limits the texts of a task, and maxNumber its numbers, in bytes. Longer numbers are left out.
const (
	maxText   = 1 << 10
	maxNumber = 32
)

// progressOf returns the report in the parameters of a notification.
func progressOf(params json.RawMessage) (p progress) {
	number := func(name string) string {
		if v := rawjson.Get(params, name); len(v) <= maxNumber {
			return string(v)
		}
		return ""
	}
	return progress{number("progress"), number("total"), cut(rawjson.TextOf(params, "message"), maxText)}
}

// text returns the report for people, or "".
func (p *progress) text() string {
	text := p.value
	if p.total != "" {
		text += " of " + p.total
	}
	if p.message != "" {
		text += ": " + p.message
	}
	return text
}

// cut returns the beginning of a text, at most n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	n -= len("…")
	for n > 0 && text[n]&0xc0 == 0x80 {
		n--
	}
	return text[:n] + "…"
}
