package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/registration"
)

func register(s cli.Streams, o *options, file string) error {
	payload, err := readPayload(s, file)
	if err != nil {
		return err
	}
	return onProject(s, o, func(ctx context.Context, r *registration.Project) error {
		t, err := r.Register(ctx, payload, registration.RegisterOptions{Replace: o.replace, DryRun: o.dryRun})
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Out, "{\n  \"registered\": %s,\n  \"dryRun\": %t\n}\n", t.AppendText(nil, "  "), o.dryRun)
		return nil
	})
}

func unregister(s cli.Streams, o *options, id string) error {
	return onProject(s, o, func(ctx context.Context, r *registration.Project) error {
		id, err := r.Unregister(ctx, id)
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
func onProject(s cli.Streams, o *options, work func(context.Context, *registration.Project) error) error {
	p, err := project.Find(o.projectRoot, s.Notice)
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	hooks := hookRun{p: p, warn: s.Notice}
	defer hooks.remove()
	err = work(ctx, registration.NewProject(p, hooks.options(s, o.quiet)))
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

// registrationErrors are the exit codes of R-206, with hints.
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
