package main

import (
	"fmt"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/sandbox"
)

func status(s cli.Streams, o *options) error {
	warn := s.Notice
	p, err := project.Find(o.projectRoot, warn)
	if err != nil {
		return err
	}
	tool := "none"
	if !p.Minimal {
		tool = p.JSONTool("", warn).Name
	}
	found := registry.NewCatalog(p, registry.Options{ReadOnly: true}).Status(tool)
	found.Confine = sandbox.Report(access.EffectiveConfinement(p, nil), confine.Offered())
	if o.readable(s) {
		printStatus(s.Out, found)
	} else {
		fmt.Fprintf(s.Out, "%s\n", found.AppendJSON(nil))
	}
	if found.Failed() {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}
