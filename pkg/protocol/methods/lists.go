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

// A list answers one of the list methods from bytes that are prepared in advance. As long as the
// registry returns the same list, a page is a copy of a section of these bytes.
type list struct {
	catalog *registry.Catalog
	kind    *kinds.Kind
	member  string // the name of the array, also in cursors (P-2002)
	item    func(dst []byte, item json.RawMessage) []byte
	keep    func(item json.RawMessage) bool // whether an item is offered; nil: all are
	ttl     time.Duration                   // for how long a client may keep a page (M-31)
	size    int                             // items of a page, if the request has no limit
	limit   int                             // bytes of a response
	view    string                          // distinguishes the cursors of a filtered list; "": all items

	// server returns the server's own items. An item of the project with the same name replaces one. nil: none.
	server func(all, offered []item.Item) []json.RawMessage

	// also returns further items, and a hash that differs between different ones; nil: none.
	also func() (items []json.RawMessage, hash string, err error)

	more     *kinds.Kind // the kind of the items that follow; nil: none
	moreItem func(dst []byte, item json.RawMessage) []byte
	keepMore func(ctx context.Context, item json.RawMessage) bool // whether one of them is offered; nil: all are
	moreBy   *kinds.Kind                                          // the kind of the items by which keepMore decides

	mu      sync.Mutex
	of      *registry.List
	andOf   *registry.List // of more
	byOf    *registry.List // of moreBy
	alsoOf  string         // the hash of also
	current prepared
}

type prepared struct {
	hash  string // for cursors
	bytes []byte // the items, each followed by a comma
	ends  []int  // where each item ends, after the comma
}

func (l *list) prepare(ctx context.Context) (prepared, *mcp.Error) {
	items, err := l.catalog.List(ctx, l.kind)
	if err != nil {
		return prepared{}, l.kind.Unavailable(err)
	}
	more, by := &noItems, &noItems
	if l.more != nil {
		if more, err = l.catalog.List(ctx, l.more); err != nil {
			return prepared{}, l.more.Unavailable(err)
		}
	}
	if l.keepMore != nil {
		if by, err = l.catalog.List(ctx, l.moreBy); err != nil {
			return prepared{}, l.moreBy.Unavailable(err)
		}
	}
	var also []json.RawMessage
	alsoOf := ""
	if l.also != nil {
		if also, alsoOf, err = l.also(); err != nil {
			return prepared{}, mcp.Errorf(mcp.CodeInternal, "Unable to load %s", l.member).WithReason(err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == items && l.andOf == more && l.byOf == by && l.alsoOf == alsoOf {
		return l.current, nil
	}
	p := prepared{hash: items.Hash, ends: make([]int, 0, len(items.Items)+len(more.Items))}
	offered := items.Items
	if l.keep != nil {
		offered = slices.DeleteFunc(slices.Clone(offered), func(i item.Item) bool { return !l.keep(i.JSON) })
	}
	for _, item := range offered {
		p.bytes = append(l.item(p.bytes, item.JSON), ',')
		p.ends = append(p.ends, len(p.bytes))
	}
	for _, item := range l.own(items.Items, offered) {
		name := rawjson.TextOf(item, "name")
		if _, replaced := items.Find(name); replaced {
			continue
		}
		p.bytes = append(append(p.bytes, item...), ',')
		p.ends = append(p.ends, len(p.bytes))
		p.hash = hashOf(p.hash, name)
	}
	for _, item := range more.Items {
		if l.keepMore != nil && !l.keepMore(ctx, item.JSON) {
			continue
		}
		p.bytes = append(l.moreItem(p.bytes, item.JSON), ',')
		p.ends = append(p.ends, len(p.bytes))
	}
	for _, item := range also {
		p.bytes = append(append(p.bytes, item...), ',')
		p.ends = append(p.ends, len(p.bytes))
	}
	if len(also) > 0 {
		p.hash = hashOf(p.hash, alsoOf)
	}
	if len(more.Items) > 0 {
		p.hash = hashOf(p.hash, more.Hash)
	}
	if by != &noItems {
		p.hash = hashOf(p.hash, by.Hash)
	}
	if l.view != "" {
		p.hash = hashOf(p.hash, l.view)
	}
	l.of, l.andOf, l.byOf, l.alsoOf, l.current = items, more, by, alsoOf, p
	return p, nil
}

// own returns the server's own items.
func (l *list) own(all, offered []item.Item) []json.RawMessage {
	if l.server == nil {
		return nil
	}
	return l.server(all, offered)
}

// noItems is the second list of a list without one.
var noItems registry.List

// hashOf returns the hash of a list that depends on two values.
func hashOf(hash, other string) string {
	sum := sha256.Sum256([]byte(hash + "|" + other))
	return hex.EncodeToString(sum[:])
}

func (l *list) serve(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	p, err := l.prepare(ctx)
	if err != nil {
		return nil, err
	}
	return p.page(r, pageOf{member: l.member, size: l.size, limit: l.limit, ttl: l.ttl})
}

type pageOf struct {
	member string
	size   int // items, if the request has no limit
	limit  int // bytes of a response
	ttl    time.Duration
	cached string // if not "", the result has ttlMs and this cacheScope in every revision
}

// page answers a list request with a page (P-2000, P-2001).
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
	total := len(p.ends)
	from = min(from, total)
	to := p.fit(from, min(from+pageSize(&r.Params, of.size), total), of.limit)
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

// pageRest is more than a page contains next to its items, in bytes.
const pageRest = 4 << 10

// fit returns the end of a page that begins at from: at most to, and less if the items exceed
// the limit in bytes (M-35). A page has at least one item.
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

// encodeCursor returns a cursor: the place where the next page of a list begins (P-2002).
func encodeCursor(collection string, offset int, hash string, now time.Time) string {
	var b rawjson.Builder
	b.Object().Name("ver").Int(1).Name("collection").String(collection).Name("offset").Int(offset).
		Name("hash").String(hash).Name("timestamp").String(now.UTC().Format("2006-01-02T15:04:05Z")).End()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

var errCursor = mcp.Errorf(mcp.CodeInvalidParams, "Invalid cursor")

// maxCursor is the maximum length of a cursor, in bytes.
const maxCursor = 4096

// decodeCursor returns the offset of a cursor, if the cursor belongs to this list in this state
// (P-2003).
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

// cursorOf returns the cursor of a list request, or "". nextCursor is an alias (P-2000).
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

// pageSize returns the number of items that a request asks for, or usual (P-2000).
func pageSize(params *mcp.Params, usual int) int {
	if n := params.Int(mcp.ParamLimit); n > 0 {
		return min(n, project.MaxPage)
	}
	return usual
}
