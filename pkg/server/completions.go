package server

import (
	"context"

	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/completion"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/kinds"
)

// completions serves completion/complete.
type completions struct{ *completion.Completions }

func newCompletions(e *engine.Engine) completions {
	return completions{completion.New(completion.Config{
		Project: e.Project, Registered: e.Lookup(kinds.Completions), Prompt: e.Lookup(kinds.Prompts),
		Resource: e.Lookup(kinds.Resources), Referred: e.Referred,
		Runner: e.Runner, Sandbox: e.Sandbox, Common: e.Env, State: e.State, Log: e.Log,
	})}
}

func (c completions) methods() []*method {
	return []*method{{name: "completion/complete", handle: c.complete}}
}

// complete answers completion/complete (tools section 16).
func (c completions) complete(ctx context.Context, r *request) (*answer, error) {
	result, err := c.Complete(ctx, &completion.Request{
		Ref: rawjson.Get(r.params, "ref"), Argument: rawjson.Get(r.params, "argument"),
		Arguments: rawjson.Path(r.params, "context", "arguments"),
		Limit:     rawjson.PositiveInt(rawjson.Get(r.params, "limit")), Cursor: rawjson.Get(r.params, "cursor"),
	})
	if err != nil {
		return nil, err
	}
	return &answer{size: result.Size(), append: result.AppendJSON}, nil
}
