// Package policy decides whether a tool may run. The decision depends on the operator's list, on the project's
// policy.sh, and on the location and owner of the script (tools sections 3 and 4).
//
// [Policy.Check] is asked before each call. It runs policy.sh of the project, which may leave the decision to the
// [List] of the operator. Without a policy.sh the list decides. A refusal is an error of MCP, with the reason and the
// remedy.
package policy

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/wire/mcp"
)

// A Policy decides on the calls of one project.
type Policy struct {
	Project *project.Project
	Runner  *script.Runner
	Env     func() project.Env // of policy.sh
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
// Check evaluates policy.sh for each call, so a change of the file takes effect at once.
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

// CheckDefault is the built-in policy for policy.sh. It checks the list, and the path of the tool's registry entry.
func (l List) CheckDefault(name string, item json.RawMessage, root, tools string) *mcp.Error {
	if err := l.Check(name); err != nil {
		return err
	}
	path := rawjson.TextOf(item, "path")
	if path == "" {
		return nil
	}
	p := project.Project{Root: root, Dirs: project.Dirs{Server: root}}
	err := trust.CheckScript(root, tools, filepath.Join(tools, path))
	if insecure, ok := errors.AsType[*trust.InsecureError](err); ok {
		return mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' path rejected by policy", name).WithReason(p.Shown(insecure))
	}
	return nil
}

// The contexts of commands. Each has its own messages.
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

// A List is the built-in policy. It denies tools that are not in the list.
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

// Allow has the options of a command that let tools run.
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

//go:embed hook.sh
var hookScript string

const (
	logger      = "mcp.tools.policy"
	hookTimeout = 10 * time.Second
	hookOutput  = 1 << 20
	maxArgument = 100_000 // bytes; Linux allows 128 KiB
)

type verdict struct {
	builtin *List           // not nil: policy.sh defines no check, so the built-in policy decides with this list
	refusal *mcp.Error      // nil: allowed
	unable  string          // why policy.sh cannot decide; "": it has decided
	rule    *scriptenv.Rule // the rule for the tool's variables; nil: unchanged
}

// runHook evaluates policy.sh. The verdict is nil if the file does not exist. Any error denies the call.
func (p *Policy) runHook(ctx context.Context, name string, item json.RawMessage,
	request project.Env) (*verdict, *mcp.Error) {
	file := code.Policy.In(p.Project)
	if _, err := os.Lstat(file.Path()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := p.Project.CheckTrusted(file); err != nil {
		p.Log(mcp.Warning, logger,
			"Refusing to source insecure policy.sh (check ownership/perms/symlink): "+err.Error())
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' blocked by policy (insecure policy.sh)",
			name).Explain(p.Project.Shown(err))
	}
	args := []string{name, string(item)}
	if len(item) > maxArgument {
		spill, remove, err := p.spill(item)
		if err != nil {
			return nil, p.failed(err.Error())
		}
		defer remove()
		args = []string{name, "", spill}
	}
	spec := script.Spec{
		Argv: []string{"bash", "-c", hookScript, "bash"}, Sources: []code.File{file}, Args: args,
		Env: p.environ(request).Entries(), Timeout: hookTimeout, StdoutLimit: hookOutput,
		StderrLimit: hookOutput,
	}
	if p.Confine != nil {
		release, err := p.Confine(&spec)
		if err != nil {
			return nil, mcp.Errorf(mcp.CodeInternal, "Tool policy cannot be confined").Explain(err)
		}
		defer release()
	}
	res := p.Runner.Run(ctx, spec)
	if len(res.Stderr) > 0 {
		p.Log(mcp.Debug, logger, strings.TrimRight(string(res.Stderr), "\n"))
	}
	message, _, _ := strings.Cut(strings.ToValidUTF8(string(res.Stderr), "\uFFFD"), "\n")
	switch {
	case errors.Is(res.Cause, script.ErrTimedOut):
		late := fmt.Sprintf("server.d/policy.sh did not decide within %s", hookTimeout)
		if message != "" {
			late += " (it printed: " + p.shown(message) + ")"
		}
		return nil, mcp.Errorf(mcp.CodeInternal, "Tool policy check timed out").Explain(
			errors.New(late + "; no tool runs until it is corrected"))
	case res.Cause != nil:
		return nil, p.failed(res.Cause.Error())
	}
	v := p.read(name, strings.Split(string(res.Stdout), "\x00"))
	if v != nil && v.unable != "" {
		return nil, p.failed(v.unable)
	}
	if v == nil {
		return nil, p.failed(cmp.Or(message, fmt.Sprintf("it ended with exit status %d before it decided", res.Status)))
	}
	return v, nil
}

// failed returns the error for a policy.sh that did not decide, and logs the reason.
func (p *Policy) failed(reason string) *mcp.Error {
	reason = p.shown(reason)
	if !strings.HasPrefix(reason, "server.d/policy.sh: ") {
		reason = "server.d/policy.sh failed: " + reason
	}
	err := fmt.Errorf("%s; no tool runs until it is corrected", reason)
	p.Log(mcp.Err, logger, err.Error())
	return mcp.Errorf(mcp.CodeInternal, "Tool policy check failed").Explain(err)
}

// shown returns a message of policy.sh without secrets and the path of the project.
func (p *Policy) shown(message string) string {
	return secrets.Text(strings.ReplaceAll(message, p.Project.Root+string(filepath.Separator), ""))
}

// environ returns the environment of policy.sh: the environment of hooks, and the variables of the call. The files of
// the call do not exist yet, so progress and logs are discarded.
func (p *Policy) environ(request project.Env) project.Env {
	env := p.Env()
	maps.Copy(env, request)
	env["MCP_PROGRESS_STREAM"], env["MCP_LOG_STREAM"] = nowhere, nowhere
	env["MCP_CANCEL_FILE"] = filepath.Join(p.State.Dir, "policy.cancelled") // never exists: cancellation kills the policy
	return env
}

const nowhere = "/dev/null" // Bash has it on Windows as well

// spill writes an entry that is too long for an argument to a file.
func (p *Policy) spill(item json.RawMessage) (path string, remove func(), err error) {
	dir, err := p.State.Root()
	if err != nil {
		return "", nil, err
	}
	name := handoff.Unique("policy.")
	if err := handoff.Create(dir, name, item); err != nil {
		return "", nil, err
	}
	return filepath.Join(p.State.Dir, name), func() { dir.Remove(name) }, nil
}

// read returns the verdict that hook.sh wrote, or nil if it did not reach one.
func (p *Policy) read(name string, fields []string) *verdict {
	var found *verdict
	var rule *scriptenv.Rule
	unable := ""
	for counts := map[string]int{"log": 3, "env": 2, "unable": 1, "builtin": 2, "deny": 3}; len(fields) > 0; {
		kind, n := fields[0], counts[fields[0]]
		if fields = fields[1:]; n > len(fields) {
			break
		}
		args := fields[:n]
		fields = fields[n:]
		switch kind {
		case "log":
			level, _ := mcp.ParseLevel(args[0])
			p.Log(level, args[1], args[2])
		case "env":
			rule = p.changed(args[0], args[1])
		case "unable":
			unable = cmp.Or(unable, args[0])
		case "allow":
			found = &verdict{}
		case "builtin":
			list := ReadList(args[0], args[1], p.Project.Calls.PolicyContext)
			found = &verdict{builtin: &list}
		case "deny":
			found = &verdict{refusal: refusal(name, args[0], args[1], args[2])}
		}
	}
	if unable != "" {
		return &verdict{unable: unable}
	}
	if found != nil {
		found.rule = rule
	}
	return found
}

// changed returns the rule for the tool's variables with the mode and the list of policy.sh. It returns nil if both
// are unchanged (T-61a).
func (p *Policy) changed(mode, list string) *scriptenv.Rule {
	scripts := &p.Project.Scripts
	env := scripts.Environ(p.Project.Env)
	if mode == env[scripts.Tools.Scope.Mode] && list == env[scripts.Tools.Scope.List] {
		return nil
	}
	rule := scripts.Tools.With(mode, list)
	return &rule
}

var errNoReason = errors.New(
	"server.d/policy.sh gives no reason; to give one, call mcp_tools_error CODE MESSAGE there before return 1")

// refusal returns the error of the policy, with defaults for missing parts.
func refusal(name, code, message, data string) *mcp.Error {
	e := mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' blocked by policy", name)
	switch {
	case message != "":
		e.Message = message
	case data == "":
		e.Explain(errNoReason)
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(code, "+")); code != "" {
		if e.Code = n; err != nil || n == 0 {
			e.Code = mcp.CodeInternal // T-701
		}
	}
	if data != "" {
		if v, err := rawjson.Check([]byte(data)); err == nil {
			e.Data = rawjson.Normal(v)
		}
	}
	return e
}
