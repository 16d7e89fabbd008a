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
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

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

// runHook evaluates policy.sh. The verdict is nil if the file does not exist. Any error denies the call (T-31, T-32).
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

// failed returns the error for a policy.sh that did not decide, and logs the reason (T-32).
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

// environ returns the environment of policy.sh: the environment of hooks, and the variables of the call (T-29). The
// files of the call do not exist yet, so progress and logs are discarded.
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

// read takes the fields hook.sh wrote; nil when it did not get to a verdict.
func (p *Policy) read(name string, fields []string) *verdict {
	var found *verdict
	var rule *scriptenv.Rule
	unable := ""
	for len(fields) > 0 {
		kind := fields[0]
		fields = fields[1:]
		switch {
		case kind == "log" && len(fields) >= 3:
			level, _ := mcp.ParseLevel(fields[0])
			p.Log(level, fields[1], fields[2])
			fields = fields[3:]
		case kind == "env" && len(fields) >= 2:
			rule = p.changed(fields[0], fields[1])
			fields = fields[2:]
		case kind == "unable" && len(fields) >= 1:
			unable = cmp.Or(unable, fields[0])
			fields = fields[1:]
		case kind == "allow":
			found = &verdict{}
		case kind == "builtin" && len(fields) >= 2:
			list := ReadList(fields[0], fields[1], p.Project.Calls.PolicyContext)
			found = &verdict{builtin: &list}
			fields = fields[2:]
		case kind == "deny" && len(fields) >= 3:
			found = &verdict{refusal: refusal(name, fields[0], fields[1], fields[2])}
			fields = fields[3:]
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

// refusal returns the error of the policy, with defaults for missing parts (T-27).
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
