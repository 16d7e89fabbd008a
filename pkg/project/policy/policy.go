// Package policy decides which tools may run: by the operator's list, by the
// project's own policy.sh, and by where a script lies and whose it is (tools
// sections 3 and 4).
package policy

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/wire/mcp"
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

// A Decision is how a tool that is allowed may run.
type Decision struct {
	Variables *scriptenv.Rule // which variables the tool gets; policy.sh may change it for the call (T-61a)
	Own       bool            // policy.sh decided, not the built-in policy
}

// Check returns no error when the tool may run. item is its registry entry, request
// are the variables of the call. policy.sh is evaluated anew for every call, so that
// an edit counts at once (T-30).
func (p *Policy) Check(ctx context.Context, name string, item json.RawMessage,
	request project.Env) (Decision, *mcp.Error) {
	calls, decision := &p.Project.Calls, Decision{Variables: &p.Project.Scripts.Tools}
	list := List{calls.Allowlist, calls.AllowDefault, calls.PolicyContext == RunTool}
	verdict, err := p.runHook(ctx, name, item, request)
	switch {
	case err != nil:
		return decision, err
	case verdict == nil:
		return decision, list.Check(name)
	case verdict.rule != nil:
		decision.Variables = verdict.rule
	}
	if verdict.builtin != nil {
		return decision, verdict.builtin.Check(name)
	}
	decision.Own = true
	return decision, verdict.refusal
}

// CheckDefault is the built-in policy as policy.sh can ask for it: the list, and
// the tool's path where its registry entry names one (T-33).
func (l List) CheckDefault(name string, item json.RawMessage, root, tools string) *mcp.Error {
	if err := l.Check(name); err != nil {
		return err
	}
	path := rawjson.TextOf(item, "path")
	if path == "" {
		return nil
	}
	var insecure *trust.InsecureError
	if errors.As(trust.CheckScript(root, tools, filepath.Join(tools, path)), &insecure) {
		return mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' path rejected by policy", name).WithReason(insecure)
	}
	return nil
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

// ReadList reads a list from the variables that policy.sh may have changed:
// MCPBASH_TOOL_ALLOWLIST, MCPBASH_TOOL_ALLOW_DEFAULT and
// MCPBASH_TOOL_POLICY_CONTEXT.
func ReadList(allowlist, allowDefault, context string) List {
	return List{
		Names:    strings.FieldsFunc(allowlist, func(r rune) bool { return r == ',' || r <= ' ' }),
		AllowAll: project.DefaultAllows(allowlist, allowDefault), RunTool: context == RunTool,
	}
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
