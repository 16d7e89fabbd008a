package tasks

import (
	"encoding/json"
	"fmt"
	"time"

	"mcp-bash/pkg/json/rawjson"
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

// status returns the state of the task (TASK-14). The lock is held.
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

// appendTask appends the members of a task (TASK-13). The lock is held.
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

// state returns the state of the task as the result of a tool, for models and programs (TASK-20). The lock is held.
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

// questionsAnswer answers task_wait with the open questions (TASK-31). The lock is held.
func (x *task) questionsAnswer() *calls.Answer {
	a := object(func(b *rawjson.Builder) { x.asked.appendOpen(b.Name("inputRequests")) })
	a.Interim = true
	return a
}

// toolResult returns the result of one of the server's own tools. structured may be nil.
func toolResult(text string, structured json.RawMessage, isError bool) *calls.Answer {
	return object(func(b *rawjson.Builder) {
		b.Name("content").Array().Object().Name("type").String("text").Name("text").String(text).End().End()
		b.OptionalRaw("structuredContent", structured)
		b.Name("isError").Bool(isError)
	})
}
