package server

import (
	"context"

	"mcp-bash/pkg/prompt"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry/kinds"
)

// promptMethods are the methods of prompts.
func (s *Server) promptMethods() []*method {
	prompts := &prompt.Prompts{Project: s.project, Find: s.kit.Lookup(kinds.Prompts), Log: s.log}
	list := &lister{catalog: s.kit.Catalog, kind: kinds.Prompts, collection: "prompts", item: prompt.AppendListed}
	return []*method{
		{name: "prompts/list", list: true, handle: func(ctx context.Context, r *request) (*answer, error) { return list.page(ctx, r.params) }},
		{name: "prompts/get", handle: func(ctx context.Context, r *request) (*answer, error) { return s.getPrompt(ctx, r, prompts) }},
	}
}

// getPrompt is prompts/get (tools section 15).
func (s *Server) getPrompt(ctx context.Context, r *request, prompts *prompt.Prompts) (*answer, error) {
	result, err := prompts.Get(ctx, &prompt.Request{
		Name: rawjson.TextOf(r.params, "name"), Arguments: rawjson.Get(r.params, "arguments"),
		Client: *s.session.client.Load(), Asker: questioner{s},
	})
	if err != nil {
		return nil, err
	}
	return &answer{size: result.Size(), append: func(dst []byte) []byte { return result.AppendJSON(dst, nil) }}, nil
}
