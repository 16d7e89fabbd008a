package main

import (
	"cmp"
	"context"
	"path/filepath"

	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/bundle/wheel"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

func wheelCommand() *cli.Command {
	o := &bundleOptions{}
	c := &cli.Command{
		Name:    "wheel",
		Summary: "Make Python wheels of a project, with which uvx, pipx and pip start its server.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "a wheel for each system, in this directory"},
			{Line: "NAME --output dist --platform linux --arch amd64"},
			{Line: "NAME --validate", Purpose: "check everything, write nothing"},
		},
		Operands: []cli.Operand{{Name: "[PROJECT]", Complete: cli.Dirs}},
		Text: `The command of a wheel is the server's program. It serves the project next to it and needs no Python to run.
The same project makes the same bytes, wherever and whenever.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "made, or nothing wrong"},
			{Code: 1, Meaning: "the project is at fault, or writing failed"},
			{Code: 3, Meaning: "the server's program for a system is not available"},
		},
		Run: func(s cli.Streams, operands []string) error {
			if len(operands) > 0 {
				o.root = operands[0]
			}
			return o.makeWheels(s)
		},
	}
	c.Flags.String(&o.output, "output", "DIR", "where the wheels go; this directory without it").
		Completes(cli.Dirs).Letter("o")
	o.registryName(c)
	o.common(c)
	return c
}

func (o *bundleOptions) makeWheels(s cli.Streams) error {
	if err := o.choose(); err != nil {
		return err
	}
	if o.Out = s.Out; o.json {
		o.Out = s.Err
	}
	var list []*stage.Result
	err := o.run(s, false, func(ctx context.Context, p *project.Project, _ string) (file string, err error) {
		dir, err := filepath.Abs(cmp.Or(o.output, "."))
		if err == nil {
			list, err = wheel.Make(ctx, p, wheel.Options{Options: o.Options, Output: dir, Validate: o.validate,
				Instructions: instructions(p, "pypi:")})
		}
		return "", err
	})
	if err != nil {
		return err
	}
	for _, r := range list {
		switch {
		case o.json:
			cli.Printf(s.Out, "%s\n", r.AppendJSON(nil))
		case o.validate:
			cli.Printf(s.Out, "Would be: %s\n", filepath.Base(r.Path))
		default:
			cli.Printf(s.Out, "Created: %s (%s)\n", r.Path, cli.Size(r.Bytes))
		}
	}
	return nil
}
