// Package policy decides which tools may run: by the operator's list, by the
// project's own policy.sh, and by where a script lies and whose it is (tools
// sections 3 and 4).
package policy

import (
	"context"
	"encoding/json"
	"slices"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/script"
	"mcp-bash/pkg/scriptenv"
)

// A Policy judges the calls of one project.
type Policy struct {
	Project *project.Project
	Runner  *script.Runner
	// Env is what policy.sh runs in (T-29), State where large values are put
	// for it.
	Env     func() project.Env
	State   *project.State
	Confine script.ConfineFunc // of policy.sh; nil: it runs as it is
	Log     mcp.LogFunc
}

// Check returns no error when the tool may run, and which variables it gets then: policy.sh
// may change that for the call (T-61a). item is its registry entry, request
// are the variables of the call. policy.sh is evaluated anew for every call, so
// that an edit counts at once (T-30).
func (p *Policy) Check(ctx context.Context, name string, item json.RawMessage,
	request project.Env) (*scriptenv.Rule, *mcp.Error) {
	calls, rule := &p.Project.Calls, &p.Project.Scripts.Tools
	list := List{calls.Allowlist, calls.AllowDefault, calls.PolicyContext == RunTool}
	verdict, err := p.runHook(ctx, name, item, request)
	switch {
	case err != nil:
		return nil, err
	case verdict == nil:
		return rule, list.Check(name)
	case verdict.rule != nil:
		rule = verdict.rule
	}
	if verdict.builtin {
		list.Names, list.AllowAll = verdict.names, verdict.allowAll
		return rule, list.Check(name)
	}
	return rule, verdict.refusal
}

// RunTool is the context of the run-tool command, whose refusals are worded
// for the person at the keyboard (T-22).
const RunTool = "run-tool"

// A List is the built-in policy: what is not named is denied (T-20, T-21).
type List struct {
	Names    []string
	AllowAll bool // when no list is given
	RunTool  bool // word refusals for run-tool
}

// Check returns nil when the list allows a tool.
func (l List) Check(name string) *mcp.Error {
	if len(l.Names) == 0 && l.AllowAll {
		return nil
	}
	if slices.Contains(l.Names, name) || slices.Contains(l.Names, "*") || slices.Contains(l.Names, "all") {
		return nil
	}
	switch {
	case l.RunTool:
		return mcp.Errorf(mcp.CodeInvalidParams,
			"Tool '%s' blocked by policy. Try: mcp-bash run-tool %s --allow-self ...", name, name)
	case len(l.Names) == 0:
		return mcp.Errorf(mcp.CodeInvalidParams,
			"Tool '%s' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config.", name)
	}
	return mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)", name)
}
