package server

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/resource"
)

// resourceMethods are the methods of resources, and what serves them.
func (s *Server) resourceMethods() []*method {
	p := s.project
	pages := s.kit.Lookup(kinds.UIResources)
	config := s.kit.ResourceConfig()
	config.FindName, config.UIMeta = firstOf(s.kit.Lookup(kinds.Resources), pages), pageMeta(pages)
	if p.Fetching.UseRoots {
		config.Builtin.MoreRoots = s.rootPaths
	}
	s.resources = resource.New(config)
	s.subscriptions = newSubscriptions(s)
	list := &lister{catalog: s.kit.Catalog, kind: kinds.Resources, collection: "resources", item: func(dst []byte, item json.RawMessage) []byte {
		return resource.AppendListed(dst, p, item)
	}, more: kinds.UIResources, moreItem: s.appendPage}
	templates := &lister{catalog: s.kit.Catalog, kind: kinds.Templates, collection: "resourceTemplates", item: resource.AppendListedTemplate}
	return []*method{
		{name: "resources/list", list: true, handle: func(ctx context.Context, r *request) (*answer, error) { return list.page(ctx, r.params) }},
		{name: "resources/templates/list", list: true, handle: func(ctx context.Context, r *request) (*answer, error) { return templates.page(ctx, r.params) }},
		{name: "resources/read", handle: s.readResource, most: readLimit(p.Limits.Response, p.MaxResource)},
		{name: "resources/subscribe", handle: s.subscriptions.subscribe, limit: func() int { return p.Fetching.SubscribeTimeout }},
		{name: "resources/unsubscribe", handle: s.subscriptions.unsubscribe},
	}
}

// readLimit is the longest response to a read, in bytes: a blob within its own
// limit fits always (RES-47).
func readLimit(response, resource int) int { return max(response, resource/3*4+64<<10) }

// readResource is resources/read (resources section 4).
func (s *Server) readResource(ctx context.Context, r *request) (*answer, error) {
	req, err := resourceRequest(r.params)
	if err != nil {
		return nil, err
	}
	content, err := s.resources.Read(ctx, req)
	if err != nil {
		return nil, err
	}
	return &answer{size: content.Size(), append: func(dst []byte) []byte { return content.AppendJSON(dst, nil) }}, nil
}

// resourceRequest reads which resource is meant (RES-30).
func resourceRequest(params json.RawMessage) (resource.Request, error) {
	req := resource.Request{Bounded: rawjson.PositiveInt(rawjson.Get(params, "timeoutSecs")) > 0}
	for _, m := range []struct {
		name string
		text *string
	}{{"name", &req.Name}, {"uri", &req.URI}} {
		v := rawjson.Get(params, m.name)
		if rawjson.Absent(v) {
			continue
		}
		text, ok := rawjson.Text(v)
		if !ok {
			return req, errNoResource
		}
		*m.text = text
	}
	if req.Name == "" && req.URI == "" {
		return req, errNoResource
	}
	return req, nil
}

var errNoResource = mcp.Errorf(mcp.CodeInvalidParams, "Resource name or uri required")

// rootPaths are the roots in force, for the file provider (RES-91).
func (s *Server) rootPaths() []string {
	var paths []string
	for _, root := range s.roots.current(s.base) {
		paths = append(paths, root.Path)
	}
	return paths
}
