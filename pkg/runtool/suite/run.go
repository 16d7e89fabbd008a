package suite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/file"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/runtool/answers"
	"mcp-bash/pkg/runtool/cases"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

// A result is a test that was run.
type result struct {
	*test
	differences []cases.Difference // nil if the test passed
	stderr      string             // of the tool
	took        time.Duration
	changed     []rawjson.Member // members of the expectation that --update changes
	skipped     string           // why the test was not run, or ""
}

func (r *result) passed() bool { return len(r.differences) == 0 && r.skipped == "" }

func (r *result) failed() bool { return len(r.differences) > 0 && r.changed == nil }

// A runner runs tests.
type runner struct {
	cli.Streams
	*options
	base  *project.Project
	tree  func() project.Tree
	tests []*test

	engines map[string]*server // by their variables
	ends    []func()           // end the engines

	logging  sync.Mutex
	warnings []string // of the servers, each once
}

// A server has the engine and the roots for calls of tools with the same variables.
type server struct {
	*engine.Engine
	roots roots.Scope // of a client without roots
}

// interrupted is why a test that a signal ended or prevented has no result.
const interrupted = "interrupted"

// all runs the tests in parallel, and calls done for each in order. When ctx ends, the rest is skipped.
func (r *runner) all(ctx context.Context, done func(*result)) error {
	for _, t := range r.tests {
		if _, err := r.server(t.Env); err != nil {
			return err
		}
	}
	jobs := r.jobs
	if jobs == 0 {
		jobs = r.base.Limits.Concurrent
	}
	slots := make(chan struct{}, jobs)
	results := make([]chan *result, len(r.tests))
	for i := range results {
		results[i] = make(chan *result, 1)
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		for i, t := range r.tests {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				res := r.one(ctx, t)
				if ctx.Err() != nil {
					res = &result{test: t, skipped: interrupted}
				}
				results[i] <- res
			})
		}
	})
	for _, c := range results {
		done(<-c)
	}
	return nil
}

// keyOf returns a text that is the same for the same variables.
func keyOf(env map[string]string) string { return fmt.Sprintf("%q", env) } // fmt sorts maps

// server returns the server for calls with additional variables. The first call for these variables makes it.
func (r *runner) server(variables map[string]string) (*server, error) {
	key := keyOf(variables)
	if e := r.engines[key]; e != nil {
		return e, nil
	}
	env := r.base.Env.Clone()
	maps.Copy(env, variables)
	e, end, err := engine.ForCommand(r.base.Root, env, r.tree,
		engine.Config{Log: r.log, Notice: r.Notice, Stderr: r.Err})
	if err != nil {
		return nil, err
	}
	r.ends = append(r.ends, end)
	scope, err := roots.Fallback(e.Project)
	if err != nil {
		return nil, cli.Failf(cli.CodeInvalid, "%v", err)
	}
	r.engines[key] = &server{e, scope}
	return r.engines[key], nil
}

// listed returns the tools of the project.
func (r *runner) listed(ctx context.Context) ([]item.Item, error) {
	e, err := r.server(nil)
	if err != nil {
		return nil, err
	}
	tools, err := e.Catalog.List(ctx, kinds.Tools)
	if err != nil {
		return nil, kinds.Tools.Unavailable(err)
	}
	return tools.Items, nil
}

// log keeps a warning of a server.
func (r *runner) log(level mcp.Level, logger, text string) {
	line := cli.Sprintf("test: %s: %s: %s\n", level, logger, secrets.Text(text))
	r.logging.Lock()
	defer r.logging.Unlock()
	if level >= mcp.Warning && !slices.Contains(r.warnings, line) {
		r.warnings = append(r.warnings, line)
	}
}

// close ends the engines.
func (r *runner) close() {
	for _, end := range r.ends {
		end()
	}
}

// one runs one test.
func (r *runner) one(ctx context.Context, t *test) *result {
	res := &result{test: t}
	start := time.Now()
	defer func() { res.took = time.Since(start) }()
	differs := func(what, got string) *result {
		res.differences = append(res.differences, cases.Difference{What: what, Got: got})
		return res
	}
	e := r.engines[keyOf(t.Env)]
	switch {
	case t.isTrial:
		res.try(ctx, e)
		return res
	case t.recorded != nil:
		if res.skipped = t.skip; t.skip == "" {
			res.repeat(ctx, e)
		}
		return res
	}
	entry, err := e.Find(ctx, t.Tool)
	switch {
	case err != nil:
		return differs("the tools cannot be read", err.Error())
	case entry == nil:
		return differs("the tool does not exist", t.Tool+cli.Meant(e.Near(ctx, t.Tool)))
	}
	request := &tool.Request{
		Name: t.Tool, Arguments: rawjson.Normal(t.Arguments), Timeout: t.Timeout, Roots: e.roots,
		ProgressToken: json.RawMessage(`"test"`),
	}
	if t.HasRoots {
		if request.Roots, err = roots.Listed(t.Roots, r.base.Root, r.base.Env["HOME"]); err != nil {
			return differs("roots", strings.TrimPrefix(err.Error(), roots.Option+": "))
		}
	}
	if t.DryRun {
		would := e.Tools.DryRun(ctx, request)
		if reason := would.Reason(); reason != "" {
			return differs("the call would be refused", reason)
		}
		for _, v := range would.Violations {
			differs("arguments", v.String())
		}
		return res
	}
	res.call(ctx, e, request, r.update)
	return res
}

// call calls the tool and compares the outcome with what the test expects. updates prepares a change of the
// expectation.
func (r *result) call(ctx context.Context, e *server, request *tool.Request, updates bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	at := func(moment cases.Cancel) bool {
		if r.Cancel == moment {
			cancel(tool.ErrCancelled)
		}
		return r.Cancel == moment
	}
	if d, ok := r.Cancel.After(); ok {
		defer time.AfterFunc(d, func() { cancel(tool.ErrCancelled) }).Stop()
	}
	request.Listener = listener{func() { at(cases.AtProgress) }}
	var mu sync.Mutex
	given, ok := answers.Read(r.Answers)
	if !ok && r.Cancel == cases.AtQuestion {
		given, _ = answers.Read(json.RawMessage("[]"))
	}
	asker := &answers.Responder{Given: given, Asked: func() bool { return at(cases.AtQuestion) }, Warn: func(text string) {
		if mu.Lock(); ctx.Err() == nil {
			r.differences = append(r.differences, cases.Difference{What: "answers", Got: text})
		}
		mu.Unlock()
	}}
	request.Asker, request.Client = asker, asker.Capabilities()
	answer, err := e.Tools.Call(ctx, request)
	if err == nil {
		defer answer.Done()
	}
	end, ok := cases.OutcomeOf(answer, err)
	if !ok {
		r.differences = append(r.differences, cases.Difference{What: "the call failed", Got: err.Error()})
		return
	}
	mu.Lock()
	defer mu.Unlock()
	inAnswers := len(r.differences)
	r.differences = append(r.differences, r.Expect.Compare(&end)...)
	if changed, ok := r.Expect.Accept(&end); ok && updates && inAnswers == 0 {
		r.changed = changed
	}
	stderr, _ := rawjson.Text(rawjson.Path(end.Result, "_meta", "stderr"))
	if stderr = strings.TrimSpace(stderr); len(r.differences) > 0 && !strings.Contains(end.Text(), stderr) {
		r.stderr = stderr
	}
}

// A listener ignores the reports of a tool, except for the first progress.
type listener struct{ progressed func() }

// Ready implements [tool.Listener].
func (listener) Ready() bool { return true }

// Progress implements [tool.Listener].
func (l listener) Progress(tool.Progress) { l.progressed() }

// Log implements [tool.Listener].
func (listener) Log(tool.LogMessage) {}

// Keep implements [tool.Listener].
func (l listener) Keep(r tool.Reports) { r.Deliver(l) }

// trials returns a test for each tool with a trial.
func (r *runner) trials(ctx context.Context) (tests []*test, err error) {
	items, err := r.listed(ctx)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if rawjson.Get(item.JSON, "trial") == nil {
			continue
		}
		file := folder.Label(r.base.Root, r.base.Tools) + "/" + rawjson.TextOf(item.JSON, "path")
		tests = append(tests, &test{Case: cases.Case{Name: "trial", Tool: item.Name}, file: file, isTrial: true})
	}
	return tests, nil
}

// try makes the trial of a tool.
func (r *result) try(ctx context.Context, e *server) {
	v := e.Tools.Try(ctx, &tool.Request{Name: r.Tool})
	switch v.Status {
	case tool.Failed:
		d := cases.Difference{What: "the call " + v.Call + " failed", Got: v.Reason}
		if v.Remedy != "" {
			d.Got += "\n" + v.Remedy
		}
		r.differences = []cases.Difference{d}
	case tool.NotTried:
		r.skipped = v.Reason
	}
}

// isRecord reports whether a file is the record of a server, not a file of cases.
func isRecord(file string) bool { return strings.Contains(filepath.Base(file), ".jsonl") }

// maxRecorded is the maximum number of requests of a record that can be tests.
const maxRecorded = 10_000

// loadRecord returns the requests of a record as tests.
func loadRecord(file string) (tests []*test, err error) {
	f, err := boundedfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	asked := map[string]bool{} // ids of requests with several answers
	err = trail.ReadLog(f, func(e *trail.Entry) error {
		t := &test{file: file, path: file, recorded: e}
		switch {
		case e.Broken != nil || !e.IsCall():
			return nil
		case len(tests) == maxRecorded:
			return fmt.Errorf("more than %d requests; choose some with mcp-bash audit", maxRecorded)
		case e.Asked || e.Interim || asked[e.ID]:
			asked[e.ID] = true
			t.skip = "it asked its client, or became a task"
		case e.Outcome != events.Success && e.Outcome != events.ApplicationError:
			t.skip = "the project did not decide its outcome"
		case !e.IsComplete():
			t.skip = "the record does not have all of its arguments"
		}
		t.Case = cases.Case{Line: e.Line, Tool: e.Target, Arguments: bytes.Clone(e.Arguments)}
		e.Raw, e.Arguments = nil, nil
		tests = append(tests, t)
		return nil
	})
	if err == nil && tests == nil {
		err = errors.New("there is no request in it")
	}
	return tests, err
}

// repeat makes a recorded request again if it is read-only, and compares how it ends.
func (r *result) repeat(ctx context.Context, e *server) {
	then, now := r.recorded, &events.Event{}
	var err error
	switch {
	case then.Type == events.ToolCall:
		entry, missing := e.Find(ctx, r.Tool)
		if missing != nil || !rawjson.True(rawjson.Path(entry, "annotations", "readOnlyHint")) {
			r.skipped = "no read-only tool has this name"
			return
		}
		var answer *tool.Result
		answer, err = e.Tools.Call(ctx, &tool.Request{Name: r.Tool, Arguments: r.Arguments, Roots: e.roots, Event: now})
		if err == nil {
			answer.Done()
		}
	case then.Type == events.ResourceRead && strings.HasPrefix(r.Tool, "file:"):
		c := e.ResourceConfig()
		c.FindName, c.New, c.Log, c.Debug = e.Lookup(kinds.Resources), files, e.Log, e.Debug
		_, err = resource.New(c).Read(ctx, resource.Request{URI: r.Tool})
	case then.Type == events.PromptGet:
		prompts := prompt.Prompts{Project: e.Project, Find: e.Prompt, Log: e.Log, Files: e.Files}
		_, err = prompts.Get(ctx, &prompt.Request{Name: r.Tool, Arguments: r.Arguments})
	default:
		r.skipped = "only tools, prompts and files are asked again"
		return
	}
	now.Cause = now.Draft.Cause
	if refusal, ok := errors.AsType[*mcp.Error](err); ok {
		now.Cause = cmp.Or(now.Cause, refusal.Why())
	}
	was := ending(then.Outcome, then.Reason, then.Status)
	is := ending(now.Outcome(), string(now.Cause), fmt.Sprint(now.Draft.Status))
	if was != is {
		r.differences = append(r.differences, cases.Difference{What: "outcome", Want: was, Got: is})
	}
}

// files returns the provider of files for every URI, because results from the network differ each time.
func files(_ string, c provider.Config) provider.Provider {
	return &file.Provider{Dir: c.Root, Roots: c.FileRoots, Files: c.Files}
}

// ending describes how a request ended.
func ending(outcome events.Outcome, cause, status string) string {
	if status != "" && status != "0" {
		cause += " " + status
	}
	return strings.TrimSpace(string(outcome) + " " + cause)
}
