package main

import (
	"fmt"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/script"
)

func refresh(s cli.Streams, o options) error {
	warn := func(line string) { fmt.Fprintln(s.Err, line) }
	p, err := openProject(o.projectRoot, warn)
	if err != nil {
		return err
	}
	level := p.Logging.Level
	if o.quiet || p.Logging.Quiet {
		level = max(level, mcp.Err)
	}
	ctx, stop := untilSignal()
	defer stop()
	hooks := hookPlace{p: p, warn: warn}
	defer hooks.remove()
	catalog := registry.NewCatalog(p, registry.Options{
		Log: logTo(s, level), Warn: warn,
		Runner: new(script.Runner), HookEnv: hooks.env, Private: hooks.dir,
	})
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
