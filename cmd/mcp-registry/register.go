package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/lock"
	"mcp-bash/pkg/registry/registration"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
)

func (o *options) register(s cli.Streams, operands []string) error {
	payload, err := readPayload(s, strings.Join(operands, ""))
	if err != nil {
		return err
	}
	return o.onProject(s, func(ctx context.Context, r *registration.Project) error {
		t, err := r.Register(ctx, payload, registration.RegisterOptions{Replace: o.replace, DryRun: o.dryRun})
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Out, "{\n  \"registered\": %s,\n  \"dryRun\": %t\n}\n", t.AppendText(nil, "  "), o.dryRun)
		return nil
	})
}

func (o *options) unregister(s cli.Streams, operands []string) error {
	return o.onProject(s, func(ctx context.Context, r *registration.Project) error {
		id, err := r.Unregister(ctx, operands[0])
		if err != nil {
			return err
		}
		var b rawjson.Builder
		fmt.Fprintf(s.Out, "%s\n", b.Object().Name("unregistered").String(id).End().Bytes())
		return nil
	})
}

// readPayload reads a registration from a file or standard input, at most one byte more than allowed.
func readPayload(s cli.Streams, file string) ([]byte, error) {
	in := s.In
	switch {
	case file != "" && file != "-":
		f, err := boundedfile.Open(file)
		if errors.Is(err, boundedfile.ErrNotRegular) {
			return nil, cli.Usagef("%s is not a regular file; write its content to a file, or pipe it and pass -",
				cli.Line(file))
		} else if err != nil {
			return nil, cli.Usagef("open %s: %v", file, fsys.Cause(err))
		}
		defer f.Close()
		in = f
	case cli.IsTerminal(in):
		printLine(s, "type the registration as JSON, then end it with Ctrl-D")
	}
	payload, err := io.ReadAll(io.LimitReader(in, registration.MaxPayload+1))
	if err != nil {
		return nil, cli.Usagef("%s", err)
	}
	return payload, nil
}

// onProject calls work with the registry of the project, and returns its errors as errors of a command.
func (o *options) onProject(s cli.Streams, work func(context.Context, *registration.Project) error) error {
	err := o.withHooks(s, s.Notice, func(ctx context.Context, p *project.Project, hooks registry.Options) error {
		return work(ctx, registration.NewProject(p, hooks))
	})
	var rejected *registration.Error
	var failed *registry.Failure
	switch {
	case errors.As(err, &rejected):
		return printError(s, rejected)
	case errors.As(err, &failed) && failed.Fatal:
		return &cli.Error{Code: cli.CodeTimeout, Cause: failed, Exit: cli.ExitUsage}
	case errors.As(err, &failed):
		return &cli.Error{Code: cli.CodeInvalid, Cause: failed}
	}
	return err
}

// registrationErrors are the exit codes of R-206 and the hints.
var registrationErrors = []struct {
	kind error
	exit cli.ExitCode
	hint string
}{
	{registration.ErrDuplicateTool, 3, "Use --replace to replace that tool."},
	{registration.ErrToolNotFound, 4, `Run "mcp-registry list" for the existing tools.`},
	{registration.ErrInvalidRegistration, 5, ""},
	{registration.ErrPermissionDenied, 6, ""},
}

// printError prints an error for programs on standard output, and for people on standard error.
func printError(s cli.Streams, e *registration.Error) error {
	var b rawjson.Builder
	b.Object().Name("error").Object().Name("type").String(e.Type).Name("message").String(e.Message).
		Name("id").String(e.ID).Name("details").Strings(e.Details).End().End()
	fmt.Fprintf(s.Out, "%s\n", b.Bytes())
	printLine(s, e.Message)
	for _, r := range registrationErrors {
		if errors.Is(e, r.kind) {
			if r.hint != "" {
				cli.Printf(s.Err, "%s\n", r.hint)
			}
			return r.exit
		}
	}
	return e
}

// A hookRun is one run of register.sh. Its private directory exists only while the script runs.
type hookRun struct {
	p      *project.Project
	warn   func(line string)
	state  *project.State
	runner script.Runner
}

// withHooks calls work with the project, and options of the registry that run register.sh.
func (o *options) withHooks(s cli.Streams, warn func(string),
	work func(context.Context, *project.Project, registry.Options) error) error {
	p, err := project.Find(o.projectRoot, warn)
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	hooks := hookRun{p: p, warn: warn}
	defer hooks.remove()
	return work(ctx, p, hooks.options(s, o.quiet))
}

func (h *hookRun) options(s cli.Streams, quiet bool) registry.Options {
	level := h.p.Logging.Level
	if quiet || h.p.Logging.Quiet {
		level = max(level, mcp.Err)
	}
	log := logTo(s, level)
	return registry.Options{
		Log: log, Warn: h.warn,
		Runner: &h.runner, HookEnv: h.env, Private: h.dir,
		Confine: func(spec *script.Spec, files ...string) (release func(), err error) {
			confined := sandbox.New(sandbox.Config{
				Project: h.p, Mode: access.EffectiveConfinement(h.p, log), Kernel: confine.Offered, Runner: &h.runner,
				State: h.state, Log: log,
			})
			return confined.Hook(filepath.Join(h.p.Server, declare.HookFile))(spec, files...)
		},
	}
}

func (h *hookRun) dir() (string, error) {
	if h.state == nil {
		state, dir, err := project.NewState(h.p.Env, &h.p.Settings)
		if err == nil {
			state.UseMCPBash(h.p)
			err = state.Make()
		}
		if err != nil {
			return "", errors.New("unable to create state directory: " + dir)
		}
		h.state = state
	}
	return h.state.Dir, nil
}

// env returns the environment of register.sh.
func (h *hookRun) env() project.Env {
	dir, err := h.dir()
	helper := ""
	if err == nil {
		helper = h.state.Helper()
	}
	homeDir := ""
	home, err := project.FindHome(h.p.Env, tree.Embedded, h.warn)
	if err == nil {
		homeDir, err = home.Dir, home.Make()
	}
	if err != nil {
		h.warn(err.Error())
	}
	return h.p.ForHooks(h.p.Common(homeDir, helper, h.p.JSONTool(helper, h.warn)), dir)
}

// remove ends processes that the hook left running, and removes the private directory.
func (h *hookRun) remove() {
	if h.state == nil {
		return
	}
	h.state.EndScripts(&h.runner, h.warn)
	if h.p.Preserve {
		h.state.Release()
	} else {
		h.state.Remove()
	}
}

func (o *options) lockCommand() *cli.Command {
	c := &cli.Command{
		Name:    "lock",
		Summary: "Write " + lock.FileName + ", which pins what the project offers and runs.",
		Examples: []cli.Example{
			{Line: "NAME"},
			{Line: "NAME --check", Purpose: "print what has changed since then"},
		},
		Operands: []cli.Operand{{Name: "[PROJECT]", Complete: cli.Dirs}},
		Text: `Keep the file under version control, and review its changes. With "locked": true in
server.d/server.meta.json, or MCPBASH_LOCKED=1, a server does not offer what differs from it.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "written; with --check: nothing has changed"},
			{Code: 1, Meaning: "with --check: something has changed, or there is no lock"},
		},
		Run: func(s cli.Streams, operands []string) error {
			if len(operands) > 0 {
				o.projectRoot = strings.Join(operands, "")
			}
			return o.withHooks(s, s.Notice, func(ctx context.Context, p *project.Project, hooks registry.Options) error {
				return o.pin(ctx, s, p, hooks)
			})
		},
	}
	c.Flags.Bool(&o.check, "check", "write nothing, and print the differences")
	c.Flags.Bool(&o.quiet, "quiet", "print errors only")
	c.Flags.ProjectRoot(&o.projectRoot)
	return c
}

func (o *options) pin(ctx context.Context, s cli.Streams, p *project.Project, options registry.Options) error {
	options.ReadOnly = o.check
	catalog := registry.NewCatalog(p, options)
	now, err := lock.Of(ctx, p, catalog, p.Root)
	if err != nil {
		return err
	}
	if catalog.HasHook() && !p.Discovery.Hooks {
		printLine(s, "server.d/"+declare.HookFile+" did not run, so its items are not in the lock. A locked server does "+
			"not offer them; set MCPBASH_ALLOW_PROJECT_HOOKS=true to lock them")
	}
	if !o.check {
		if err := now.Write(p); err != nil {
			return err
		}
		_, err := fmt.Fprintln(s.Out, "wrote "+lock.FileName)
		return err
	}
	pinned, err := lock.Read(p)
	if err != nil {
		return cli.Failf(cli.CodeInvalid, "%v", err).WithHint("run mcp-bash registry lock")
	}
	changes := lock.Compare(pinned, now)
	lock.Print(s.Out, changes)
	if len(changes) > 0 {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}
