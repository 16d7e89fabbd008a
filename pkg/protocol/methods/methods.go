// Package methods implements the methods for tools, resources, prompts and completions. It
// translates the parameters of a request for the feature, and the feature's result to an answer.
//
// A [Project] is shared by all clients of a process and prepares each list once. A [Client] is the
// same project for one client. Its [Client.Methods] are the table that package calls runs. The work
// is in the packages of pkg/feature, which know nothing about requests.
package methods

import (
	"encoding/json"
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
	"mcp-bash/pkg/protocol/internal/seal"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/provider/builtin"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/capacity"
	"mcp-bash/pkg/wire/mcp"
)

// A Project is a project as all clients of a process see it. Its lists are prepared once for all clients with the same
// permissions.
type Project struct {
	engine  *engine.Engine
	skills  *skill.Folder // nil without skills
	results *results.Store

	mu    sync.Mutex
	lists []*lists // the last used first
}

// NewProject returns the project that an engine runs.
func NewProject(e *engine.Engine, self seal.Self) *Project {
	p := e.Project
	most := max(1, min(256, capacity.PartsOf(capacity.Files()).Results)) // each result has an open file
	skills := skill.Open(skill.Dir(p.Root), p.Discovery.ResourcesTTL, e.Log)
	if skills != nil && e.Lock != nil {
		skills.Withhold = e.Lock.WithholdSkill
	}
	return &Project{
		engine: e, skills: skills,
		results: results.NewStore(results.Config{
			Dir: e.State.Root, MaxBytes: p.Calls.LargeMax, ClientMax: p.Calls.LargeClientMax,
			ServerMax: p.Calls.LargeServerMax, Keep: p.Calls.LargeKeep, MaxResults: most,
			Owner: ownerOf(self),
		}),
	}
}

// A Client has the methods for one client, with its log, permissions and stored results.
type Client struct {
	Config
	project   *Project
	tools     *tool.Tools
	listed    *lists
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

// NewClient returns the methods for a new client.
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
		Config: c, project: p, results: stored, listed: p.listsFor(c.Caller),
		tools:   e.Tools.ForClient(c.Caller, stored, log, debug),
		prompts: prompt.Prompts{Project: e.Project, Find: e.Prompt, Log: log, Caller: c.Caller, Files: e.Files},
		complete: completion.New(completion.Config{
			Project: e.Project, Registered: e.Lookup(kinds.Completions), Prompt: e.Lookup(kinds.Prompts),
			Resource: e.Lookup(kinds.Resources), Referred: e.Referred,
			Runner: e.Runner, Sandbox: e.Sandbox, Common: e.Env, State: e.State,
			Caller: c.Caller, Log: log, ScriptLog: e.ScriptLog,
		}),
		Resources: resource.New(resources),
	}
}

// cacheScope returns who may share a list: another caller may use other items.
func (c *Client) cacheScope() string {
	if c.Caller != nil {
		return "private"
	}
	return "public"
}

// Methods returns the methods that both protocols have.
func (c *Client) Methods() []*calls.Method {
	p, scope := c.project.engine.Project, c.cacheScope()
	list := []*calls.Method{
		{Name: "tools/list", List: true, Scope: scope, Handle: c.listTools,
			Limit: p.Calls.Timeout},
		{Name: "tools/call", Starts: startsScript, Handle: c.callTool, OwnClock: true, Asks: true, Edits: true},
		{Name: "resources/list", List: true, Scope: scope, Handle: c.listed.resources.serve},
		{Name: "resources/templates/list", List: true, Scope: scope, Handle: c.listed.templates.serve},
		{Name: "resources/read", Scope: "private", Handle: c.readResource, Max: p.Limits.Read},
		{Name: "prompts/list", List: true, Scope: scope, Handle: c.listed.prompts.serve},
		{Name: "prompts/get", Handle: c.getPrompt, Asks: true, MayAsk: c.promptAsks},
		{Name: "completion/complete", Handle: c.completeArgument},
	}
	if c.project.skills != nil {
		list = append(list, c.skillMethods(scope)...)
	}
	return list
}

// bound binds a name to a result and its caller. Other texts are sealed with the key of a caller alone, which begins
// differently, so they do not open as names.
func bound(token, caller string) string { return "result of " + token + " " + caller }

// ownerOf returns the function for results.Config that names this process in the URIs of stored results, so that other
// replicas find it.
func ownerOf(self seal.Self) func(token, caller string) string {
	if self.URL == "" {
		return nil
	}
	return func(token, caller string) string { return self.Name(bound(token, caller)) }
}

// Owner returns the replica with the stored result that a request reads or searches. gone is the error if that replica
// cannot be reached. The owner is zero for all requests that this process answers.
func Owner(self seal.Self, caller *auth.Identity, method string, params *mcp.Params) (o seal.Owner, gone *mcp.Error) {
	var uri string
	switch {
	case method == "resources/read":
		uri = params.Text(mcp.ParamURI)
	case method == "tools/call" && params.Text(mcp.ParamName) == tool.SearchTool:
		uri = rawjson.TextOf(params.Get(mcp.ParamArguments), "uri")
	}
	if !results.Owns(uri) {
		return o, nil
	}
	token, name := results.Parts(uri)
	if name == "" {
		return o, nil
	}
	if o = self.Find(name, bound(token, caller.Key())); o.URL == "" {
		return o, nil
	}
	return o, resource.NotFound("uri", uri)
}
