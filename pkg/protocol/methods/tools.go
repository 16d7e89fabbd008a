package methods

import (
	"context"

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
	name := rawjson.TextOf(r.Params, "name")
	return name != tool.SearchTool && !tasks.IsControl(name)
}

// callTool answers tools/call (tools section 2).
func (c *Client) callTool(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	name, _ := rawjson.Text(rawjson.Get(r.Params, "name"))
	if name == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Tool name is required") // T-2
	}
	arguments := rawjson.Get(r.Params, "arguments")
	if !rawjson.Absent(arguments) && rawjson.KindOf(arguments) != rawjson.Object {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid arguments JSON") // T-3
	}
	newest := r.Client.Newest
	req := &tool.Request{
		ID: string(r.ID), Name: name,
		Timeout:       rawjson.PositiveInt(rawjson.Get(r.Params, "timeoutSecs")),
		ProgressToken: calls.ProgressToken(r.Meta), Trace: r.Trace,
		Roots: r.Client.Roots(ctx, r), Client: *r.Client.Capabilities, Asker: r.Client.Asker,
		AnyStructured: newest, Live: newest, RequireCapabilities: newest, Links: r.Client.Links,
		Slot:     r,
		Listener: calls.NewNotifier(r, &c.project.engine.Project.Limits),
	}
	if r.Call != nil {
		req.Grew = r.Call.Grew
	}
	if meta := c.StripToken(r.Meta); meta != nil {
		req.Meta = jqtext.Normal(meta)
	}
	if !rawjson.Absent(arguments) {
		req.Arguments = jqtext.Normal(arguments)
	}
	result, err := c.tools.Call(ctx, req)
	if err != nil {
		return nil, err
	}
	return &calls.Answer{Size: result.Size(), Append: result.AppendJSON, Done: func(bool) { result.Done() }}, nil
}
