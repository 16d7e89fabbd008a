package runtool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/kit"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/policy"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/roots"
	"mcp-bash/pkg/script"
	"mcp-bash/pkg/tool"
)

// Verb is the command. tree is the installation tree in the binary.
func Verb(tree func() project.Tree) cli.Verb {
	return cli.Verb{
		Name: "run-tool", Help: help,
		Run: func(s cli.Streams, args []string) error {
			env := project.OSEnv()
			o, err := readOptions(args, env)
			if err != nil {
				return err
			}
			r := &run{Streams: s, options: o, env: env, tree: tree, runner: new(script.Runner)}
			if r.dir, err = os.Getwd(); err != nil {
				return err
			}
			return r.do()
		},
	}
}

// A run is one run of the command.
type run struct {
	cli.Streams
	*options
	env    project.Env
	dir    string // the working directory
	tree   func() project.Tree
	runner *script.Runner

	project *project.Project
	home    *project.Home
	roots   roots.List
	find    func(context.Context, string) (json.RawMessage, error)
	args    json.RawMessage
	meta    json.RawMessage
}

// do makes the checks of R-7 in their order, and calls the tool.
func (r *run) do() error {
	root, err := project.FindRoot(r.env, r.root, r.dir)
	if err != nil {
		return &cli.Error{Code: cli.CodeNotFound, Message: err.Error(), Exit: cli.ExitFailed, Whole: true}
	}
	r.open(root, r.env)
	if r.noRefresh {
		if r.find, err = readCache(r.project); err != nil {
			return err
		}
	}
	if r.options.roots != "" {
		if r.roots, err = roots.Explicit(strings.Split(r.options.roots, ","), r.dir); err != nil {
			fmt.Fprintf(r.Err, "run-tool: warning: %s: %v\n", roots.Logger, err)
			return cli.Failf(cli.CodeInvalid, "invalid --roots value; see log for details")
		}
	}
	switch {
	case (r.minimal || r.project.Minimal) && r.hasArgs:
		return cli.Failf(cli.CodeInvalid, "JSON tooling required to parse --args")
	case r.minimal || r.project.Minimal:
		return cli.Failf(cli.CodeInvalid, "JSON tooling required (jq or gojq)")
	}
	if r.home, err = project.FindHome(r.env, r.tree, func(line string) { fmt.Fprintln(r.Err, line) }); err != nil {
		return &cli.Error{Code: cli.CodeInternal, Message: err.Error(), Exit: cli.ExitFailed, Whole: true}
	}
	if r.printEnv {
		return r.showEnv()
	}
	if err := r.source(); err != nil {
		return err
	}
	if r.args, err = payload("args", r.options.args, r.In); err != nil {
		return err
	}
	if r.meta, err = payload("meta", r.options.meta, r.In); err != nil {
		return err
	}
	return r.withKit()
}

// open reads the project with an environment, and lays this run's own settings
// over it.
func (r *run) open(root string, env project.Env) {
	env = env.Clone()
	env["MCPBASH_TOOL_POLICY_CONTEXT"] = policy.RunTool
	allow := r.allow
	switch {
	case r.allowAll:
		allow = []string{"*"}
	case r.allowSelf:
		allow = append([]string{r.tool}, allow...)
	}
	if allow != nil {
		env["MCPBASH_TOOL_ALLOWLIST"] = strings.Join(allow, " ")
	}
	if r.verbose {
		env["MCPBASH_TOOL_STREAM_STDERR"] = "true"
	}
	r.project = project.Open(root, env, r.dir, func(line string) { fmt.Fprintln(r.Err, line) })
	if allow != nil {
		r.project.Calls.Allowlist = allow // a name may hold what separates a list
	}
}

// sources returns the files to evaluate first, in order.
func (r *run) sourceFiles() (server string, own []string) {
	if r.serverEnv {
		server = filepath.Join(r.project.Server, "env.sh")
	}
	for _, file := range r.sources {
		if !filepath.IsAbs(file) {
			file = filepath.Join(r.project.Root, file)
		}
		own = append(own, file)
	}
	return server, own
}

// source evaluates shell files and goes on with the environment they leave.
func (r *run) source() error {
	server, files := r.sourceFiles()
	for _, file := range files {
		if err := readableFile(file); err != nil {
			return err
		}
	}
	if server != "" {
		if _, err := os.Stat(server); err == nil {
			files = append([]string{server}, files...)
		}
	}
	if len(files) == 0 {
		return nil
	}
	if r.verbose {
		for _, file := range files {
			fmt.Fprintln(r.Err, "run-tool: sourcing", file)
		}
	}
	env, stderr, err := project.Source(context.Background(), r.runner, r.project.Env, r.project.Root, files...)
	fmt.Fprint(r.Err, stderr)
	var failed *project.SourceError
	switch {
	case errors.As(err, &failed):
		return cli.Failf(cli.CodeInvalid, "sourcing failed (exit %d)", failed.Status)
	case err != nil:
		return err
	}
	env["MCPBASH_SECURITY_LEVEL"] = r.env["MCPBASH_SECURITY_LEVEL"] // no file can loosen it (registry R-212)
	r.open(r.project.Root, env)
	return nil
}

func readableFile(file string) error {
	f, err := os.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cli.Failf(cli.CodeNotFound, "env file not found: %s", file)
	case err != nil:
		return cli.Failf(cli.CodeNotFound, "env file not readable: %s", file)
	}
	return f.Close()
}

// withKit looks the tool up and calls it, with a private directory that is gone
// afterwards.
func (r *run) withKit() error {
	state, dir, err := project.NewState(r.project.Env, &r.project.Settings)
	if err != nil {
		return &cli.Error{Code: cli.CodeInternal, Message: fmt.Sprintf("mcp-bash: unable to create state directory: %s\n%v", dir, err), Exit: cli.ExitFailed, Whole: true}
	}
	defer r.leave(state)
	k := kit.New(kit.Config{
		Project: r.project, State: state, Runner: r.runner, Home: r.home, Find: r.find, ReadOnly: r.dryRun,
		Log: r.log, Debug: func() bool { return r.project.Logging.Level <= mcp.Debug },
		Notice: func(line string) { fmt.Fprintln(r.Err, line) }, Stderr: r.Err,
	})
	ctx, interrupted := catchSignals()
	item, err := k.Find(ctx, r.tool)
	var unavailable *mcp.Error
	switch {
	case errors.As(err, &unavailable):
		return cli.Failf(cli.CodeInvalid, "%s: %s", unavailable.Message, rawjson.TextOf(unavailable.Data, "reason"))
	case err != nil:
		return err
	case item == nil:
		return cli.Failf(cli.CodeNotFound, "tool not found: %s", r.tool)
	}
	if r.dryRun {
		return r.rehearse(ctx, k, item)
	}
	return r.call(ctx, k, interrupted)
}

func (r *run) leave(state *project.State) {
	if r.project.Preserve || r.project.KeepLogs {
		fmt.Fprintln(r.Err, "mcp-bash: state preserved at", state.Dir)
		state.Preserve()
		state.Release()
		return
	}
	state.Remove()
}

// log tells people what the server would tell a client.
func (r *run) log(level mcp.Level, logger, text string) {
	least := mcp.Warning
	if r.project.Logging.LevelSet {
		least = r.project.Logging.Level
	}
	if level >= least {
		fmt.Fprintf(r.Err, "run-tool: %s: %s: %s\n", level, logger, text)
	}
}

// catchSignals returns a context that ends with the first signal, and what it
// was: 0 while there was none. A second one ends the process.
func catchSignals() (context.Context, func() int) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endSignals...)
	var number atomic.Int32
	go func() {
		sig := <-signals
		signal.Reset(endSignals...)
		if n, ok := sig.(syscall.Signal); ok {
			number.Store(int32(n))
		}
		cancel(tool.ErrCancelled)
	}()
	return ctx, func() int { return int(number.Load()) }
}

// call runs the tool and prints what it came to.
func (r *run) call(ctx context.Context, k *kit.Kit, interrupted func() int) error {
	result, err := k.Tools.Call(ctx, &tool.Request{
		Name: r.tool, Arguments: r.args, Meta: r.meta, Timeout: r.timeout, Roots: r.roots, Listener: r.listener(),
	})
	if err != nil {
		var e *mcp.Error
		if !errors.As(err, &e) {
			return err
		}
		var b rawjson.Builder
		b.Object().Name("_mcpToolError").Bool(true).Name("code").Int(e.Code).Name("message").String(e.Message).Name("data").Raw(e.Data).End()
		fmt.Fprintf(r.Out, "%s\n", b.Bytes())
		if sig := interrupted(); sig != 0 {
			return cli.ExitCode(cli.ExitSignal + sig)
		}
		return cli.ExitCode(cli.ExitFailed)
	}
	defer result.Done()
	line := result.AppendJSON(make([]byte, 0, result.Size()), tool.Extra{})
	if _, err := r.Out.Write(append(line, '\n')); err != nil {
		return err
	}
	if result.Failed || r.check && result.IsError {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}
