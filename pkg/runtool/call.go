package runtool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/yamltext"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/runtool/answers"
	"mcp-bash/pkg/runtool/cases"
	"mcp-bash/pkg/wire/mcp"
)

// call runs the tool and prints its result.
func (r *run) call(ctx context.Context, e *engine.Engine, item json.RawMessage, asker *answers.Responder,
	interrupted func() int) error {
	request := &tool.Request{
		Name: r.tool, Arguments: r.args, Meta: r.meta, Timeout: r.timeout, Roots: r.roots,
		Asker: asker, Client: asker.Capabilities(), Links: true,
	}
	if r.display != nil {
		request.Listener, request.ProgressToken = r.display, json.RawMessage(`"run-tool"`)
	}
	var seen *observer
	if r.explain || r.learn {
		seen = &observer{runner: r.runner, sandbox: e.Tools.Sandbox, learns: r.learn, begin: r.warnUnconfined}
		request.Observer = seen
	}
	result, err := e.Tools.Call(ctx, request)
	if r.display != nil {
		r.display.end()
	}
	if r.saveTest != "" {
		if err := r.save(ctx, result, err); err != nil {
			return err
		}
	}
	if r.explain && (err == nil || seen.session != nil) {
		r.printRefused(seen)
	}
	var refusal *mcp.Error
	var unusable *tool.Unusable
	switch {
	case errors.As(err, &refusal) && r.learn && seen.session != nil: // error of the tool itself
		r.printError(refusal)
		return r.printLearned(ctx, seen, item, true)
	case errors.As(err, &unusable) && errors.As(err, &refusal) && !r.forPeople() && !r.json:
		return r.unusable(refusal)
	case errors.As(err, &refusal):
		return r.failed(refusal, interrupted())
	case err != nil:
		return err
	}
	defer result.Done()
	if r.learn && seen.session != nil {
		return r.printLearned(ctx, seen, item, result.IsError)
	}
	extra := mcp.Extra{}
	if result.Failure != nil {
		extra.Members = errorMembers(result.Failure)
	}
	if r.explain && r.json {
		extra.Members = append(extra.Members, r.explanation(seen))
	}
	line := result.AppendJSON(make([]byte, 0, result.Size()), extra)
	r.noteStored(line)
	if r.text {
		r.showTexts(line)
		r.printEnd(line, result.Failure != nil)
	} else if r.readable() {
		r.showResult(line)
		r.printEnd(line, result.Failure != nil)
	} else if _, err := r.Out.Write(append(line, '\n')); err != nil {
		return err
	}
	if r.learn { // the arguments were invalid
		cli.Printf(r.Err, "run-tool: nothing was learned: %s did not run\n", r.tool)
	}
	if result.Failure != nil || (r.check || r.learn) && result.IsError {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// warnUnconfined warns before the start of an unconfined tool.
func (r *run) warnUnconfined() {
	if r.learn {
		cli.Printf(r.Err, "run-tool: warning: --learn runs %s unconfined, with all your permissions\n", r.tool)
	}
}

// failed prints an error that a client would get. sig is the signal that ended the call, or 0.
func (r *run) failed(e *mcp.Error, sig int) error {
	if r.forPeople() {
		r.printError(e)
	} else {
		var b rawjson.Builder
		b.Object()
		for _, m := range errorMembers(e) {
			b.Name(m.Name).Raw(m.Value)
		}
		fmt.Fprintf(r.Out, "%s\n", b.End().Bytes())
	}
	if sig != 0 {
		return cli.ExitCode(cli.ExitSignal + sig)
	}
	return cli.ExitCode(cli.ExitFailed)
}

// unusable prints the refusal of a script as the Bash edition does: a line on standard output, not
// JSON (CLI-803b). The reason is printed on standard error.
func (r *run) unusable(e *mcp.Error) error {
	cli.Printf(r.Out, "run-tool: %s\n", e.Message)
	if reason := rawjson.TextOf(e.Data, "reason"); reason != "" {
		cli.Printf(r.Err, "run-tool: %s\n", reason)
	}
	return cli.ExitCode(cli.ExitFailed)
}

// errorMembers returns the members that the Bash edition prints for a failure.
func errorMembers(e *mcp.Error) []rawjson.Member {
	data := e.Data
	if data == nil {
		data = json.RawMessage("null")
	}
	return []rawjson.Member{
		{Name: "_mcpToolError", Value: json.RawMessage("true")}, {Name: "code", Value: rawjson.Int(e.Code)},
		{Name: "message", Value: rawjson.Quote(e.Message)}, {Name: "data", Value: data},
	}
}

// maxTestFile limits the file of --save-test, in bytes.
const maxTestFile = 1 << 20

// checkTestName returns an error unless a name is valid for a file with test cases.
func checkTestName(name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`).MatchString(name) {
		return cli.Usagef("--save-test: %q is not a name of letters, digits, _, . and -", name)
	}
	return nil
}

// save adds a test case for the call to tests/NAME.yaml. err is the error of the call, or nil.
func (r *run) save(ctx context.Context, result *tool.Result, err error) error {
	refusal, isRefusal := errors.AsType[*mcp.Error](err)
	end, ok := cases.OutcomeOf(result, err)
	if !ok || isRefusal && refusal.Cause == mcp.CauseNotListed || context.Cause(ctx) != nil { // an interrupted call
		return nil
	}
	var b rawjson.Builder
	b.Object().Name("tool").String(r.tool)
	if len(rawjson.Members(r.args)) > 0 {
		b.Name("arguments").Raw(r.args)
	}
	if r.given("roots") {
		b.Name("roots").Strings(r.savedRoots())
	}
	if r.given("elicit") && r.answersJSON != nil {
		b.Name("answers").Raw(r.answersJSON)
	}
	if r.timeout > 0 {
		b.Name("timeout").Int(r.timeout)
	}
	b.Name("expect").Raw(expected(&end))
	label := project.TestsDir + "/" + strings.TrimSuffix(r.saveTest, ".yaml") + ".yaml"
	if err := r.addCase(ctx, filepath.Base(label), yamltext.AppendMembers(nil, b.End().Bytes(), 0)); err != nil {
		return &cli.Error{Code: cli.CodeInvalid, Op: "write", Subject: label, Cause: err}
	}
	cli.Printf(r.Err, "run-tool: %s has a case for this call; run it with mcp-bash test\n", label)
	return nil
}

// savedRoots returns the roots for a test case. Roots in the project are relative to it.
func (r *run) savedRoots() (paths []string) {
	for _, root := range r.roots.List {
		path := root.Path
		if rel, err := filepath.Rel(r.project.Root, path); err == nil && filepath.IsLocal(rel) {
			path = filepath.ToSlash(rel)
		}
		paths = append(paths, path)
	}
	return paths
}

// expected returns the expectation of a case that an outcome meets.
func expected(end *cases.Outcome) json.RawMessage {
	var b rawjson.Builder
	b.Object()
	if end.Error != nil {
		return b.Name("error").Object().Members(end.Error, "data").End().End().Bytes()
	}
	if end.Failed() {
		b.Name("error").Bool(true)
	}
	if structured := end.Structured(); structured != nil {
		return b.Name("structured").Raw(structured).End().Bytes()
	}
	text := end.Text()
	if strings.Contains(text, "\n") {
		text += "\n"
	}
	return b.Name("text").String(text).End().Bytes()
}

// addCase appends a case to a file of the project.
func (r *run) addCase(ctx context.Context, name string, text []byte) error {
	root, err := os.OpenRoot(r.project.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(project.TestsDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	dir, err := root.OpenRoot(project.TestsDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	o := userfile.Options{Max: maxTestFile, Mode: 0o644, Wait: lockWait}
	_, err = userfile.Edit(ctx, dir, name, o, func(f userfile.File) ([]byte, error) {
		before := strings.TrimRight(string(f.Text), "\n")
		if before == "" {
			return text, nil
		}
		return append([]byte(before+"\n---\n"), text...), nil
	})
	return err
}

// try makes the trials of tools, as many at a time as there are processors, and prints their outcomes.
func (r *run) try(ctx context.Context, e *engine.Engine) error {
	names := append([]string{r.tool}, r.more...)
	for _, name := range r.more {
		if _, err := find(ctx, e, name); err != nil {
			return err
		}
	}
	verdicts := make([]tool.Verdict, len(names))
	slots := make(chan struct{}, runtime.NumCPU())
	var group sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			request := &tool.Request{Name: name, Timeout: r.timeout}
			if r.given("roots") {
				request.Roots = r.roots
			}
			verdicts[i] = e.Tools.Try(ctx, request)
		})
	}
	group.Wait()
	failed := false
	for i, v := range verdicts {
		failed = failed || v.Status == tool.Failed
		if r.json {
			var b rawjson.Builder
			b.Object().Name("tool").String(names[i])
			v.AppendJSON(&b)
			fmt.Fprintf(r.Out, "%s\n", b.End().Bytes())
		} else {
			cli.Printf(r.Out, "%s: %s\n", names[i], v.String())
		}
	}
	if r.check && failed {
		return cli.ExitCode(cli.ExitFailed)
	}
	return context.Cause(ctx)
}
