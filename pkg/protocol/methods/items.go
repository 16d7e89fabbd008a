package methods

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/feature/completion"
	"mcp-bash/pkg/feature/mcpapp"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/feature/skill"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/calls/tasks"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/provider/ui"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

func (c *Client) listTools(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	if r.Client.Newest {
		return c.listed.anySchema.serve(ctx, r)
	}
	return c.listed.tools.serve(ctx, r)
}

// startsScript reports whether a call of a tool starts a script. If the server has its own tool of this name, the
// call takes its slot later.
func startsScript(r *calls.Request) bool {
	name := r.Params.Text(mcp.ParamName)
	return name != tool.SearchTool && !tasks.IsControl(name)
}

// callTool answers tools/call (tools section 2).
func (c *Client) callTool(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	name := r.Params.Text(mcp.ParamName)
	if name == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Tool name is required") // T-2
	}
	arguments := r.Params.Get(mcp.ParamArguments)
	if !rawjson.Absent(arguments) && rawjson.KindOf(arguments) != rawjson.Object {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid arguments JSON") // T-3
	}
	meta, newest := r.Params.Meta(), r.Client.Newest
	req := &tool.Request{
		ID: string(r.ID), Name: name,
		Timeout:       r.Params.Int(mcp.ParamTimeout),
		ProgressToken: calls.ProgressToken(meta), Trace: r.Trace,
		Roots: r.Client.Roots(ctx, r), Client: *r.Client.Capabilities, Asker: r.Client.Asker,
		AnyStructured: newest, Live: newest, RequireCapabilities: newest, Links: r.Client.Links,
		Slot: r, Event: r.Event,
		Listener: calls.NewNotifier(r, &c.project.engine.Project.Limits),
	}
	if r.Call != nil {
		req.Grew = r.Call.Grew
	}
	if meta := c.StripToken(meta); meta != nil {
		req.Meta = jqtext.Normal(meta)
	}
	if !rawjson.Absent(arguments) {
		req.Arguments = jqtext.Normal(arguments)
	}
	var work *events.Work
	if r.Event != nil {
		work, req.Started = &r.Event.Draft, r.PrepareEvent
	}
	result, err := c.tools.Call(ctx, req)
	if err != nil {
		return &calls.Answer{Work: work}, err
	}
	return &calls.Answer{
		Size: result.Size(), Append: result.AppendJSON, Done: func(bool) { result.Done() }, Work: work,
	}, nil
}

// LongRunning returns how calls of a tool go on after their requests, nil for all other tools.
func (c *Client) LongRunning(ctx context.Context, name string) *tasks.Tool {
	e := c.project.engine
	long, err := e.LongRunning(ctx)
	if err != nil || long == nil { // the call reports the error
		return nil
	}
	declared, ok := long[name]
	control := tasks.IsControl(name)
	if !ok && !control {
		return nil
	}
	items, err := e.Catalog.List(ctx, kinds.Tools)
	if err != nil {
		return nil
	}
	switch taken := slices.ContainsFunc(items.Items, isControl); {
	case !control || taken && ok:
		return &tasks.Tool{LongRunning: declared, NoControl: taken}
	case taken:
		return nil
	}
	return &tasks.Tool{Control: true}
}

func isControl(i item.Item) bool { return tasks.IsControl(i.Name) }

// controls returns the server's own tools for tasks, if the list has long-running tools.
func controls(all, offered []item.Item) []json.RawMessage {
	long := slices.ContainsFunc(offered, func(i item.Item) bool {
		_, ok := tool.ParseLongRunning(i.JSON)
		return ok
	})
	if !long || slices.ContainsFunc(all, isControl) {
		return nil
	}
	return tasks.Controls[:]
}

// getPrompt answers prompts/get (tools section 15).
func (c *Client) getPrompt(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	return answerOf(c.prompts.Get(ctx, &prompt.Request{
		Name: r.Params.Text(mcp.ParamName), Arguments: r.Params.Get(mcp.ParamArguments),
		Client: *r.Client.Capabilities, Asker: r.Client.Asker,
	}))
}

// answerOf returns the answer with the result of a feature, or the error.
func answerOf[R interface {
	Size() int
	AppendJSON(dst []byte, extra mcp.Extra) []byte
}](result R, err error) (*calls.Answer, error) {
	if err != nil {
		return nil, err
	}
	return &calls.Answer{Size: result.Size(), Append: result.AppendJSON}, nil
}

// promptAsks reports whether a prompt asks the client for missing arguments.
func (c *Client) promptAsks(r *calls.Request) bool {
	return r.Client.Capabilities.ElicitForm && c.prompts.Asks(r.Context, r.Params.Text(mcp.ParamName))
}

// completeArgument answers completion/complete (tools section 16).
func (c *Client) completeArgument(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	return answerOf(c.complete.Complete(ctx, &completion.Request{
		Ref: r.Params.Get(mcp.ParamRef), Argument: r.Params.Get(mcp.ParamArgument),
		Arguments: rawjson.Get(r.Params.Get(mcp.ParamContext), "arguments"),
		Limit:     r.Params.Int(mcp.ParamLimit), Cursor: r.Params.Get(mcp.ParamCursor), Slot: r,
	}))
}

// readResource answers resources/read (resources section 4).
func (c *Client) readResource(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	req, err := ResourceRequest(&r.Params)
	if err != nil {
		return nil, err
	}
	if results.Owns(req.URI) {
		return answerOf(c.results.Read(req.URI))
	}
	if req.Slot = r; c.project.engine.Project.Fetching.UseRoots {
		r.Client.Roots(ctx, r) // the provider asks for them later
	}
	content, err := c.Resources.Read(ctx, req)
	answer, err := answerOf(content, err)
	if err == nil && content.Local() { // M-31
		answer.TTL = c.project.engine.Project.Fetching.Poll
	}
	return answer, err
}

// ResourceRequest reads the name and the URI of a resource from parameters.
func ResourceRequest(params *mcp.Params) (resource.Request, error) {
	req := resource.Request{Bounded: params.Int(mcp.ParamTimeout) > 0}
	for _, m := range []struct {
		param mcp.Param
		text  *string
	}{{mcp.ParamName, &req.Name}, {mcp.ParamURI, &req.URI}} {
		v := params.Get(m.param)
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

// appendPage appends a page in the form of resources/list. It is called once for each state of
// the list, so each warning is logged once.
func appendPage(dst []byte, entry json.RawMessage, log mcp.LogFunc) []byte {
	dst, warnings := mcpapp.AppendListed(dst, entry)
	for _, text := range warnings {
		log(mcp.Warning, session.LogPages, rawjson.TextOf(entry, "path")+"/ui.meta.json: meta."+text)
	}
	return dst
}

func firstOf(list ...engine.Find) engine.Find {
	return func(ctx context.Context, name string) (json.RawMessage, error) {
		for _, find := range list {
			if entry, err := find(ctx, name); entry != nil || err != nil {
				return entry, err
			}
		}
		return nil, nil
	}
}

// pageMeta returns a function that returns the _meta of a page, for hosts.
func pageMeta(find engine.Find) func(ctx context.Context, uri string) json.RawMessage {
	return func(ctx context.Context, uri string) json.RawMessage {
		name, err := ui.Name(uri)
		if err != nil {
			return mcpapp.NoMeta // a URI of the project's own provider
		}
		entry, err := find(ctx, name)
		if entry == nil || err != nil {
			return mcpapp.NoMeta
		}
		meta, _ := mcpapp.Meta(entry)
		return meta
	}
}

// skillMethods returns the methods of the extension for skills. scope is their cacheScope.
func (c *Client) skillMethods(scope string) []*calls.Method {
	return []*calls.Method{
		{Name: "skills/list", List: true, Scope: scope, Handle: c.listSkills},
		{Name: "skills/get", Scope: scope, Handle: c.getSkill},
		{Name: "resources/directory/read", List: true, Scope: scope, Handle: c.readDirectory},
	}
}

// appendCaching appends ttlMs and cacheScope, unless the revision adds them to all results.
func appendCaching(b *rawjson.Builder, extra *mcp.Extra, ttl time.Duration, scope string) {
	if !extra.Owns("ttlMs") {
		b.Name("ttlMs").Int(int(ttl.Milliseconds())).Name("cacheScope").String(scope)
	}
}

// Skills returns the skills folder of the project, or nil.
func (p *Project) Skills() *skill.Folder { return p.skills }

// skillResources are the SKILL.md files, for clients without the extension.
func (l *lists) skillResources() source {
	return source{
		load: func(context.Context) (any, error) {
			s, err := l.currentSkills()
			if err != nil {
				return nil, mcp.Errorf(mcp.CodeInternal, "Unable to load resources").WithReason(err)
			}
			return s, nil
		},
		add: func(_ context.Context, p *prepared, state any) {
			list := state.(*skills).list
			if resources := list.Resources(); len(resources) > 0 {
				p.add(resources...)
				p.depend(list.Hash)
			}
		},
	}
}

func (c *Client) skillPage(member string) pageOf {
	own := c.project.engine.Project
	return pageOf{
		member: member, size: own.PageSize(), limit: own.Limits.ListResponse, ttl: own.Discovery.ResourcesTTL,
		cached: c.cacheScope(),
	}
}

func (c *Client) listSkills(_ context.Context, r *calls.Request) (*calls.Answer, error) {
	s, err := c.listed.currentSkills()
	if err != nil {
		return nil, err
	}
	return s.page.page(r, c.skillPage("skills"))
}

// skills has the skills that the callers may read, prepared once for each state of the skills folder.
type skills struct {
	of   *skill.List // of the project
	list *skill.List
	page prepared // of skills/list
}

func (l *lists) currentSkills() (*skills, error) {
	list, err := l.project.skills.List()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.skills == nil || l.skills.of != list {
		s := &skills{of: list, list: list}
		if l.permission != "" {
			s.list = list.Only(func(name string) bool { return l.permits(auth.Resource, name) })
		}
		for _, one := range s.list.Skills {
			s.page.add(one.Entry())
		}
		s.page.hash, l.skills = s.list.Hash, s
	}
	return l.skills, nil
}

func (c *Client) getSkill(_ context.Context, r *calls.Request) (*calls.Answer, error) {
	uri, list, err := c.skillURI(r)
	if err != nil {
		return nil, err
	}
	s := list.Find(uri)
	if s == nil {
		return nil, unknownSkill(uri)
	}
	entry, ttl, scope := s.Entry(), c.project.engine.Project.Discovery.ResourcesTTL, c.cacheScope()
	return &calls.Answer{Size: len(entry) + pageRest, TTL: ttl,
		Append: func(dst []byte, extra mcp.Extra) []byte {
			b := rawjson.Over(dst)
			extra.AppendMembers(b.Object())
			appendCaching(b, &extra, ttl, scope)
			extra.AppendOwnMeta(b.Name("skill").Raw(entry))
			return b.End().Bytes()
		}}, nil
}

func (c *Client) readDirectory(_ context.Context, r *calls.Request) (*calls.Answer, error) {
	uri, list, err := c.skillURI(r)
	if err != nil {
		return nil, err
	}
	children := list.Children(uri)
	switch {
	case list.IsFile(uri):
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s is a file, not a directory; read it with resources/read", uri)
	case children == nil:
		return nil, unknownSkill(uri)
	}
	p := prepared{hash: list.Hash}
	p.add(children...)
	return p.page(r, c.skillPage("resources"))
}

// unknownSkill returns the error for a URI that names no skill or folder. SEP-2640 gives the code.
func unknownSkill(uri string) *mcp.Error {
	var b rawjson.Builder
	err := mcp.Errorf(mcp.CodeInvalidParams, "There is no such skill")
	err.Data = b.Object().Name("uri").String(uri).End().Bytes()
	return err
}

func (c *Client) skillURI(r *calls.Request) (string, *skill.List, error) {
	uri := r.Params.Text(mcp.ParamURI)
	if uri == "" {
		return "", nil, mcp.Errorf(mcp.CodeInvalidParams, "uri is required, such as skill://NAME/SKILL.md")
	}
	s, err := c.listed.currentSkills()
	if err != nil {
		return "", nil, err
	}
	return uri, s.list, nil
}
