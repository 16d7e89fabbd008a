// Package methods implements the methods for tools, resources, prompts and completions. It
// translates the parameters of a request for the feature, and the feature's result to an answer.
package methods

import (
	"encoding/json"
	"slices"
	"sync"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/completion"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/feature/skill"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/provider/builtin"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/capacity"
)

// A Project is a project as all clients of a process see it. Its lists are prepared once for all.
type Project struct {
	engine *engine.Engine

	prompts, resources, templates *list
	skills                        *skill.Folder // nil without skills
	skillPages                    skillPages

	results *results.Store

	mu    sync.Mutex
	tools []*permitted // the last used first
}

// permitted has the lists of tools for the callers that may call the same tools. The second one has
// any schema (M-34).
type permitted struct {
	permission       string // see auth.Identity.Permission
	tools, anySchema *list
}

// maxPermitted is the number of different permissions whose lists are kept.
const maxPermitted = 64

func (p *Project) toolsFor(caller *auth.Identity) *permitted {
	permission := caller.Permission(p.engine.Project.Meta.Scopes)
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.tools, func(l *permitted) bool { return l.permission == permission })
	if at < 0 {
		if at = len(p.tools); at == maxPermitted {
			at--
			p.tools = p.tools[:at]
		}
		list := func(anySchema bool) *list { return p.newTools(caller, permission, anySchema) }
		p.tools = append(p.tools, &permitted{permission, list(false), list(true)})
	}
	found := p.tools[at]
	p.tools = slices.Insert(slices.Delete(p.tools, at, at+1), 0, found)
	return found
}

func (p *Project) newTools(caller *auth.Identity, permission string, anySchema bool) *list {
	e := p.engine
	own := e.Project
	l := &list{
		catalog: e.Catalog, kind: kinds.Tools, member: "tools", ttl: own.Discovery.ToolsTTL,
		size: own.PageSize(), limit: own.Limits.ListResponse,
		item: func(dst []byte, item json.RawMessage) []byte { return tool.AppendListed(dst, item, anySchema) },
	}
	_, searches := caller.Permits(tool.SearchTool, own.Meta.Scopes)
	searches = searches && own.SearchesResults()
	l.server = func(all, offered []item.Item) (list []json.RawMessage) {
		if searches {
			list = append(list, tool.SearchListed())
		}
		return append(list, controls(all, offered)...)
	}
	level := e.Level
	if level == access.Full && permission == "" {
		return l
	}
	l.keep = func(item json.RawMessage) bool { // R-213, H-422
		_, ok := caller.Permits(rawjson.TextOf(item, "name"), own.Meta.Scopes)
		return ok && level.Allows(access.LevelOf(item))
	}
	if l.view = permission; level != access.Full {
		l.view += string(level)
	}
	return l
}

// mostResults returns how many results are stored. Each has an open file (LR-21).
func mostResults() int { return max(1, min(256, capacity.PartsOf(capacity.Files()).Results)) }

// NewProject returns the project that an engine runs.
func NewProject(e *engine.Engine, self Replica) *Project {
	p := e.Project
	d, size, limit := &p.Discovery, p.PageSize(), p.Limits.ListResponse
	all := &Project{
		engine: e, skills: skill.Open(skill.Dir(p.Root), d.ResourcesTTL, e.Log),
		results: results.NewStore(results.Config{
			Dir: e.State.Root, MaxBytes: p.Calls.LargeMax, ClientMax: p.Calls.LargeClientMax,
			ServerMax: p.Calls.LargeServerMax, Keep: p.Calls.LargeKeep, MaxResults: mostResults(),
			Owner: self.owner(),
		}),
		prompts: &list{
			catalog: e.Catalog, kind: kinds.Prompts, member: "prompts", item: prompt.AppendListed, ttl: d.PromptsTTL,
			size: size, limit: limit,
		},
		resources: &list{
			catalog: e.Catalog, kind: kinds.Resources, member: "resources", ttl: d.ResourcesTTL, size: size,
			limit:    limit,
			item:     func(dst []byte, item json.RawMessage) []byte { return resource.AppendListed(dst, p, item) },
			more:     kinds.UIResources,
			moreItem: func(dst []byte, item json.RawMessage) []byte { return appendPage(dst, item, e.Log) },
		},
		templates: &list{
			catalog: e.Catalog, kind: kinds.Templates, member: "resourceTemplates", item: resource.AppendListedTemplate,
			ttl: d.TemplatesTTL, size: size, limit: limit,
		},
	}
	if all.skills != nil {
		all.resources.also = all.skillResources
	}
	return all
}

// A Client is the project for one client. Messages of the methods are logged to it.
type Client struct {
	Config
	project   *Project
	tools     *tool.Tools
	listed    *permitted
	prompts   prompt.Prompts
	complete  *completion.Completions
	Resources *resource.Resources
	results   *results.Client
}

// Close removes the stored results of the client.
func (c *Client) Close() { c.results.Close() }

// HasResults reports whether results of the client are stored.
func (c *Client) HasResults() bool { return c.results.Any() }

// A Config is the input of [Project.NewClient].
type Config struct {
	Session *session.Session
	Caller  *auth.Identity  // nil: the client needed no credential
	Owner   string          // see [auth.Identity.Owner]
	Roots   func() []string // the directories of the client's roots
	// StripToken removes the shared secret from the _meta that scripts get.
	StripToken func(meta json.RawMessage) json.RawMessage
}

// NewClient returns the project for a new client.
func (p *Project) NewClient(c Config) *Client {
	e, log, debug := p.engine, c.Session.Log, c.Session.Debugging
	pages := e.Lookup(kinds.UIResources)
	resources := e.ResourceConfig()
	if p.skills != nil {
		resources.Skills = p.skills
	}
	resources.FindName, resources.UIMeta = firstOf(e.Lookup(kinds.Resources), pages), pageMeta(pages)
	resources.New, resources.Caller, resources.Log, resources.Debug = builtin.New, c.Caller, log, debug
	if e.Project.Fetching.UseRoots { // RES-91
		resources.Builtin.MoreRoots = c.Roots
	}
	stored := p.results.NewClient(c.Owner, c.Caller.Key())
	return &Client{
		Config: c, project: p, results: stored, listed: p.toolsFor(c.Caller),
		tools:   e.Tools.ForClient(c.Caller, stored, log, debug),
		prompts: prompt.Prompts{Project: e.Project, Find: e.Prompt, Log: log, Files: e.Files},
		complete: completion.New(completion.Config{
			Project: e.Project, Registered: e.Lookup(kinds.Completions), Prompt: e.Lookup(kinds.Prompts),
			Resource: e.Lookup(kinds.Resources), Referred: e.Referred,
			Runner: e.Runner, Sandbox: e.Sandbox, Common: e.Env, State: e.State,
			Caller: c.Caller, Log: log, ScriptLog: e.ScriptLog,
		}),
		Resources: resource.New(resources),
	}
}

// Methods returns the methods that both protocols have.
func (c *Client) Methods() []*calls.Method {
	p, scope := c.project.engine.Project, "public"
	if c.Caller != nil { // another caller may call other tools
		scope = "private"
	}
	list := []*calls.Method{
		{Name: "tools/list", List: true, Scope: scope, Handle: c.listTools,
			Limit: func() int { return p.Calls.Timeout }},
		{Name: "tools/call", Starts: startsScript, Handle: c.callTool, OwnClock: true, Asks: true, Edits: true},
		{Name: "resources/list", List: true, Scope: "public", Handle: c.project.resources.serve},
		{Name: "resources/templates/list", List: true, Scope: "public", Handle: c.project.templates.serve},
		{Name: "resources/read", Scope: "private", Handle: c.readResource, Max: p.Limits.Read},
		{Name: "prompts/list", List: true, Scope: "public", Handle: c.project.prompts.serve},
		{Name: "prompts/get", Handle: c.getPrompt, Asks: true, MayAsk: c.promptAsks},
		{Name: "completion/complete", Handle: c.completeArgument},
	}
	if c.project.skills != nil {
		list = append(list, c.project.skillMethods()...)
	}
	return list
}
