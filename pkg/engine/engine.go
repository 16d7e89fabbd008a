// Package engine assembles everything that is needed to run the scripts of one project. The
// server and run-tool both use it.
//
// [New] connects the catalog, the policy, the sandbox and the runner in an [Engine]. Its fields are these parts, and
// functions that find items for the features. [ForCommand] makes an engine for a command that runs once, such as
// run-tool. Nothing here decides anything.
package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/feature/tool/paramheader"
	"mcp-bash/pkg/files/filecache"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/registry/lock"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/text/urimatch"
	"mcp-bash/pkg/wire/mcp"
)

// A Config is the input of New.
type Config struct {
	Project *project.Project
	State   *project.State
	Runner  *script.Runner
	Home    *project.Home // the installation tree
	Args    []string      // the arguments after "serve --"

	Log       mcp.LogFunc
	OnMessage func(item.Message) // receives the messages about the project after Log; may be nil
	Debug     func() bool        // whether debug messages are logged
	Notice    func(line string)  // prints a line on standard error
	Stderr    io.Writer
	ScriptLog script.StderrFunc // for the log
	// Entries, if not nil, are the tools. They replace those of the project's registry.
	Entries []json.RawMessage
	// Changed receives changed lists of the registry; see [registry.Options].
	Changed func(kind *kinds.Kind, list *registry.List, err error)
	// ReadOnly prevents writes to the registry directory.
	ReadOnly bool
	Sourced  []string // files that the operator has sourced, which no tool may write
	// Lock, if not nil, limits what is offered. The Runner's Allow limits what is started.
	Lock *lock.Guard
}

// An Engine can run scripts.
type Engine struct {
	Config
	JSONTool project.JSONTool
	Env      project.Env // the variables of every script
	Catalog  *registry.Catalog
	Level    access.Level // tools that need a higher level are not offered
	Sandbox  *sandbox.Sandbox
	Policy   *policy.Policy
	Tools    *tool.Tools
	Files    *filecache.Cache // small files that clients read
	// Near returns the existing tool that is most similar to an unknown name, or "".
	Near func(ctx context.Context, name string) string
	// Find returns the registry entry of a tool, or nil.
	Find Find

	ResourceByURI   func(ctx context.Context, uri string) (*resource.Entry, error)
	ProviderScripts *resource.Scripts
	Prompt          func(ctx context.Context, name string) (*prompt.Entry, error)
	TemplateByText  Find // by its uriTemplate
	Templates       func(ctx context.Context) (*urimatch.Set, error)
	// ParamHeaders returns the arguments that clients repeat in HTTP headers, by the names of their
	// tools.
	ParamHeaders func(ctx context.Context) (map[string][]paramheader.Param, error)
	// ToolsOfPage returns the names of the tools that link to a page, by its name.
	ToolsOfPage func(ctx context.Context, page string) ([]string, error)
	// LongRunning returns the long-running tools by name; nil: none.
	LongRunning func(ctx context.Context) (map[string]tool.LongRunning, error)
}

// New assembles an engine.
func New(c Config) *Engine {
	e := &Engine{Config: c, Files: filecache.New()}
	helper := c.State.Helper()
	c.Runner.Ready = func() error {
		if err := c.Home.Make(); err != nil {
			return fmt.Errorf("unable to unpack %s: %w", c.Home.Dir, err)
		}
		return c.State.Make()
	}
	p := c.Project
	e.JSONTool = project.SelectJSONTool(p.Env, os.Geteuid() == 0, helper, e.answersVersion, c.Notice)
	if p.Logging.JSONTool {
		c.Notice(fmt.Sprintf("mcp-bash: JSON tool for scripts: %s (%s)", e.JSONTool.Name, e.JSONTool.Bin))
	}
	e.Env = p.Common(c.Home.Dir, helper, e.JSONTool)
	var args rawjson.Builder
	e.Env["MCPBASH_SERVER_ARGS_JSON"] = string(args.Strings(c.Args).Bytes())
	e.Sandbox = sandbox.New(sandbox.Config{
		Project: p, Mode: access.EffectiveConfinement(p, c.Log), Kernel: confine.Offered, Runner: c.Runner, Common: e.Env,
		State: c.State, Log: c.Log, Listed: e.listed, Sourced: c.Sourced,
	})
	hookEnv := func() project.Env { return p.ForHooks(e.Env, c.State.Dir) }
	options := registry.Options{
		Log: c.Log, OnMessage: c.OnMessage, Warn: c.Notice, Runner: c.Runner, HookEnv: hookEnv,
		Confine: e.Sandbox.Hook(filepath.Join(p.Server, "register.sh")),
		Private: func() (string, error) { return c.State.Dir, c.State.Make() }, ReadOnly: c.ReadOnly,
		Changed: c.Changed,
	}
	if c.Lock != nil {
		c.Lock.Notify(c.Notice)
		options.Withhold = c.Lock.Withhold
	}
	e.Catalog = registry.NewCatalog(p, options)
	e.ProviderScripts = resource.NewScripts(p)
	e.setIndexes()
	e.Level = access.EffectiveLevel(p, c.Log)
	for _, rule := range []*scriptenv.Rule{&p.Scripts.Tools, &p.Scripts.Providers} {
		if warning := rule.Warning(); warning != "" {
			c.Log(mcp.Warning, "mcp."+rule.Scope.Label, warning)
		}
	}
	e.Find, e.Near = e.Lookup(kinds.Tools), e.nearest
	if c.Entries != nil { // similar names in the registry do not matter
		e.Find, e.Near = among(c.Entries), func(context.Context, string) string { return "" }
	}
	e.Policy = &policy.Policy{Project: p, Runner: c.Runner, Env: hookEnv, State: c.State, Log: c.Log,
		Confine: e.Sandbox.Hook(filepath.Join(p.Server, "policy.sh"))}
	e.Tools = tool.New(tool.Config{
		Project: p, Find: e.Find, Near: e.Near, Level: e.Level, Policy: e.Policy, Runner: c.Runner, Common: e.Env,
		Sandbox: e.Sandbox, State: c.State,
		Log: c.Log, Debug: c.Debug, Stderr: c.Stderr, ScriptLog: c.ScriptLog,
	})
	return e
}

// ResourceConfig returns the configuration for reading resources, without the parts that depend on the server's client
// and its registry's names, and without skills. Skills need a parser of YAML, which takes 0.1 ms to initialise, and
// mcp-runtool has an engine too.
func (e *Engine) ResourceConfig() resource.Config {
	p := e.Project
	return resource.Config{
		Project: p, Scripts: e.ProviderScripts, FindURI: e.ResourceByURI, Templates: e.Templates, Bound: e.bound(),
		ToolsOfPage: e.ToolsOfPage,
		Builtin: provider.Config{
			Env: p.Env, Root: p.Root, Resources: p.Resources, Tools: p.Tools, UI: p.UI,
			FindPage: e.Lookup(kinds.UIResources), Files: e.Files,
		},
		Runner: e.Runner, Sandbox: e.Sandbox, Common: e.Env, State: e.State, Log: e.Log, Debug: e.Debug,
		ScriptLog: e.ScriptLog,
	}
}

func (e *Engine) answersVersion(bin string) bool {
	res := e.Runner.Run(context.Background(), script.Spec{
		Argv: []string{bin, "--version"}, Env: e.Project.Env.Entries(), Timeout: versionTimeout, StdoutLimit: 4096,
		StderrLimit: 4096,
	})
	return res.Status == 0 && res.Cause == nil
}

const versionTimeout = 5 * time.Second

// ForCommand assembles an engine for a command that calls the tools of a project, such as run-tool. Every tool may
// run, also without an entry in the operator's list. env has the variables of the server. ForCommand sets the missing
// fields of c. end terminates processes that the tools have left running, and removes the private directory.
func ForCommand(root string, env project.Env, tree func() project.Tree, c Config) (e *Engine, end func(), err error) {
	env = env.Clone()
	env["MCPBASH_TOOL_POLICY_CONTEXT"] = policy.RunTool
	env["MCPBASH_TOOL_ALLOWLIST"] = "*"
	if c.Log == nil {
		c.Log = func(mcp.Level, string, string) {}
	}
	if c.Notice == nil {
		c.Notice = func(string) {}
	}
	c.Debug = func() bool { return false }
	dir, err := os.Getwd() // paths in variables are relative to it
	if err != nil {
		return nil, nil, err
	}
	c.Project = project.Open(root, env, dir, func(string) {}) // the caller has opened it too, and got the warnings
	if c.Home, err = project.FindHome(env, tree, c.Notice); err != nil {
		return nil, nil, err
	}
	state, place, err := project.NewState(env, &c.Project.Settings)
	if err != nil {
		return nil, nil, cli.Baref(cli.CodeInternal, "mcp-bash: unable to create state directory: %s\n%v", place, err)
	}
	state.UseMCPBash(c.Project)
	c.State, c.Runner = state, new(script.Runner)
	return New(c), func() {
		state.EndScripts(c.Runner, c.Notice)
		state.Remove()
	}, nil
}

// listed returns the scripts in the registry. Completion scripts have their declared paths,
// because a missing file runs once it exists, and because links on the path matter.
func (e *Engine) listed() ([]sandbox.Listed, error) {
	ctx := context.Background()
	tools := e.Entries
	if tools == nil {
		list, err := e.Catalog.List(ctx, kinds.Tools)
		if err != nil {
			return nil, err
		}
		tools = list.JSON()
	}
	completions, err := e.Catalog.DeclaredPaths(ctx, kinds.Completions)
	return Listed(e.Project, tools, completions), err
}

// Listed returns the scripts of tools, given their registry entries, and of completions, given
// their declared paths.
func Listed(p *project.Project, tools []json.RawMessage, completions []string) []sandbox.Listed {
	list := make([]sandbox.Listed, 0, len(tools)+len(completions))
	for _, item := range tools {
		needs, _ := access.DeclarationOf(item) // a tool with an unreadable declaration needs nothing, because it does not run
		script := code.Tool.Below(p, rawjson.TextOf(item, "path")).Path()
		list = append(list, sandbox.Listed{Tool: rawjson.TextOf(item, "name"), Script: script, Needs: needs})
	}
	for _, path := range completions {
		if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
			path = code.ListedCompletion.Below(p, path).Path()
		}
		list = append(list, sandbox.Listed{Script: filepath.Clean(path)})
	}
	return list
}

func among(items []json.RawMessage) Find {
	return func(_ context.Context, name string) (json.RawMessage, error) {
		for _, item := range items {
			if rawjson.TextOf(item, "name") == name {
				return item, nil
			}
		}
		return nil, nil
	}
}
