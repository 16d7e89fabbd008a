package server

import (
	"context"

	"mcp-bash/pkg/completion"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry/kinds"
)

// completionMethods are the methods of completions.
func (s *Server) completionMethods() []*method {
	completions := completion.New(completion.Config{
		Project: s.project, Registered: s.kit.Lookup(kinds.Completions), Prompt: s.kit.Lookup(kinds.Prompts),
		Resource: s.kit.Lookup(kinds.Resources), NameOf: s.resourceName,
		Runner: s.runner, Common: s.kit.Env, State: s.state, Log: s.log,
	})
	return []*method{{name: "completion/complete", handle: func(ctx context.Context, r *request) (*answer, error) {
		return complete(ctx, r, completions)
	}}}
}

// resourceName is the name of the resource with a URI, or of the template that
// is written so, "" when there is neither (T-602).
func (s *Server) resourceName(ctx context.Context, uri string) (string, error) {
	item, err := s.kit.ResourceByURI(ctx, uri)
	if item == nil && err == nil {
		item, err = s.kit.TemplateByText(ctx, uri)
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
