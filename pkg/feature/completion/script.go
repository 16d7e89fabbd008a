package completion

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
)

func (c *Completions) run(ctx context.Context, q *query, s *source, slot script.Slot) (*Result, error) {
	if slot != nil {
		if err := slot.Enter(ctx); err != nil {
			return nil, err
		}
	}
	spec, err := c.check(s)
	if err != nil {
		return nil, err
	}
	hold, err := c.Sandbox.ConfineProvider(&sandbox.Subject{
		Name: "Completion script " + s.label(c.Project), Script: spec.Script.Path(), Argv: spec.Argv,
	}, false)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "Completion script cannot be confined").WithReason(c.Project.Shown(err))
	}
	defer hold.End()
	pool := hold.Files(c.State.Files())
	files, err := pool.Take()
	if err != nil {
		return nil, fmt.Errorf("hand-off files: %w", err)
	}
	alone := true
	defer func() { pool.Give(files, alone) }()
	if spec.Env, err = c.environ(q, s, files); err != nil {
		return nil, fmt.Errorf("hand-off files: %w", err)
	}
	hold.Apply(&spec)
	res := c.Runner.Run(ctx, spec)
	alone = res.Alone
	c.ScriptLog.Report("completion '"+s.rel+"'", res.Stderr)
	if c.Project.Preserve {
		c.preserve(q.name, &res)
	}
	if err := c.failure(ctx, s, &res); err != nil {
		return nil, err
	}
	output := digestOf(res.Stdout)
	o, err := parseOutput(res.Stdout, q.limit, q.from.offset, output == q.from.output)
	var notJSON *noJSONError
	switch {
	case errors.As(err, &notJSON):
		c.Log(mcp.Warning, logger, "Completion script "+s.label(c.Project)+": "+err.Error())
	case err != nil:
		c.Log(mcp.Err, logger, "Completion script "+s.label(c.Project)+": "+err.Error())
		return nil, mcp.Errorf(mcp.CodeInternal, "Completion provider emitted invalid JSON")
	}
	r := &Result{values: o.values, total: o.total}
	next := &position{offset: o.next, own: o.cursor, pages: q.from.pages + 1, output: output}
	if o.more && next.pages < maxPages {
		if next.offset < 0 {
			next.offset = q.from.offset + len(o.values)
		}
		r.next = encodeCursor(q, s, next)
	}
	return r, nil
}

// digestOf returns a text that identifies an output.
func digestOf(stdout []byte) string {
	sum := sha256.Sum256(stdout)
	return hex.EncodeToString(sum[:16])
}

// check returns how to start a script that is allowed to run (T-620). The log contains the reason
// of a refusal for the author.
func (c *Completions) check(s *source) (script.Spec, error) {
	file := s.script(c.Project)
	var insecure *trust.InsecureError
	switch err := trust.CheckScript(c.Project.Root, s.dir, file.Path()); {
	case errors.As(err, &insecure):
		c.Log(mcp.Err, logger, "Completion script "+s.label(c.Project)+" refused: "+err.Error())
		refusal := mcp.Errorf(mcp.CodeInternal, "Completion script rejected by policy")
		return script.Spec{}, refusal.WithReason(c.Project.Shown(err))
	case err != nil:
		return script.Spec{}, mcp.Errorf(mcp.CodeInternal, "Completion script not found")
	}
	argv, err := script.Command(file.Path())
	if err != nil {
		return script.Spec{}, mcp.Errorf(mcp.CodeInternal, "Completion script not executable")
	}
	calls := &c.Project.Calls
	return script.Spec{
		Script: file, Argv: argv, Dir: c.Project.Root, Timeout: settings.Seconds(s.timeout),
		StdoutLimit: calls.MaxStdout, StderrLimit: calls.MaxStderr,
	}, nil
}

// failure returns the error for a failed run, or nil (T-623, T-624, T-626).
func (c *Completions) failure(ctx context.Context, s *source, res *script.Result) error {
	calls := &c.Project.Calls
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(res.Cause, script.ErrTimedOut):
		e := mcp.Errorf(mcp.CodeInternal, "Completion provider timed out after %ds", s.timeout)
		if reason := calls.StderrTo.Reason(strings.TrimRight(string(res.Stderr), "\r\n")); reason != "" {
			return e.Explain(errors.New(reason))
		}
		return e
	case errors.Is(res.Cause, script.ErrStdoutLimit):
		return mcp.Errorf(mcp.CodeInternal, "Completion output exceeded %d bytes", calls.MaxStdout)
	case errors.Is(res.Cause, script.ErrStderrLimit):
		return mcp.Errorf(mcp.CodeInternal, "Completion stderr exceeded %d bytes", calls.MaxStderr)
	case res.Cause != nil:
		return res.Cause
	case res.Status != 0:
		reason := c.Project.Calls.StderrTo.Reason(strings.TrimRight(string(res.Stderr), "\r\n"))
		return mcp.Errorf(mcp.CodeInternal, "%s", cmp.Or(reason, "Completion provider failed"))
	}
	return nil
}

// preserve copies the output of a script to the state directory (T-625). It ignores errors, because
// the copies are only for debugging.
func (c *Completions) preserve(name string, res *script.Result) {
	const longest = 100
	if name = project.FileName(name); len(name) > longest {
		name = name[:longest]
	}
	dir, err := c.State.Root()
	if err != nil {
		return
	}
	name = handoff.Unique("completion." + name + ".")
	handoff.Create(dir, name+".stdout", res.Stdout)
	handoff.Create(dir, name+".stderr", res.Stderr)
}
