package main

import (
	"fmt"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/lock"
)

func lockCommand() *cli.Command {
	o := &options{}
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
			return pin(s, o)
		},
	}
	c.Flags.Bool(&o.check, "check", "write nothing, and print the differences")
	c.Flags.Bool(&o.quiet, "quiet", "print errors only")
	c.Flags.ProjectRoot(&o.projectRoot)
	return c
}

func pin(s cli.Streams, o *options) error {
	p, err := project.Find(o.projectRoot, s.Notice)
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	hooks := hookRun{p: p, warn: s.Notice}
	defer hooks.remove()
	options := hooks.options(s, o.quiet)
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
