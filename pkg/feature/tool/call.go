package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/text/ansi"
	"mcp-bash/pkg/wire/known"
	"mcp-bash/pkg/wire/mcp"
)

type call struct {
	tools   *Tools
	request *Request
	entry   entry
	file    code.File
	script  string   // path: absolute, with links unresolved
	argv    []string // command that starts the script
	needs   access.Declaration
	key     string // identifies the call in file names

	inherits    *scriptenv.Rule // variables of the server's environment that the script inherits
	files       *handoff.Dir
	pool        *handoff.Pool
	confinement *sandbox.Confinement // nil if the call is not confined

	insecure *trust.InsecureError // why another user could change files that the call runs; nil if none could

	listener Listener // nil for no listener
	progress *handoff.Follower
	logs     *handoff.Follower
	input    inputRelay
	clock    *clock
	waiting  time.Time // start of waiting for the client; zero if the script does not wait
	unwatch  func()    // ends the watch of the files of a script that waits; nil: they are not watched
	live     bool      // forward progress and logs while the script runs
	trace    *trace

	adjusted []schema.Adjustment // arguments that were converted for the schema
	trial    *attempt            // nil: an ordinary call

	bound int           // size from which the output is stored, or 0
	spool *results.File // large output, or nil
	plain *ansi.Writer  // of spool, without colors, or nil
}

// ErrCancelled is the cause of a context whose caller no longer needs the result.
var ErrCancelled = errors.New("cancelled")

// Call calls a tool. The caller calls [Result.Done] after sending the result. The error is an [*mcp.Error] for the
// client. If ctx ends before the script, it is [mcp.CodeToolCancelled], which servers do not send after a cancellation.
func (t *Tools) Call(ctx context.Context, r *Request) (*Result, error) {
	c := &call{tools: t, request: r, key: project.RequestKey(r.ID)}
	if t.searches(ctx, r.Name) {
		return c.search(ctx)
	}
	return c.make(ctx)
}

func (c *call) make(ctx context.Context) (*Result, error) {
	t, r := c.tools, c.request
	if r.Slot != nil {
		if err := r.Slot.Enter(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.authorize(ctx); err != nil {
		if c.insecure != nil {
			c.logf(mcp.Warning, "Tool '%s' refused: %s", r.Name, c.insecure)
		}
		return nil, err
	}
	if res := c.validateArguments(); res != nil {
		c.dropInvalid(res)
		r.fail(res.cause)
		return res, nil
	}
	if err := t.Runner.Prepare(c.file); err != nil {
		return nil, c.cannotStart(err)
	}
	if err := c.confine(); err != nil {
		return nil, err
	}
	var err error
	if c.files, err = c.pool.Take(); err != nil {
		c.confinement.End()
		return nil, c.cannotStart(err)
	}
	res, err := c.run(ctx)
	if err != nil {
		c.pool.Give(c.files, true)
		c.confinement.End()
		return nil, c.cannotStart(err)
	}
	c.removeColors(&res)
	var link json.RawMessage
	if c.bound > 0 {
		link = c.storeLarge(&res)
	}
	result, err := c.outcome(&res)
	c.recordEnd(&res, result, err)
	if c.trial != nil {
		c.trial.ended(c, &res)
	}
	if link != nil && err == nil && r.Links {
		result.embedded = append(result.embedded, link)
	}
	if res.Left != 0 {
		left := c.explained(fmt.Sprintf("%s left a process running (process group %d); it is terminated when mcp-bash ends; "+
			"start it with setsid to keep it", c.shown(c.script), res.Left))
		if err == nil {
			result.texts = append(result.texts, []byte(left))
		}
	}
	c.confinement.Ended() // after outcome, which reads files with the permissions of the script
	cleanup := func() { c.pool.Give(c.files, res.Alone); c.confinement.Release() }
	if t.project.Preserve {
		cleanup = func() { c.pool.Keep(c.files) } // keeps the files and their directory
	}
	if err != nil {
		cleanup()
		return nil, err
	}
	c.dropInvalid(result)
	c.replacePictures(result)
	if c.entry.outputSchema == nil && known.Find(r.Client.Name).StructuredAlone && result.hasFiles() {
		result.structured = nil // T-238
	}
	result.cleanup, result.left, result.adjusted = cleanup, res.Left != 0, c.adjusted
	result.keepColors = c.entry.keepColors
	return result, nil
}

// confine limits the call to the declared capabilities, and chooses the location of its files.
func (c *call) confine() error {
	t := c.tools
	confinement, err := t.Sandbox.ConfineTool(&sandbox.Subject{
		Name: "Tool '" + c.entry.name + "'", Script: c.script, Argv: c.argv, Needs: c.needs,
		Roots: c.request.Roots.List, Observer: c.request.Observer,
	})
	var unconfinable *sandbox.Unconfinable
	switch {
	case errors.As(err, &unconfinable):
		return mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' cannot be confined",
			c.entry.name).WithReason(err).Because(mcp.CauseConfined)
	case err != nil && c.request.Observer == nil:
		return c.startError(fmt.Errorf("cannot be confined: %w", err))
	case err != nil:
		return c.startError(err)
	}
	c.confinement, c.pool = confinement, confinement.Files(t.files)
	if c.trial != nil && !c.isConfined() {
		confinement.End()
		return errUnconfined
	}
	return nil
}

// authorize makes the checks before the start, in the order of the contract (tools section 2).
func (c *call) authorize(ctx context.Context) error {
	t, r := c.tools, c.request
	if r.Arguments == nil {
		r.Arguments = json.RawMessage("{}")
	}
	if r.Meta == nil {
		r.Meta = json.RawMessage("{}")
	}
	if err := t.project.Permit(t.Caller, auth.Tool, r.Name, r.Name); err != nil {
		return err
	}
	item, err := t.Find(ctx, r.Name)
	if withheld, ok := errors.AsType[*registry.WithheldError](err); ok {
		return withheld
	}
	if err != nil || item == nil {
		e := mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' not found", r.Name).Because(mcp.CauseNotFound) // T-4
		var known *mcp.Error
		if errors.As(err, &known) {
			e.Data = known.Data
		} else if err == nil && t.Near != nil {
			if near := t.Near(ctx, r.Name); near != "" && t.project.Permit(t.Caller, auth.Tool, near, near) == nil {
				return e.Explain(fmt.Errorf("no tool has this name; did you mean '%s'?", near))
			}
		}
		return e
	}
	c.entry = parseEntry(item)
	if r.Event != nil {
		if r.Event.Draft.Schema = c.entry.inputSchema; c.entry.inputSchema == nil {
			r.Event.Draft.Schema = json.RawMessage("{}")
		}
	}
	if c.entry.path == "" {
		return mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' path unavailable", r.Name).Because(mcp.CauseStart) // T-5
	}
	if err := t.Level.Refusal(item); err != nil { // T-5a
		return err
	}
	if c.needs, err = access.DeclarationOf(item); err != nil { // T-5b
		return mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' has an unreadable declaration", r.Name).WithReason(err)
	}
	if c.trial != nil {
		c.needs = c.needs.Harmless()
	}
	if r.RequireCapabilities {
		if err := c.entry.missing(&r.Client); err != nil {
			return err
		}
	}
	c.file = code.Tool.Below(t.project, c.entry.path)
	c.script = c.file.Path()
	decision, refusal := t.Policy.Check(ctx, c.entry.name, item, c.identity()) // T-7
	if refusal != nil {
		return refusal.Because(cmp.Or(refusal.Cause, mcp.CausePolicy))
	}
	c.inherits = decision.Variables
	if err := c.checkInherit(); err != nil {
		return err
	}
	switch err := trust.CheckScript(t.project.Root, t.project.Tools, c.script); {
	case errors.As(err, &c.insecure): // T-8
		refusal = mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' path rejected by policy", r.Name)
		if decision.Own {
			refusal.Message = "Tool path rejected by policy"
		}
		return &Unusable{refusal.WithReason(t.project.Shown(err)).Because(mcp.CauseInsecure)}
	case err != nil:
		return errMissing
	}
	if c.insecure = t.project.Meta.Insecure; c.insecure != nil { // T-8a
		return mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' blocked by policy (insecure server.meta.json)", r.Name).
			WithReason(fmt.Errorf("%w; then restart the server", t.project.Shown(c.insecure))).Because(mcp.CauseInsecure)
	}
	if err := t.project.Meta.Unreadable; err != nil { // T-8a
		return mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' blocked by policy (unreadable server.meta.json)", r.Name).
			WithReason(fmt.Errorf("%w; correct it, then restart the server", err)).Because(mcp.CausePolicy)
	}
	if r.Event != nil && r.Event.Trace.ID != "" {
		t.digests.fill(&r.Event.Draft, c.script, item)
	}
	c.argv, err = script.Command(c.script)
	switch {
	case err != nil && script.Shortage(err) != "":
		return c.cannotStart(err)
	case err != nil:
		return errMissing
	}
	return nil
}

// cannotStart returns the error for a failure that the script does not cause. It logs the failure for the operator.
func (c *call) cannotStart(err error) *mcp.Error {
	c.tools.faults(mcp.Err, logger, fmt.Sprintf("Tool '%s' cannot be started: %v%s", c.request.Name, err,
		script.Shortage(err)))
	return c.startError(err)
}

func (c *call) startError(err error) *mcp.Error {
	cause := mcp.CauseStart
	if _, ok := errors.AsType[*script.NotAllowedError](err); ok {
		cause = mcp.CauseLocked
	}
	e := mcp.Errorf(mcp.CodeInternal, "Tool '%s' cannot be started", c.request.Name)
	return e.WithData(err.Error() + script.Shortage(err)).Because(cause)
}

// An Unusable is the error for a listed tool that cannot run because of its path, its file or its environment mode.
type Unusable struct{ answer *mcp.Error }

func (u *Unusable) Error() string { return u.answer.Error() }

// Unwrap returns the error for the client.
func (u *Unusable) Unwrap() error { return u.answer }

var errMissing = &Unusable{mcp.Errorf(mcp.CodeInvalidParams, "Tool executable missing").Because(mcp.CauseStart)} // T-9

// checkInherit refuses to pass the whole environment without a separate permission, and otherwise warns once.
func (c *call) checkInherit() error {
	if c.inherits.Mode != scriptenv.Inherit {
		return nil
	}
	if c.inherits.Blocked() {
		return &Unusable{mcp.Errorf(mcp.CodeInvalidParams,
			"MCPBASH_TOOL_ENV_MODE=inherit requires MCPBASH_TOOL_ENV_INHERIT_ALLOW=true").Because(mcp.CausePolicy)}
	}
	c.tools.inherit.Do(func() {
		c.tools.Log(mcp.Warning, logger, "MCPBASH_TOOL_ENV_MODE=inherit; tools receive the full host environment")
	})
	return nil
}

func (c *call) run(ctx context.Context) (script.Result, error) {
	t, r := c.tools, c.request
	calls := &t.project.Calls
	c.listener, c.progress, c.logs = r.Listener, handoff.Follow(c.files.Progress), handoff.Follow(c.files.Logs)
	c.input = inputRelay{ctx: ctx, files: c.files, asker: r.Asker, client: &r.Client, log: t.Log, event: r.Event}
	c.live = t.project.Sessions.LiveProgress || r.Live
	env, err := c.environ()
	if err != nil {
		return script.Result{}, fmt.Errorf("hand-off files: %w", err)
	}
	spec := script.Spec{
		Script: c.file, Argv: c.command(), Prepared: true, Dir: t.project.Root, Env: env,
		StdoutLimit: calls.MaxStdout, StderrLimit: calls.MaxStderr, Grew: r.Grew, Started: r.Started,
		Interval: t.project.Sessions.ProgressFlush / 2,
	}
	c.spoolLarge(&spec)
	c.confinement.Apply(&spec)
	if calls.StreamStderr {
		spec.StderrTee = t.Stderr
	}
	if calls.Trace {
		c.startTrace(&spec)
	} else {
		c.watchEnd(&spec)
	}
	c.clock = newClock(calls, &c.entry, r.Timeout, time.Now())
	spec.Watch = func(now time.Time) error { return c.watch(ctx, now) }
	spec.Pace = c.pace
	c.logStart()
	res := t.Runner.Run(ctx, spec)
	c.stopWaiting()
	c.input.end()
	if c.cancelled(res.Cause) == nil {
		c.finishStreams()
	}
	if c.trace != nil {
		c.trace.finish(&res)
	}
	if !calls.StreamStderr {
		t.ScriptLog.Report("tool '"+c.entry.name+"'", res.Stderr)
	}
	if t.Debug() {
		c.logf(mcp.Debug, "Complete tool=%s exit=%d stdout_bytes=%d", c.entry.name, res.Status, len(res.Stdout))
	}
	return res, nil
}

// watch runs every few milliseconds while the script runs.
func (c *call) watch(ctx context.Context, now time.Time) error {
	if ctx.Err() != nil {
		c.input.cancel()
		return context.Cause(ctx)
	}
	var active bool
	switch { // these checks come before a question can suspend the call
	case !c.listening():
	case c.live:
		active = c.progress.Poll(c.sendProgress)
		c.logs.Poll(c.sendLog)
	default:
		active = c.progress.Touched()
	}
	open := c.input.poll() || !c.listening()
	if c.input.lost != nil {
		return c.input.lost
	}
	paused := open || !c.waiting.IsZero() // during a wait, the time since the last tick can be long
	switch {
	case !open:
		c.stopWaiting()
	case c.waiting.IsZero():
		c.waiting = now
		if waker := c.input.waker; waker != nil {
			c.unwatch = c.tools.watcher.Watch(c.files, waker.Wake)
			waker.Wake() // the files may have changed before the watch began
		}
	}
	return c.clock.tick(now, active, paused)
}

// stopWaiting is called when the script no longer waits for its client.
func (c *call) stopWaiting() {
	c.waiting = time.Time{}
	if c.unwatch != nil {
		c.unwatch()
		c.unwatch = nil
	}
}

// pace returns the time until the next tick of a script that waits for its client. The answer, the end of the call and,
// if possible, a change of the files cause an earlier tick. Without a watch of the files, the time grows with the wait,
// so that many waiting scripts cost little.
func (c *call) pace() (time.Duration, *script.Waker) {
	switch {
	case c.waiting.IsZero():
		return 0, nil
	case c.unwatch != nil:
		return watchedPace, c.input.waker
	}
	return min(c.clock.last.Sub(c.waiting)/8, slowestPace), c.input.waker
}

const (
	watchedPace = 5 * time.Second
	slowestPace = 500 * time.Millisecond
)

func (c *call) listening() bool { return c.request.Listener == nil || c.request.Listener.Ready() }

// cancelled returns the cause if the caller ended the call.
func (c *call) cancelled(cause error) error {
	var timeout *timeoutError
	var lost *lostAnswer
	switch {
	case cause == nil, errors.As(cause, &timeout), errors.As(cause, &lost), errors.Is(cause, script.ErrStdoutLimit),
		errors.Is(cause, script.ErrStderrLimit):
		return nil
	}
	return cause
}

// finishStreams forwards the remaining reports. Without a listener it collects them, because the
// files of an ended call are reused.
func (c *call) finishStreams() {
	collected := &collector{}
	listened := c.listening()
	if !listened {
		c.listener = collected
	}
	complete := c.progress.Finish(c.sendProgress)
	complete = c.logs.Finish(c.sendLog) && complete
	if !listened {
		c.request.Listener.Keep(collected.Reports)
	}
	if !complete || collected.full {
		c.logf(mcp.Warning, "Tool '%s' left more progress or log messages than are read after its end; the rest is dropped",
			c.entry.name)
	}
}

func (c *call) sendProgress(line []byte) {
	c.clock.silent = false
	p, ok := parseProgress(line)
	if !ok {
		c.tools.Log(mcp.Debug, logger, "Dropped an invalid line of the progress stream")
		return
	}
	if c.listener != nil {
		c.listener.Progress(p)
	}
}

func (c *call) sendLog(line []byte) {
	m, ok := parseLog(line)
	if !ok {
		c.tools.Log(mcp.Debug, logger, "Dropped an invalid line of the log stream")
		return
	}
	if c.listener != nil {
		c.listener.Log(m)
	}
}

// logStart logs sizes, but never values.
func (c *call) logStart() {
	if !c.tools.Debug() {
		return
	}
	timeout := "none"
	if c.clock.limit > 0 {
		timeout = fmt.Sprint(c.clock.secs)
	}
	c.logf(mcp.Debug, "Invoke tool=%s arg_count=%d arg_bytes=%d meta_keys=%d roots=%d timeout=%s trace=%t",
		c.entry.name, len(rawjson.Members(c.request.Arguments)), len(c.request.Arguments),
		len(rawjson.Members(c.entry.item)), len(c.request.Roots.List), timeout, c.trace != nil)
}
