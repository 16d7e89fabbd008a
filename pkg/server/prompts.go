package server

import (
	"context"

	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/kinds"
)

// prompts serves the methods of prompts.
type prompts struct {
	*prompt.Prompts
	list *lister
}

func newPrompts(e *engine.Engine) *prompts {
	return &prompts{
		&prompt.Prompts{Project: e.Project, Find: e.Lookup(kinds.Prompts), Log: e.Log},
		&lister{
			catalog: e.Catalog, kind: kinds.Prompts, collection: "prompts", item: prompt.AppendListed,
			ttl: e.Project.Discovery.PromptsTTL, most: e.Project.Limits.ListResponse,
		},
	}
}

func (p *prompts) methods() []*method {
	return []*method{
		{name: "prompts/list", list: true, scope: "public", handle: p.list.serve},
		{name: "prompts/get", handle: p.get, asks: true},
	}
}

// get answers prompts/get (tools section 15).
func (p *prompts) get(ctx context.Context, r *request) (*answer, error) {
	result, err := p.Get(ctx, &prompt.Request{
		Name: rawjson.TextOf(r.params, "name"), Arguments: rawjson.Get(r.params, "arguments"),
		Client: *r.peer.capabilities, Asker: r.peer.asker,
	})
	if err != nil {
		return nil, err
	}
	return &answer{size: result.Size(), append: result.AppendJSON}, nil
}
