package main

import (
	"fmt"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/registry"
)

func refresh(s cli.Streams, o *options) error {
	p, err := openProject(o.projectRoot, warnTo(s))
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	hooks := hookRun{p: p, warn: warnTo(s)}
	defer hooks.remove()
	catalog := registry.NewCatalog(p, hooks.options(s, o.quiet))
	report, err := catalog.Refresh(ctx, registry.RefreshOptions{Filter: o.filter})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "%s\n", report.AppendJSON(nil))
	if code := report.ExitCode(); code != cli.ExitOK {
		return cli.ExitCode(code)
	}
	return nil
}
