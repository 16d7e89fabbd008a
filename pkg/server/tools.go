package server

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/jq"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/tool"
)

// toolMethods are the methods of tools.
func (s *Server) toolMethods() []*method {
	list := &lister{catalog: s.kit.Catalog, kind: kinds.Tools, collection: "tools", item: func(dst []byte, item json.RawMessage) []byte {
		return tool.AppendListed(dst, item, false)
	}}
	if level := s.kit.Level; level != access.Full {
		list.keep = func(item json.RawMessage) bool { return level.Allows(access.LevelOf(item)) }
		list.view = string(level)
	}
	return []*method{
		{
			name: "tools/list", list: true,
			handle: func(ctx context.Context, r *request) (*answer, error) { return list.page(ctx, r.params) },
			limit:  func() int { return s.project.Calls.Timeout },
		},
		{name: "tools/call", handle: s.callTool, ownClock: true},
	}
}

// callTool is tools/call (tools section 2).
func (s *Server) callTool(ctx context.Context, r *request) (*answer, error) {
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
		Roots: s.roots.current(ctx), Client: *s.session.client.Load(), Asker: questioner{s},
	}
	if meta := s.token.strip(r.meta); meta != nil {
		req.Meta = jq.Normal(meta)
	}
	if !rawjson.Absent(arguments) {
		req.Arguments = jq.Normal(arguments)
	}
	limits := &s.project.Limits
	req.Listener = &notifier{
		server: s, request: r, token: req.ProgressToken, level: s.session.threshold,
		progress: newThrottle(limits.Progress), logs: newThrottle(limits.Logs),
	}
	result, err := s.kit.Tools.Call(ctx, req)
	if err != nil {
		return nil, err
	}
	return &answer{
		size: result.Size(), done: func(bool) { result.Done() },
		append: func(dst []byte) []byte { return result.AppendJSON(dst, tool.Extra{}) },
	}, nil
}

// progressToken returns the token of a request, nil when it has none: a string
// or an integer (P-1400).
func progressToken(meta json.RawMessage) json.RawMessage {
	token := rawjson.Get(meta, "progressToken")
	switch rawjson.KindOf(token) {
	case rawjson.String, rawjson.Number:
		return token
	}
	return nil
}
