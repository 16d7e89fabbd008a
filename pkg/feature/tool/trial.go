package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/wire/mcp"
)

// A Trial is a call that changes nothing and shows whether a tool works: the member "trial" of its metadata.
type Trial struct {
	// Words follow the script on its command line. Only the tool's author can set them.
	Words     []string
	Arguments json.RawMessage // the arguments of the call, if there are no Words
	ExitCode  int             // the expected one
}

// trialOf returns the trial in a registry entry, or nil.
func trialOf(item json.RawMessage) *Trial {
	given := rawjson.Get(item, "trial")
	if given == nil {
		return nil
	}
	t := &Trial{Arguments: rawjson.Get(given, "arguments"), ExitCode: rawjson.PositiveInt(rawjson.Get(given, "exitCode"))}
	for word := range rawjson.Elements(rawjson.Get(given, "words")) {
		text, _ := rawjson.Text(word)
		t.Words = append(t.Words, text)
	}
	return t
}

// String returns the call for people: "--help", or the arguments as JSON.
func (t *Trial) String() string {
	if t.Words == nil {
		return string(t.Arguments)
	}
	words := slices.Clone(t.Words)
	for i, word := range words {
		words[i] = shell.Quote(word)
	}
	return strings.Join(words, " ")
}

// A Verdict is the outcome of a trial.
type Verdict struct {
	Status Tried
	Call   string // the trial, or ""
	Reason string // why it failed, or was not made
	Remedy string // or ""
}

// Tried reports whether a trial succeeded.
type Tried string

// The outcomes of a trial.
const (
	Passed   Tried = "passed"
	Failed   Tried = "failed"
	NotTried Tried = "not tried"
)

// trialTime limits a trial in seconds.
const trialTime = 10

// errUnconfined is the error for a trial that is not made, because it could change something.
var errUnconfined = errors.New("this system cannot confine it")

// An attempt is a trial while it is made. A nil attempt is an ordinary call.
type attempt struct {
	Trial
	done   bool // the script ended
	status int
	said   string // the last line that the script printed
	lacks  bool   // the script lacked a program or file
	remedy string // or ""
}

func (a *attempt) words() []string {
	if a == nil {
		return nil
	}
	return a.Words
}

// command returns the command line of the script.
func (c *call) command() []string {
	if c.trial == nil {
		return c.argv
	}
	return slices.Concat(c.argv, c.trial.Words)
}

// ended records the end of the script. A script can lack a program and still exit with 0, so its messages count too.
func (a *attempt) ended(c *call, res *script.Result) {
	a.done, a.status = true, res.Status
	a.said = cmp.Or(lastLine(res.Stderr), lastLine(res.Stdout), programEnd(res)+" without a message")
	stderr := res.Stderr[:min(len(res.Stderr), maxHead)]
	a.remedy = cmp.Or(c.missingProgram(c.shown(c.script), stderr), c.deniedHint(stderr))
	a.lacks = a.remedy != "" || noProgram.Match(stderr)
	if res.Cause != nil {
		a.status, a.said = timeoutStatus, res.Cause.Error()
	}
}

func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	return validText(text[bytes.LastIndexByte(text, '\n')+1:])
}

// isConfined reports whether the call is confined, and the kernel can enforce its whole profile.
func (c *call) isConfined() bool {
	return c.confinement != nil && len(c.tools.Sandbox.Kernel().Lacks(c.confinement.Profile)) == 0
}

// Try makes the trial of a tool. The tool is confined as for a call, but cannot write outside its private directory,
// and has no network. Of a request, only the name, the roots and the timeout count. Without roots, the folder of the
// tool is the root.
func (t *Tools) Try(ctx context.Context, r *Request) (v Verdict) {
	v.Status = NotTried
	item, err := t.Find(ctx, r.Name)
	if err != nil || item == nil {
		v.Reason = fmt.Sprintf("the project has no tool %s", r.Name)
		return v
	}
	trial := trialOf(item)
	if trial == nil {
		v.Reason = `tool.meta.json has no "trial", a call that changes nothing`
		if would := t.DryRun(ctx, &Request{Name: r.Name}); would.Reason() != "" {
			v.Status, v.Reason = Failed, would.Reason()
		}
		return v
	}
	v.Call = trial.String()
	c := &call{tools: t, key: project.RequestKey(r.ID), trial: &attempt{Trial: *trial}, request: &Request{
		Name: r.Name, Roots: r.Roots, Arguments: trial.Arguments, Timeout: cmp.Or(r.Timeout, trialTime),
	}}
	if file := rawjson.TextOf(item, "path"); len(r.Roots.List) == 0 && file != "" {
		dir := filepath.Dir(code.Tool.Below(t.project, file).Path())
		c.request.Roots = roots.Scope{List: roots.OfPaths([]string{dir})}
	}
	result, err := c.make(ctx)
	if err == nil {
		defer result.Done()
	}
	a := c.trial
	switch refused, ok := errors.AsType[*mcp.Error](err); {
	case errors.Is(err, errUnconfined):
		v.Reason = err.Error()
		return v
	case a.done && a.status == trial.ExitCode && !a.lacks:
		v.Status = Passed
		return v
	case a.done && !ok:
		v.Reason, v.Remedy = a.said, a.remedy
	case ok && refused.Data != nil:
		v.Reason = cmp.Or(rawjson.TextOf(refused.Data, "reason"), refused.Message)
	case err != nil:
		v.Reason = err.Error()
	default: // the arguments violate the schema
		v.Reason = string(bytes.Join(result.texts, []byte(" ")))
	}
	v.Status = Failed
	return v
}

// String describes the outcome for people: "✓ --help", or "✗ --help: why; remedy".
func (v *Verdict) String() string {
	if v.Status == Passed {
		return "✓ " + v.Call
	}
	text := string(v.Status) + ": " + v.Reason
	if v.Status == Failed {
		text = strings.TrimSuffix("✗ "+v.Call, " ") + ": " + v.Reason
	}
	if v.Remedy != "" {
		text += "; " + v.Remedy
	}
	return text
}

// AppendJSON adds the outcome to an open object.
func (v *Verdict) AppendJSON(b *rawjson.Builder) {
	b.Name("status").String(string(v.Status))
	b.Optional("call", v.Call).Optional("reason", v.Reason).Optional("remedy", v.Remedy)
}

// A DryRun has the results of the checks of a call that is not made.
type DryRun struct {
	// Refusal is the [*mcp.Error] that the client would get, or nil.
	Refusal error
	// Obstacle explains why the script cannot start, or is "".
	Obstacle string
	// Violations are the schema violations of the arguments. Enforced means that the call would fail because of them.
	Violations []schema.Violation
	Enforced   bool
	// Unchecked explains why the arguments could not be validated, or is nil.
	Unchecked error
}

// Reason returns why the call would be refused, or "". It ignores the arguments.
func (d *DryRun) Reason() string {
	refusal, ok := errors.AsType[*mcp.Error](d.Refusal)
	if !ok {
		return d.Obstacle
	}
	if reason := rawjson.TextOf(refusal.Data, "reason"); reason != "" && !refusal.Explained {
		return refusal.Message + ": " + reason
	}
	return refusal.Message
}

// DryRun makes the checks of a call without starting its script.
func (t *Tools) DryRun(ctx context.Context, r *Request) DryRun {
	c := &call{tools: t, request: r}
	var result DryRun
	switch err := c.authorize(ctx); {
	case errors.Is(err, errMissing):
		result.Obstacle = c.shown(c.script) + " is missing, or nothing that can be run"
	case err != nil:
		result.Refusal = err
	default:
		result.Obstacle = c.obstacle()
	}
	result.Enforced = c.entry.validates(t.project.Calls.Validate, t.project.Meta.ValidateInput)
	s, _, err := t.schemas.Get(c.entry.inputSchema)
	if err != nil {
		result.Unchecked = err
		return result
	}
	if result.Violations = s.Check(r.Arguments); result.Violations != nil && result.Enforced && t.project.Calls.Adjust {
		adjusted, _ := s.Adjust(r.Arguments)
		result.Violations = s.Check(adjusted)
	}
	return result
}

// obstacle explains why an allowed script cannot start, or returns "".
func (c *call) obstacle() string {
	if file := c.windowsFile(c.head(c.script, maxHead), nil); file != "" {
		return windowsLines(c.shown(file))
	}
	if reason := c.missingInterpreter(); reason != "" {
		return c.shown(c.script) + " cannot start: " + reason
	}
	return ""
}
