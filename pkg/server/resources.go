package server

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"time"

	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider/builtin"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// resources serves the methods of resources.
type resources struct {
	*resource.Resources
	list, templates *lister
	subscriptions   *subscriptions
	limits          *project.Limits
}

func newResources(ctx context.Context, e *engine.Engine, l *logger, roots *clientRoots) *resources {
	p := e.Project
	pages := e.Lookup(kinds.UIResources)
	config := e.ResourceConfig()
	config.New = builtin.New
	config.FindName, config.UIMeta = firstOf(e.Lookup(kinds.Resources), pages), pageMeta(pages)
	if p.Fetching.UseRoots { // RES-91
		config.Builtin.MoreRoots = func() []string { return roots.paths(ctx) }
	}
	r := &resources{Resources: resource.New(config), limits: &p.Limits}
	r.list = &lister{
		catalog: e.Catalog, kind: kinds.Resources, collection: "resources", ttl: p.Discovery.ResourcesTTL,
		most:     p.Limits.ListResponse,
		item:     func(dst []byte, item json.RawMessage) []byte { return resource.AppendListed(dst, p, item) },
		more:     kinds.UIResources,
		moreItem: func(dst []byte, item json.RawMessage) []byte { return appendPage(dst, item, l.log) },
	}
	r.templates = &lister{
		catalog: e.Catalog, kind: kinds.Templates, collection: "resourceTemplates", ttl: p.Discovery.TemplatesTTL,
		most: p.Limits.ListResponse, item: resource.AppendListedTemplate,
	}
	r.subscriptions = &subscriptions{
		ctx: ctx, resources: r.Resources, fetching: &p.Fetching, session: l.session, client: l.client, log: l.log,
		byID: map[string]*subscription{}, byURI: map[string]*watched{},
		reading: map[*request]uint64{}, unsubscribed: map[uint64]uint64{}, seed: maphash.MakeSeed(),
	}
	return r
}

func (r *resources) methods() []*method {
	return []*method{
		{name: "resources/list", list: true, scope: "public", handle: r.list.serve},
		{name: "resources/templates/list", list: true, scope: "public", handle: r.templates.serve},
		{name: "resources/read", scope: "private", handle: r.read, most: r.limits.Read},
	}
}

// ttl is for how long a client may keep what it has read (M-31).
func (r *resources) ttl(c *resource.Content) time.Duration {
	if c.Local() {
		return r.subscriptions.fetching.Poll
	}
	return 0
}

// read answers resources/read (resources section 4).
func (r *resources) read(ctx context.Context, request *request) (*answer, error) {
	req, err := resourceRequest(request.params)
	if err != nil {
		return nil, err
	}
	content, err := r.Read(ctx, req)
	if err != nil {
		return nil, err
	}
	return &answer{size: content.Size(), append: content.AppendJSON, ttl: r.ttl(content)}, nil
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
