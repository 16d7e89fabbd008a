package main

import (
	"fmt"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
)

func refresh(s cli.Streams, o *options) error {
	warned := false
	warn := func(line string) {
		warned = true
		s.Notice(line)
	}
	p, err := project.Find(o.projectRoot, warn)
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	hooks := hookRun{p: p, warn: warn}
	defer hooks.remove()
	catalog := registry.NewCatalog(p, hooks.options(s, o.quiet))
	report, err := catalog.Refresh(ctx, registry.RefreshOptions{Filter: o.filter, Strict: o.strict})
	if err != nil {
		return err
	}
	report.Warned = report.Warned || o.strict && warned
	fmt.Fprintf(s.Out, "%s\n", report.AppendJSON(nil))
	switch {
	case report.Fatal():
		return cli.ExitCode(cli.ExitUsage)
	case report.Failed():
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}
