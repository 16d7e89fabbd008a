package tasks

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

const taskID = `"taskId":{"type":"string","description":"The id that the call of the tool returned."}`

// Controls are the tools for clients without the extension, as tools/list shows them (TASK-21).
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

// IsControl reports whether one of these tools has a name.
func IsControl(name string) bool { return slices.Contains(mcp.TaskTools(), name) }

// control answers a call of one of these tools. Models read its faults, so they are results (TASK-25).
func (c *Client) control(ctx context.Context, r *calls.Request, name string) (*calls.Answer, error) {
	arguments := r.Params.Get(mcp.ParamArguments)
	id, isText := rawjson.Text(rawjson.Get(arguments, "taskId"))
	if !isText {
		return toolResult(`taskId is missing: call with {"taskId":"ID"}, with the id that the call of the tool returned.`,
			nil, true), nil
	}
	x := c.table.find(r, id)
	if x == nil {
		return toolResult("There is no such task. Its answer is no longer kept, or the server was started again. Call "+
			"the tool again if you still need its result.", nil, true), nil
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

// wait answers a request that waits for the task, for some time or the longest one (TASK-23).
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
			return x.questionsAnswer(), nil
		case asked, due, x.waiting != r.Context:
			return x.state(), nil
		}
		return nil, nil
	})
}
