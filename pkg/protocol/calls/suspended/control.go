package suspended

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// The tools that control tasks, for clients without the extension (TK-22).
const (
	statusTool = "task_status"
	waitTool   = "task_wait"
	cancelTool = "task_cancel"
)

// IsControl reports whether a name is that of a tool that controls tasks.
func IsControl(name string) bool { return name == statusTool || name == waitTool || name == cancelTool }

// Controls are the tools that control tasks, as tools/list shows them.
var controls = [...]string{
	`{"name":"task_status","title":"State of a task","description":"Shows the state, progress and last messages of a ` +
		`call that goes on in the background. Without taskId it lists all of them.",` +
		`"inputSchema":{"type":"object","properties":{"taskId":{"type":"string","description":"The id that the call ` +
		`returned."}},"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`,
	`{"name":"task_wait","title":"Wait for a task","description":"Waits for a call that goes on in the background, and ` +
		`returns its result. If it takes longer, it returns the progress so far: call it again.",` +
		`"inputSchema":{"type":"object","properties":{"taskId":{"type":"string","description":"The id that the call ` +
		`returned."},"seconds":{"type":"integer","minimum":1,"description":"Wait at most so long. The default and the ` +
		`maximum are those of the tool."}},"required":["taskId"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"openWorldHint":false}}`,
	`{"name":"task_cancel","title":"End a task","description":"Ends a call that goes on in the background.",` +
		`"inputSchema":{"type":"object","properties":{"taskId":{"type":"string","description":"The id that the call ` +
		`returned."}},"required":["taskId"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}}`,
}

// AppendControls appends the tools that control tasks, each with add.
func AppendControls(add func(item json.RawMessage)) {
	for _, item := range controls {
		add(json.RawMessage(item))
	}
}

// maxListed is the number of tasks that task_status lists.
const maxListed = 50

// control answers a call of a tool that controls tasks. Its faults are results, which models read.
func (c *Client) control(ctx context.Context, r *calls.Request, name string) (*calls.Answer, error) {
	arguments := rawjson.Get(r.Params, "arguments")
	if !rawjson.Absent(arguments) && rawjson.KindOf(arguments) != rawjson.Object {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid arguments JSON") // T-3
	}
	id := rawjson.Get(arguments, "taskId")
	if rawjson.Absent(id) && name == statusTool {
		return c.list(r), nil
	}
	x, err := c.taskOf(r, id)
	if err != nil {
		return toolResult("There is no such task. It was never yours, or its result is no longer kept. "+
			statusTool+" without taskId lists your tasks.", nil, true), nil
	}
	switch name {
	case waitTool:
		return x.wait(ctx, r, settings.Seconds(rawjson.PositiveInt(rawjson.Get(arguments, "seconds"))))
	case cancelTool:
		x.cancelTask()
		return x.settled(ctx)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.report(), nil
}

// list returns the states of the client's tasks.
func (c *Client) list(r *calls.Request) *calls.Answer {
	own := c.tasksOf(r)
	var b rawjson.Builder
	var text strings.Builder
	b.Object().Name("tasks").Array()
	for _, x := range own[:min(len(own), maxListed)] {
		x.mu.Lock()
		fmt.Fprintf(&text, "%s  %s  %s  %d s\n", x.task.id, x.task.tool, x.status(), int(x.runtime().Seconds()))
		b.Object().Name("taskId").String(x.task.id).Name("tool").String(x.task.tool).Name("status").String(x.status()).
			Name("elapsedSecs").Int(int(x.runtime().Seconds())).End()
		x.mu.Unlock()
	}
	if len(own) == 0 {
		text.WriteString("There are no tasks.")
	}
	return toolResult(strings.TrimSuffix(text.String(), "\n"), b.End().End().Bytes(), false)
}

// wait lets a request wait for the task, not longer than a call of its tool.
func (x *call) wait(ctx context.Context, r *calls.Request, seconds time.Duration) (*calls.Answer, error) {
	x.mu.Lock()
	limit := x.after()
	if seconds > 0 {
		limit = min(limit, seconds)
	}
	x.serving = r
	if x.task.asker != nil {
		x.task.asker = r.Client.Asker
	}
	x.digest = func() [32]byte { return digestOf(r.Method.Name, r.Params) }
	x.mu.Unlock()
	return x.attendFor(ctx, r, limit)
}

// cancelPatience is how long task_cancel waits for the end of the script.
const cancelPatience = 3 * time.Second

// settled returns the state of a task that was told to end, when it has ended.
func (x *call) settled(ctx context.Context) (*calls.Answer, error) {
	timer := time.NewTimer(cancelPatience)
	defer timer.Stop()
	for late := false; ; {
		changed := x.task.changes.next()
		x.mu.Lock()
		if x.ended || late {
			defer x.mu.Unlock()
			return x.report(), nil
		}
		x.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
			late = true
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
