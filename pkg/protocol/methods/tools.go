package methods

import (
	"context"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/calls/tasks"
	"mcp-bash/pkg/wire/mcp"
)

func (c *Client) listTools(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	if r.Client.Newest {
		return c.listed.anySchema.serve(ctx, r)
	}
	return c.listed.tools.serve(ctx, r)
}

// startsScript reports whether a call of a tool starts a script. A tool of the project with the name of one of the
// server's own takes its slot later.
func startsScript(r *calls.Request) bool {
	name := r.Params.Text(mcp.ParamName)
	return name != tool.SearchTool && !tasks.IsControl(name)
}

// callTool answers tools/call (tools section 2).
func (c *Client) callTool(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	name := r.Params.Text(mcp.ParamName)
	if name == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Tool name is required") // T-2
	}
	arguments := r.Params.Get(mcp.ParamArguments)
	if !rawjson.Absent(arguments) && rawjson.KindOf(arguments) != rawjson.Object {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid arguments JSON") // T-3
	}
	meta, newest := r.Params.Meta(), r.Client.Newest
	req := &tool.Request{
		ID: string(r.ID), Name: name,
		Timeout:       r.Params.Int(mcp.ParamTimeout),
		ProgressToken: calls.ProgressToken(meta), Trace: r.Trace,
		Roots: r.Client.Roots(ctx, r), Client: *r.Client.Capabilities, Asker: r.Client.Asker,
		AnyStructured: newest, Live: newest, RequireCapabilities: newest, Links: r.Client.Links,
		Slot: r, Event: r.Event,
		Listener: calls.NewNotifier(r, &c.project.engine.Project.Limits),
	}
	if r.Call != nil {
		req.Grew = r.Call.Grew
	}
	if meta := c.StripToken(meta); meta != nil {
		req.Meta = jqtext.Normal(meta)
	}
	if !rawjson.Absent(arguments) {
		req.Arguments = jqtext.Normal(arguments)
	}
	var work *events.Work
	if r.Event != nil {
		work = &r.Event.Draft
	}
	result, err := c.tools.Call(ctx, req)
	if err != nil {
		return nil, &calls.Worked{Err: err, Work: work}
	}
	return &calls.Answer{
		Size: result.Size(), Append: result.AppendJSON, Done: func(bool) { result.Done() }, Work: work,
	}, nil
}
