package server

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/jq"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// tools serves the methods of tools.
type tools struct {
	calls  *tool.Tools
	list   *lister
	any    *lister // for clients that take any output schema (M-34)
	limits *project.Limits
	wait   func() int // the time that listing has, in seconds
	client *client
	token  *tokenGuard
}

func newTools(e *engine.Engine, c *client, token *tokenGuard) *tools {
	p := e.Project
	list := func(anySchema bool) *lister {
		l := &lister{
			catalog: e.Catalog, kind: kinds.Tools, collection: "tools", ttl: p.Discovery.ToolsTTL, most: p.Limits.ListResponse,
			item: func(dst []byte, item json.RawMessage) []byte { return tool.AppendListed(dst, item, anySchema) },
		}
		if level := e.Level; level != access.Full {
			l.keep = func(item json.RawMessage) bool { return level.Allows(access.LevelOf(item)) }
			l.view = string(level)
		}
		return l
	}
	return &tools{
		calls: e.Tools, list: list(false), any: list(true), limits: &p.Limits, wait: func() int { return p.Calls.Timeout },
		client: c, token: token,
	}
}

func (t *tools) methods() []*method {
	return []*method{
		{name: "tools/list", list: true, scope: "public", handle: t.serveList, limit: t.wait},
		{name: "tools/call", handle: t.call, ownClock: true, asks: true, edits: true},
	}
}

func (t *tools) serveList(ctx context.Context, r *request) (*answer, error) {
	if r.peer.newest {
		return t.any.serve(ctx, r)
	}
	return t.list.serve(ctx, r)
}

// call answers tools/call (tools section 2).
func (t *tools) call(ctx context.Context, r *request) (*answer, error) {
	name, _ := rawjson.Text(rawjson.Get(r.params, "name"))
	if name == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Tool name is required") // T-2
	}
	arguments := rawjson.Get(r.params, "arguments")
	if !rawjson.Absent(arguments) && rawjson.KindOf(arguments) != rawjson.Object {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid arguments JSON") // T-3
	}
	req := &tool.Request{
		ID: string(r.id), Name: name,
		Timeout: rawjson.PositiveInt(rawjson.Get(r.params, "timeoutSecs")), ProgressToken: progressToken(r.meta),
		Roots: r.peer.roots(ctx), Grew: r.grew, Client: *r.peer.capabilities, Asker: r.peer.asker,
		AnyStructured: r.peer.newest, Live: r.peer.newest, RequireCapabilities: r.peer.newest,
	}
	if meta := t.token.strip(r.meta); meta != nil {
		req.Meta = jq.Normal(meta)
	}
	if !rawjson.Absent(arguments) {
		req.Arguments = jq.Normal(arguments)
	}
	req.Listener = &notifier{
		client: t.client, request: r,
		progress: newThrottle(t.limits.Progress), logs: newThrottle(t.limits.Logs),
	}
	result, err := t.calls.Call(ctx, req)
	if err != nil {
		return nil, err
	}
	return &answer{
		size: result.Size(), done: func(bool) { result.Done() },
		append: result.AppendJSON,
	}, nil
}
