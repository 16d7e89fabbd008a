package methods

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/text/strict64"
	"mcp-bash/pkg/wire/mcp"
)

// A list answers one of the list methods from bytes that are prepared in advance. As long as its sources have the same
// states, a page is a copy of a section of these bytes.
type list struct {
	pageOf
	view    string // distinguishes the cursors of a filtered list; "": all items
	sources []source

	mu      sync.Mutex
	states  [maxSources]any // of current
	current prepared
}

// A source has a part of the items of a list.
type source struct {
	// load returns the state of the source. A source has the same items as long as load returns the same value.
	load func(ctx context.Context) (state any, err error)
	// add adds the items of a state to p, and makes the hash of p depend on the state.
	add func(ctx context.Context, p *prepared, state any)
}

const maxSources = 4

type prepared struct {
	hash  string // for cursors
	bytes []byte // the items, each followed by a comma
	ends  []int  // where each item ends, after the comma
}

// add adds items.
func (p *prepared) add(items ...json.RawMessage) {
	for _, item := range items {
		p.bytes = append(append(p.bytes, item...), ',')
		p.ends = append(p.ends, len(p.bytes))
	}
}

// depend makes the hash depend on another value. The first value becomes the hash itself.
func (p *prepared) depend(value string) {
	if p.hash == "" {
		p.hash = value
		return
	}
	sum := sha256.Sum256([]byte(p.hash + "|" + value))
	p.hash = hex.EncodeToString(sum[:])
}

func (l *list) serve(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	p, err := l.prepare(ctx)
	if err != nil {
		return nil, err
	}
	return p.page(r, l.pageOf)
}

func (l *list) prepare(ctx context.Context) (p prepared, err error) {
	var states [maxSources]any
	for i, s := range l.sources {
		if states[i], err = s.load(ctx); err != nil {
			return p, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.states == states {
		return l.current, nil
	}
	for i, s := range l.sources {
		s.add(ctx, &p, states[i])
	}
	if l.view != "" {
		p.depend(l.view)
	}
	l.states, l.current = states, p
	return p, nil
}

// A filter reports whether an item is offered; nil: all are.
type filter = func(ctx context.Context, item json.RawMessage) bool

// An appender appends an item as a list shows it.
type appender = func(dst []byte, item json.RawMessage) []byte

// itemsOf returns the items of a kind. also, if not nil, adds others.
func (l *lists) itemsOf(kind *kinds.Kind, appendItem appender, keep filter,
	also func(p *prepared, all *registry.List, offered []item.Item)) source {
	return source{
		load: func(ctx context.Context) (any, error) {
			list, err := l.project.engine.Catalog.List(ctx, kind)
			if err != nil {
				return nil, kind.Unavailable(err)
			}
			return list, nil
		},
		add: func(ctx context.Context, p *prepared, state any) {
			all := state.(*registry.List)
			var offered []item.Item
			for _, one := range all.Items {
				if keep == nil || keep(ctx, one.JSON) {
					p.bytes = append(appendItem(p.bytes, one.JSON), ',')
					p.ends = append(p.ends, len(p.bytes))
					offered = append(offered, one)
				}
			}
			if p.hash == "" || len(all.Items) > 0 {
				p.depend(all.Hash)
			}
			if also != nil {
				also(p, all, offered)
			}
		},
	}
}

type pageOf struct {
	member string        // the name of the array, also in cursors
	size   int           // items, if the request has no limit
	limit  int           // bytes of a response
	ttl    time.Duration // for how long a client may keep a page
	cached string        // if not "", the result has ttlMs and this cacheScope in every revision
}

// page answers a list request with the page that the request's cursor and limit select.
func (p prepared) page(r *calls.Request, of pageOf) (*calls.Answer, error) {
	cursor, err := cursorOf(&r.Params)
	if err != nil {
		return nil, err
	}
	from := 0
	if cursor != "" {
		if from, err = decodeCursor(cursor, of.member, p.hash); err != nil {
			return nil, err
		}
	}
	size := of.size
	if n := r.Params.Int(mcp.ParamLimit); n > 0 { // P-2000
		size = min(n, project.MaxPage)
	}
	total := len(p.ends)
	from = min(from, total)
	to := p.fit(from, min(from+size, total), of.limit)
	section := p.bytes[p.end(from):p.end(to)]
	return &calls.Answer{Size: len(section) + pageRest, TTL: of.ttl, Append: func(dst []byte, extra mcp.Extra) []byte {
		head := rawjson.Over(dst)
		extra.AppendMembers(head.Object())
		if of.cached != "" {
			appendCaching(head, &extra, of.ttl, of.cached)
		}
		dst = append(head.Name(of.member).Bytes(), '[')
		if len(section) > 0 {
			dst = append(dst, section[:len(section)-1]...)
		}
		b := rawjson.Over(append(dst, `],"_meta":`...))
		b.Object().Name("mcpbash/total").Int(total)
		extra.AppendMeta(b)
		dst = b.End().Bytes()
		if to < total {
			dst = append(dst, `,"nextCursor":`...)
			dst = rawjson.AppendString(dst, encodeCursor(of.member, to, p.hash, time.Now()))
		}
		return append(dst, '}')
	}}, nil
}

// pageRest is the maximum size of a page without its items, in bytes.
const pageRest = 4 << 10

// fit returns the end of a page that begins at from: at most to, and less if the items exceed the limit in bytes. A
// page has at least one item.
func (p *prepared) fit(from, to, limit int) int {
	room := p.end(from) + limit - pageRest
	for to > from+1 && p.end(to) > room {
		to--
	}
	return to
}

// end returns the offset after n items.
func (p *prepared) end(n int) int {
	if n == 0 {
		return 0
	}
	return p.ends[n-1]
}

// lists has the lists for the callers that may use the same items.
type lists struct {
	project    *Project
	caller     *auth.Identity // one of these callers
	permission string         // see auth.Identity.Permission; "": all items

	tools, anySchema              *list // the second one has any schema
	prompts, resources, templates *list

	mu     sync.Mutex
	skills *skills // that are current; nil: not read yet
}

// maxLists is the maximum number of different permissions whose lists are kept.
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
	d := &e.Project.Discovery
	l := &lists{project: p, caller: caller, permission: permission}
	l.tools, l.anySchema = l.newTools(false), l.newTools(true)
	l.prompts = l.newList("prompts", d.PromptsTTL,
		l.itemsOf(kinds.Prompts, prompt.AppendListed, l.keeps(auth.Prompt), nil))
	l.templates = l.newList("resourceTemplates", d.TemplatesTTL,
		l.itemsOf(kinds.Templates, resource.AppendListedTemplate, l.keeps(auth.Resource), nil))
	listed := func(dst []byte, item json.RawMessage) []byte { return resource.AppendListed(dst, e.Project, item) }
	page := func(dst []byte, item json.RawMessage) []byte { return appendPage(dst, item, e.Log) }
	resources := []source{l.itemsOf(kinds.Resources, listed, l.keeps(auth.Resource), nil)}
	if permission == "" {
		resources = append(resources, l.itemsOf(kinds.UIResources, page, nil, nil))
	} else { // keepsPage also depends on the tools
		none := func(context.Context, json.RawMessage) bool { return false }
		resources = append(resources, l.itemsOf(kinds.UIResources, page, l.keepsPage, nil),
			l.itemsOf(kinds.Tools, nil, none, nil))
	}
	if p.skills != nil {
		resources = append(resources, l.skillResources())
	}
	l.resources = l.newList("resources", d.ResourcesTTL, resources...)
	return l
}

func (l *lists) newList(member string, ttl time.Duration, sources ...source) *list {
	own := l.project.engine.Project
	return &list{view: l.permission, sources: sources, pageOf: pageOf{
		member: member, size: own.PageSize(), limit: own.Limits.ListResponse, ttl: ttl,
	}}
}

// permits reports whether the callers may use an item.
func (l *lists) permits(kind auth.ItemKind, name string) bool {
	_, ok := l.caller.Permits(kind, name, l.project.engine.Project.Meta.Scopes)
	return ok
}

func (l *lists) keeps(kind auth.ItemKind) filter {
	if l.permission == "" {
		return nil
	}
	return func(_ context.Context, item json.RawMessage) bool {
		return l.permits(kind, rawjson.TextOf(item, "name"))
	}
}

// keepsPage reports whether the callers may read a page: by its name, or since a tool that they may call links to it.
func (l *lists) keepsPage(ctx context.Context, page json.RawMessage) bool {
	name := rawjson.TextOf(page, "name")
	tools, err := l.project.engine.ToolsOfPage(ctx, name)
	return l.permits(auth.Resource, name) || err == nil &&
		slices.ContainsFunc(tools, func(tool string) bool { return l.permits(auth.Tool, tool) })
}

// newTools returns the list of tools. The server's own tools follow those of the project. If the project has a tool
// of the same name, the server's own is left out.
func (l *lists) newTools(anySchema bool) *list {
	e := l.project.engine
	listed := func(dst []byte, item json.RawMessage) []byte { return tool.AppendListed(dst, item, anySchema) }
	searches := l.permits(auth.Tool, tool.SearchTool) && e.Project.SearchesResults()
	level, keep := e.Level, l.keeps(auth.Tool)
	if level != access.Full {
		keep = func(_ context.Context, item json.RawMessage) bool { // R-213, H-422
			return l.permits(auth.Tool, rawjson.TextOf(item, "name")) && level.Allows(access.LevelOf(item))
		}
	}
	server := func(p *prepared, all *registry.List, offered []item.Item) {
		own := controls(all.Items, offered)
		if searches {
			own = append([]json.RawMessage{tool.SearchListed()}, own...)
		}
		for _, one := range own {
			name := rawjson.TextOf(one, "name")
			if _, replaced := all.Find(name); !replaced {
				p.add(one)
				p.depend(name)
			}
		}
	}
	tools := l.newList("tools", e.Project.Discovery.ToolsTTL, l.itemsOf(kinds.Tools, listed, keep, server))
	if level != access.Full {
		tools.view += string(level)
	}
	return tools
}

// encodeCursor returns a cursor: the place where the next page of a list begins.
func encodeCursor(collection string, offset int, hash string, now time.Time) string {
	var b rawjson.Builder
	b.Object().Name("ver").Int(1).Name("collection").String(collection).Name("offset").Int(offset).
		Name("hash").String(hash).Name("timestamp").String(now.UTC().Format("2006-01-02T15:04:05Z")).End()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

var errCursor = mcp.Errorf(mcp.CodeInvalidParams, "Invalid cursor")

// maxCursor is the maximum length of a cursor, in bytes.
const maxCursor = 4096

// decodeCursor returns the offset of a cursor, if the cursor belongs to this list in this state.
func decodeCursor(cursor, collection, hash string) (offset int, err *mcp.Error) {
	if len(cursor) > maxCursor {
		return 0, errCursor
	}
	text, decodeErr := strict64.URL(strings.TrimRight(cursor, "="))
	if decodeErr != nil {
		return 0, errCursor
	}
	v, checkErr := rawjson.Check(text)
	if checkErr != nil || rawjson.TextOf(v, "collection") != collection || rawjson.TextOf(v, "hash") != hash {
		return 0, errCursor
	}
	offset, atoiErr := strconv.Atoi(string(rawjson.Get(v, "offset")))
	if atoiErr != nil || offset < 0 {
		return 0, errCursor
	}
	return offset, nil
}

// cursorOf returns the cursor of a list request, or "". nextCursor is an alias.
func cursorOf(params *mcp.Params) (string, *mcp.Error) {
	v := params.Get(mcp.ParamCursor)
	if v == nil {
		v = params.Get(mcp.ParamNextCursor)
	}
	if rawjson.Absent(v) {
		return "", nil
	}
	s, ok := rawjson.Text(v)
	if !ok {
		return "", errCursor
	}
	return s, nil
}
