package runtool

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	slashpath "path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/runtool/answers"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

func start(s cli.Streams, o *options, operands []string, tree func() project.Tree) error {
	env := project.OSEnv()
	if err := o.complete(operands, env); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	r := &run{Streams: s, options: o, env: env, dir: dir, tree: tree, runner: new(script.Runner)}
	return r.do()
}

type run struct {
	cli.Streams
	*options
	env    project.Env
	dir    string // working directory
	tree   func() project.Tree
	runner *script.Runner

	project     *project.Project
	reported    []string // printed lines about the project, which may be read twice
	home        *project.Home
	roots       roots.Scope
	cached      []json.RawMessage // tools for --no-refresh, or nil
	args        json.RawMessage
	meta        json.RawMessage
	answers     *answers.Given
	answersJSON json.RawMessage // of --elicit
	display     *display        // nil if reports are not shown
	logged      []string        // log lines that were printed
	isTerminal  bool            // a person can answer questions
	waits       bool            // messages wait until the tool is known
	waiting     []waitingMessage
}

// A waitingMessage is a log message, with its place if it is about a file of the project.
type waitingMessage struct {
	level        mcp.Level
	logger, text string
	at           item.Place
}

// do makes the checks of CLI-807 in their order, and calls the tool.
func (r *run) do() error {
	root, err := project.FindRoot(r.env, r.root, r.dir)
	if err != nil {
		return err
	}
	r.open(root, r.env)
	if r.noRefresh {
		if r.cached, err = readCache(r.project); err != nil {
			return err
		}
	}
	if r.given("roots") {
		if r.roots, err = roots.Explicit(r.options.roots, r.dir, r.env["HOME"]); err != nil {
			return cli.Failf(cli.CodeInvalid, "invalid --roots value: %s", strings.TrimPrefix(err.Error(), roots.Option+": "))
		}
	}
	switch {
	case (r.minimal || r.project.Minimal) && r.options.args != "":
		return cli.Failf(cli.CodeInvalid, "JSON tooling required to parse --args")
	case r.minimal || r.project.Minimal:
		return cli.Failf(cli.CodeInvalid, "JSON tooling required (jq or gojq)")
	}
	if r.home, err = project.FindHome(r.env, r.tree, r.Notice); err != nil {
		return &cli.Error{Code: cli.CodeInternal, Cause: err, Bare: true}
	}
	if !r.printEnv {
		if err := r.source(); err != nil {
			return err
		}
	}
	if err := r.findRoots(); err != nil {
		return err
	}
	if r.printEnv {
		return r.showEnv()
	}
	payload := cli.PayloadReader{Stdin: r.In, Timeout: settings.Seconds(r.timeout)}
	if r.args, err = payload.Object("--args", r.options.args); err != nil {
		return err
	}
	if r.meta, err = payload.Object("--meta", r.options.meta); err != nil {
		return err
	}
	r.args, r.meta = jqtext.Normal(r.args), jqtext.Normal(r.meta)
	if err := r.readAnswers(payload); err != nil {
		return err
	}
	return r.callTool()
}

// open reads the project with an environment and the settings of this run.
func (r *run) open(root string, env project.Env) {
	env = env.Clone()
	env["MCPBASH_TOOL_POLICY_CONTEXT"] = policy.RunTool
	allow := r.allow.List(append(r.more, r.tool)...)
	if allow != nil {
		env["MCPBASH_TOOL_ALLOWLIST"] = strings.Join(allow, " ")
	}
	if r.verbose {
		env["MCPBASH_TOOL_STREAM_STDERR"] = "true"
	}
	if r.interactive() {
		env.Default("MCPBASH_ELICITATION_TIMEOUT", "600") // time for a person to read and type
	}
	r.project = project.Open(root, env, r.dir, func(line string) {
		if !slices.Contains(r.reported, line) {
			r.reported = append(r.reported, line)
			cli.Printf(r.Err, "%s\n", line)
		}
	})
	if allow != nil {
		r.project.Calls.Allowlist = allow // a name may contain the separator of lists
	}
}

// sourceFiles returns the files to source, in order.
func (r *run) sourceFiles() (server code.File, own []code.File) {
	if r.serverEnv {
		server = code.Env.In(r.project)
	}
	for _, file := range r.sources {
		if !filepath.IsAbs(file) {
			file = filepath.Join(r.project.Root, file)
		}
		own = append(own, code.OperatorFile(file))
	}
	return server, own
}

func (r *run) source() error {
	server, files := r.sourceFiles()
	for _, file := range files {
		if err := readableFile(file.Path()); err != nil {
			return err
		}
	}
	if server != (code.File{}) {
		switch err := r.project.CheckTrusted(server); {
		case err == nil:
			files = append([]code.File{server}, files...)
		case !errors.Is(err, fs.ErrNotExist):
			return cli.Failf(cli.CodeInvalid, "refusing insecure server.d/env.sh: %v", err)
		}
	}
	if len(files) == 0 {
		return nil
	}
	if r.verbose {
		for _, file := range files {
			cli.Printf(r.Err, "run-tool: sourcing %s\n", file.Path())
		}
	}
	ctx, interrupted, release := catchSignals(func(os.Signal) bool { return false })
	env, stderr, err := r.project.Source(ctx, r.runner, files...)
	release()
	r.Err.Write([]byte(stderr))
	var failed *project.SourceError
	switch {
	case interrupted() != 0:
		return cli.ExitCode(cli.ExitSignal + interrupted())
	case errors.As(err, &failed) && failed.Syntax != "":
		return cli.Failf(cli.CodeInvalid, "syntax error in env file: %s", failed.Syntax)
	case errors.As(err, &failed):
		return cli.Failf(cli.CodeInvalid, "sourcing failed (exit %d)", failed.Status)
	case err != nil:
		names := make([]string, len(files))
		for i, file := range files {
			names[i] = file.Path()
		}
		return cli.Failf(cli.CodeInvalid, "sourcing %s: %v", strings.Join(names, ", "), err)
	}
	for _, name := range []string{"MCPBASH_SECURITY_LEVEL", "MCPBASH_CONFINE"} {
		env[name] = r.env[name] // files cannot loosen these settings
	}
	r.open(r.project.Root, env)
	return nil
}

// findRoots sets the roots that a server would use without roots of the client, unless --roots is given.
func (r *run) findRoots() (err error) {
	if r.given("roots") || r.tool == "" {
		return nil
	}
	r.roots, err = roots.Fallback(r.project)
	if unusable, ok := errors.AsType[*roots.UnusableError](err); ok {
		return cli.Failf(cli.CodeInvalid, "%s; %s", cli.Line(err.Error()), unusable.Remedy())
	}
	return err
}

func readableFile(file string) error {
	f, err := boundedfile.Open(file)
	switch {
	case errors.Is(err, boundedfile.ErrNotRegular):
		return cli.Failf(cli.CodeInvalid, "env file is not a regular file: %s", file)
	case errors.Is(err, fs.ErrNotExist):
		return cli.Failf(cli.CodeNotFound, "env file not found: %s", file)
	case err != nil:
		return cli.Failf(cli.CodeNotFound, "env file not readable: %s", file)
	}
	return f.Close()
}

// readAnswers reads the answers of --elicit.
func (r *run) readAnswers(payload cli.PayloadReader) error {
	if r.elicit == "" {
		return nil
	}
	v, err := payload.Read("--elicit", r.elicit, "a JSON object or an array")
	if err != nil {
		return err
	}
	var ok bool
	r.answersJSON = v
	if r.answers, ok = answers.Read(v); !ok {
		return invalidUsage("--elicit must be a JSON object or an array")
	}
	return nil
}

// maxResults limits the stored results of one call: its output and its pictures.
const maxResults = 64

// callTool finds the tool and calls it. It removes its private directory afterwards.
func (r *run) callTool() error {
	state, dir, err := project.NewState(r.project.Env, &r.project.Settings)
	if err != nil {
		return cli.Baref(cli.CodeInternal, "mcp-bash: unable to create state directory: %s\n%v", dir, err)
	}
	state.UseMCPBash(r.project)
	defer r.leave(state)
	asker := &answers.Responder{Given: r.answers, Warn: func(text string) {
		cli.Printf(r.Err, "run-tool: warning: --elicit: %s\n", text)
	}}
	r.watch(asker)
	config := engine.Config{
		Project: r.project, State: state, Runner: r.runner, Home: r.home, ReadOnly: r.dryRun,
		Log: r.log, Debug: func() bool { return r.project.Logging.Level <= mcp.Debug },
		Notice: r.Notice, Stderr: r.Err, Entries: r.cached, OnMessage: r.place,
	}
	_, sourced := r.sourceFiles()
	for _, file := range sourced {
		config.Sourced = append(config.Sourced, file.Path())
	}
	e := engine.New(config)
	if !r.full {
		e.Tools.Results = results.NewStore(results.Config{
			Dir: state.Root, MaxBytes: r.project.Calls.LargeMax, ClientMax: r.project.Calls.LargeClientMax,
			ServerMax: r.project.Calls.LargeServerMax, Keep: r.project.Calls.LargeKeep, MaxResults: maxResults,
		}).NewClient("", "")
		defer e.Tools.Results.Close()
	}
	ctx, interrupted, release := catchSignals(asker.Interrupted)
	defer release()
	if r.tool == "" {
		return r.list(ctx, e)
	}
	r.waits = true
	entry, err := find(ctx, e, r.tool)
	r.release(rawjson.TextOf(entry, "path"))
	if err != nil {
		return err
	}
	if len(r.words) > 0 {
		if r.args, err = withWords(r.args, r.words, rawjson.Get(entry, "inputSchema")); err != nil {
			return err
		}
		r.args = jqtext.Normal(r.args)
	}
	switch {
	case r.dryRun:
		return r.showDryRun(ctx, e, entry)
	case r.trial:
		return r.try(ctx, e)
	}
	return r.call(ctx, e, entry, asker, interrupted)
}

// find returns the registry entry of a tool.
func find(ctx context.Context, e *engine.Engine, name string) (json.RawMessage, error) {
	entry, err := e.Find(ctx, name)
	if missing, ok := errors.AsType[*mcp.Error](err); ok {
		return nil, unavailable(missing)
	}
	if err == nil && entry == nil {
		err = cli.Failf(cli.CodeNotFound, "tool not found: %s%s", name, cli.Meant(e.Near(ctx, name)))
	}
	return entry, err
}

func (r *run) interactive() bool { return cli.IsTerminal(r.In) && cli.IsTerminal(r.Err) }

// watch shows the tool's reports if a person can see them, and asks its questions if a person can answer them.
func (r *run) watch(asker *answers.Responder) {
	r.isTerminal = r.interactive()
	if !r.verbose && !cli.IsTerminal(r.Err) {
		return
	}
	r.display = newDisplay(r.Err, r.project.Logging.Level)
	r.Err = r.display
	if r.isTerminal {
		asker.Person = answers.NewPerson(r.In, r.display)
	}
}

func (r *run) leave(state *project.State) {
	state.EndScripts(r.runner, func(line string) { cli.Printf(r.Err, "%s\n", line) })
	if r.project.Preserve || r.project.KeepLogs {
		cli.Printf(r.Err, "mcp-bash: state preserved at %s\n", state.Dir)
		state.Preserve()
		state.Release()
		return
	}
	state.Remove()
}

// place records the place of the message that was logged last.
func (r *run) place(m item.Message) {
	if n := len(r.waiting); n > 0 && r.waiting[n-1].text == m.Line() {
		r.waiting[n-1].at = m.At
	}
}

// release prints the waiting messages, without those about other tools. path is the tool's script, or "" if there is no
// such tool.
func (r *run) release(path string) {
	r.waits = false
	tools := folder.Label(r.project.Root, r.project.Tools) + "/"
	for _, m := range r.waiting {
		rel, inTools := strings.CutPrefix(m.at.File, tools)
		if path == "" || !inTools || slashpath.Dir(rel) == slashpath.Dir(path) {
			r.log(m.level, m.logger, m.text)
		}
	}
	r.waiting = nil
}

// log prints log messages that the server would send to a client.
func (r *run) log(level mcp.Level, logger, text string) {
	if r.waits {
		r.waiting = append(r.waiting, waitingMessage{level: level, logger: logger, text: text})
		return
	}
	least := mcp.Warning
	if r.project.Logging.LevelSet {
		least = r.project.Logging.Level
	}
	if level >= least {
		text = secrets.Text(text)
		r.logged = append(r.logged, text)
		cli.Printf(r.Err, "run-tool: %s: %s: %s\n", level, logger, text)
	}
}

// endSignals end a call. Windows sends no SIGHUP.
var endSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// catchSignals returns a context that ends with the first signal that taken does not handle.
// interrupted returns that signal, or 0. A second signal ends the process, as does the first one
// after release.
func catchSignals(taken func(os.Signal) bool) (ctx context.Context, interrupted func() int, release func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endSignals...)
	var number atomic.Int32
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		sig, more := <-signals
		for more && taken(sig) {
			sig, more = <-signals
		}
		if !more {
			return
		}
		signal.Reset(endSignals...)
		cli.BeginLine(sig, os.Stderr)
		if n, ok := sig.(syscall.Signal); ok {
			number.Store(int32(n))
		}
		cancel(tool.ErrCancelled)
	}()
	return ctx, func() int { return int(number.Load()) }, func() {
		signal.Stop(signals) // no more signals are sent
		close(signals)
		<-ended
	}
}
