// Package policy decides whether a tool may run. The decision depends on the operator's list, on the project's
// policy.sh, and on the location and owner of the script (tools sections 3 and 4).
//
// [Policy.Check] is asked before each call. It runs policy.sh of the project, which may leave the decision to the
// [List]
// of the operator. Without a policy.sh the list decides. A refusal is an error of MCP, with the reason and the remedy.
package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/wire/mcp"
)

// A Policy decides on the calls of one project.
type Policy struct {
	Project *project.Project
	Runner  *script.Runner
	Env     func() project.Env // of policy.sh (T-29)
	State   *project.State     // for files with large values
	Confine script.ConfineFunc // of policy.sh; nil: it runs unconfined
	Log     mcp.LogFunc
}

// A Decision is the decision on an allowed tool.
type Decision struct {
	Variables *scriptenv.Rule // the rule for the tool's variables; policy.sh may change it for the call (T-61a)
	Own       bool            // policy.sh decided, not the built-in policy
}

// Check returns an error if the tool may not run. item is its registry entry, request are the variables of the call.
// Check evaluates policy.sh for each call, so a change of the file takes effect at once (T-30).
func (p *Policy) Check(ctx context.Context, name string, item json.RawMessage,
	request project.Env) (Decision, *mcp.Error) {
	calls, decision := &p.Project.Calls, Decision{Variables: &p.Project.Scripts.Tools}
	list := List{calls.Allowlist, calls.AllowDefault, calls.PolicyContext}
	verdict, err := p.runHook(ctx, name, item, request)
	switch {
	case err != nil:
		return decision, err
	case verdict == nil:
		refusal := list.Check(name)
		if refusal != nil && refusal.Data != nil {
			p.Log(mcp.Warning, logger, refusal.Message)
		}
		return decision, refusal
	case verdict.rule != nil:
		decision.Variables = verdict.rule
	}
	if verdict.builtin != nil {
		return decision, verdict.builtin.Check(name)
	}
	decision.Own = true
	return decision, verdict.refusal
}

// CheckDefault is the built-in policy for policy.sh. It checks the list, and the path of the tool's registry entry
// (T-33).
func (l List) CheckDefault(name string, item json.RawMessage, root, tools string) *mcp.Error {
	if err := l.Check(name); err != nil {
		return err
	}
	path := rawjson.TextOf(item, "path")
	if path == "" {
		return nil
	}
	p := project.Project{Root: root, Dirs: project.Dirs{Server: root}}
	var insecure *trust.InsecureError
	if errors.As(trust.CheckScript(root, tools, filepath.Join(tools, path)), &insecure) {
		return mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' path rejected by policy", name).WithReason(p.Shown(insecure))
	}
	return nil
}

// The contexts of commands, which have other messages (T-22).
const (
	RunTool = "run-tool"
	Request = "request"
)

// DeniesAll reports whether no tool of a project may run, because the operator's list allows none and no policy.sh
// replaces it.
func DeniesAll(p *project.Project) bool {
	if len(p.Calls.Allowlist) > 0 || p.Calls.AllowDefault {
		return false
	}
	_, err := os.Lstat(code.Policy.In(p).Path())
	return errors.Is(err, fs.ErrNotExist)
}

// A List is the built-in policy. It denies tools that are not in the list (T-20, T-21).
type List struct {
	Names    []string
	AllowAll bool   // if the list is missing
	Context  string // decides the messages: that of the policy, RunTool or Request
}

// ReadList reads a list from the values of MCPBASH_TOOL_ALLOWLIST, MCPBASH_TOOL_ALLOW_DEFAULT and
// MCPBASH_TOOL_POLICY_CONTEXT, which policy.sh may have changed.
func ReadList(allowlist, allowDefault, context string) List {
	return List{
		Names:    settings.Words(allowlist),
		AllowAll: project.DefaultAllows(allowlist, allowDefault), Context: context,
	}
}

// Check returns nil if the list allows a tool.
func (l List) Check(name string) *mcp.Error {
	if len(l.Names) == 0 && l.AllowAll {
		return nil
	}
	if slices.Contains(l.Names, name) || slices.Contains(l.Names, "*") || slices.Contains(l.Names, "all") {
		return nil
	}
	return l.refusal(name).Because(mcp.CauseNotListed)
}

// refusal returns the error for a tool that the list lacks.
func (l List) refusal(name string) *mcp.Error {
	switch {
	case l.Context == RunTool:
		return mcp.Errorf(mcp.CodeInvalidParams,
			"Tool '%s' blocked by policy. Try: mcp-bash run-tool %s --allow-self ...",
			name, shell.Quote(name))
	case l.Context == Request:
		return mcp.Errorf(mcp.CodeInvalidParams,
			"Tool '%s' blocked by policy. Try: mcp-bash request tools/call ... --allow-self", name)
	case len(l.Names) == 0 && l.Context != project.OverHTTP:
		return mcp.Errorf(mcp.CodeInvalidParams,
			"Tool '%s' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config.", name)
	}
	refusal := mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)", name)
	if near := cli.Nearest(name, l.Names); near != "" {
		return refusal.Explain(fmt.Errorf("MCPBASH_TOOL_ALLOWLIST has %q; if it means this tool, write %q", near, name))
	}
	return refusal
}

// Allow has the options of a command with which a person lets tools run (CLI-802).
type Allow struct {
	names     []string
	self, all bool
}

// AddTo adds the options to those of a command. tools completes the names of tools.
func (a *Allow) AddTo(f *cli.Flags, tools cli.Completion) {
	f.Bool(&a.self, "allow-self", "let this tool run, even if MCPBASH_TOOL_ALLOWLIST does not include it")
	f.Strings(&a.names, "allow", "TOOL", "let TOOL run; may be repeated").Completes(tools).
		Missing("--allow requires a tool name")
	f.Bool(&a.all, "allow-all", "let every tool run")
}

// Check returns an error of wrong usage for an empty name.
func (a *Allow) Check() error {
	if slices.Contains(a.names, "") {
		return cli.Usagef("--allow requires a tool name")
	}
	return nil
}

// List returns the names that replace the operator's list for calls of some tools, or nil without such an option.
func (a *Allow) List(tools ...string) []string {
	switch {
	case a.all:
		return []string{"*"}
	case a.self:
		return slices.Concat(tools, a.names)
	}
	return a.names
}
