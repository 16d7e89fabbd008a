package server

import (
	"context"

	"mcp-bash/pkg/completion"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry"
)

// completionMethods are the methods of completions.
func (s *Server) completionMethods() []*method {
	completions := completion.New(completion.Config{
		Project: s.project, Registered: s.engine.Lookup(registry.Completions), Prompt: s.engine.Lookup(registry.Prompts),
		Resource: s.engine.Lookup(registry.Resources), NameOf: s.resourceName,
		Runner: s.runner, Common: s.engine.Env, State: s.state, Log: s.log,
	})
	return []*method{{name: "completion/complete", handle: func(ctx context.Context, r *request) (*answer, error) {
		return complete(ctx, r, completions)
	}}}
}

// resourceName is the name of the resource with a URI, or of the template that
// is written so, "" when there is neither (T-602).
func (s *Server) resourceName(ctx context.Context, uri string) (string, error) {
	item, err := s.engine.ResourceByURI(ctx, uri)
	if item == nil && err == nil {
		item, err = s.engine.TemplateByText(ctx, uri)
	}
	return rawjson.TextOf(item, "name"), err
}

// complete is completion/complete (tools section 16).
func complete(ctx context.Context, r *request, completions *completion.Completions) (*answer, error) {
	result, err := completions.Complete(ctx, &completion.Request{
		Ref: rawjson.Get(r.params, "ref"), Argument: rawjson.Get(r.params, "argument"),
		Arguments: rawjson.Path(r.params, "context", "arguments"),
		Limit:     rawjson.PositiveInt(rawjson.Get(r.params, "limit")), Cursor: rawjson.Get(r.params, "cursor"),
	})
	if err != nil {
		return nil, err
	}
	return &answer{size: result.Size(), append: func(dst []byte) []byte { return result.AppendJSON(dst, nil) }}, nil
}
