package methods

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// lists has the lists for the callers that may use the same items (H-422).
type lists struct {
	project    *Project
	caller     *auth.Identity // one of these callers
	permission string         // see auth.Identity.Permission; "": all items

	tools, anySchema              *list // the second one has any schema (M-34)
	prompts, resources, templates *list

	mu     sync.Mutex
	skills *skills // that are current; nil: not read yet
}

// maxLists is the number of different permissions whose lists are kept.
const maxLists = 64

func (p *Project) listsFor(caller *auth.Identity) *lists {
	permission := caller.Permission(p.engine.Project.Meta.Scopes)
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.lists, func(l *lists) bool { return l.permission == permission })
	if at < 0 {
		if at = len(p.lists); at == maxLists {
			at--
			p.lists = p.lists[:at]
		}
		p.lists = append(p.lists, p.newLists(caller, permission))
	}
	found := p.lists[at]
	p.lists = slices.Insert(slices.Delete(p.lists, at, at+1), 0, found)
	return found
}

func (p *Project) newLists(caller *auth.Identity, permission string) *lists {
	e := p.engine
	d, size, limit := &e.Project.Discovery, e.Project.PageSize(), e.Project.Limits.ListResponse
	l := &lists{project: p, caller: caller, permission: permission}
	l.tools, l.anySchema = l.newTools(false), l.newTools(true)
	l.prompts = &list{
		catalog: e.Catalog, kind: kinds.Prompts, member: "prompts", item: prompt.AppendListed, ttl: d.PromptsTTL,
		size: size, limit: limit,
	}
	l.resources = &list{
		catalog: e.Catalog, kind: kinds.Resources, member: "resources", ttl: d.ResourcesTTL, size: size,
		limit: limit,
		item:  func(dst []byte, item json.RawMessage) []byte { return resource.AppendListed(dst, e.Project, item) },
		more:  kinds.UIResources, moreBy: kinds.Tools,
		moreItem: func(dst []byte, item json.RawMessage) []byte { return appendPage(dst, item, e.Log) },
	}
	l.templates = &list{
		catalog: e.Catalog, kind: kinds.Templates, member: "resourceTemplates", item: resource.AppendListedTemplate,
		ttl: d.TemplatesTTL, size: size, limit: limit,
	}
	if p.skills != nil {
		l.resources.also = l.skillResources
	}
	if permission != "" {
		l.prompts.keep = l.keeps(auth.Prompt)
		l.resources.keep, l.resources.keepMore = l.keeps(auth.Resource), l.keepsPage
		l.templates.keep = l.keeps(auth.Resource)
		l.prompts.view, l.resources.view, l.templates.view = permission, permission, permission
	}
	return l
}

// permits reports whether the callers may use an item.
func (l *lists) permits(kind auth.ItemKind, name string) bool {
	_, ok := l.caller.Permits(kind, name, l.project.engine.Project.Meta.Scopes)
	return ok
}

func (l *lists) keeps(kind auth.ItemKind) func(json.RawMessage) bool {
	return func(item json.RawMessage) bool { return l.permits(kind, rawjson.TextOf(item, "name")) }
}

// keepsPage reports whether the callers may read a page: by its name, or since a tool that they may call links to it.
func (l *lists) keepsPage(ctx context.Context, page json.RawMessage) bool {
	name := rawjson.TextOf(page, "name")
	tools, err := l.project.engine.ToolsOfPage(ctx, name)
	return l.permits(auth.Resource, name) || err == nil &&
		slices.ContainsFunc(tools, func(tool string) bool { return l.permits(auth.Tool, tool) })
}

func (l *lists) newTools(anySchema bool) *list {
	e := l.project.engine
	own := e.Project
	tools := &list{
		catalog: e.Catalog, kind: kinds.Tools, member: "tools", ttl: own.Discovery.ToolsTTL,
		size: own.PageSize(), limit: own.Limits.ListResponse,
		item: func(dst []byte, item json.RawMessage) []byte { return tool.AppendListed(dst, item, anySchema) },
	}
	searches := l.permits(auth.Tool, tool.SearchTool) && own.SearchesResults()
	tools.server = func(all, offered []item.Item) (list []json.RawMessage) {
		if searches {
			list = append(list, tool.SearchListed())
		}
		return append(list, controls(all, offered)...)
	}
	level := e.Level
	if level == access.Full && l.permission == "" {
		return tools
	}
	permitted := l.keeps(auth.Tool)
	tools.keep = func(item json.RawMessage) bool { // R-213, H-422
		return permitted(item) && level.Allows(access.LevelOf(item))
	}
	if tools.view = l.permission; level != access.Full {
		tools.view += string(level)
	}
	return tools
}
