package main

import (
	"flag"
	"slices"

	"mcp-bash/pkg/cli"
)

func run(s cli.Streams, args []string) int {
	verb := cli.Verb{Name: "registry", Usage: "mcp-bash registry", Help: help, Run: dispatch}
	return verb.Main(s, "mcp-registry", args)
}

// Options of all subcommands; each takes some of them.
type options struct {
	projectRoot string
	filter      string
	quiet       bool
}

// A subcommand is what the first operand names.
type subcommand struct {
	name    string
	options []string
	run     func(cli.Streams, options) error
}

var subcommands = []subcommand{
	{"refresh", []string{"project-root", "filter", "no-notify", "quiet", "json"}, refresh},
	{"status", []string{"project-root", "json"}, status},
}

func dispatch(s cli.Streams, args []string) error {
	var o options
	set := cli.NewOptions("registry")
	set.StringVar(&o.projectRoot, "project-root", "", "")
	set.StringVar(&o.filter, "filter", "", "")
	set.BoolVar(&o.quiet, "quiet", false, "")
	set.Bool("no-notify", false, "") // a command never notifies (registry R-162)
	set.Bool("json", false, "")      // it prints JSON anyway (cli C-8)
	operands, err := set.Read(args)
	switch {
	case err != nil:
		return err
	case len(operands) == 0:
		return cli.Usagef("a subcommand is missing: refresh or status")
	}
	at := slices.IndexFunc(subcommands, func(c subcommand) bool { return c.name == operands[0] })
	if at < 0 {
		return cli.Usagef("unknown subcommand: %s", operands[0])
	}
	if len(operands) > 1 {
		return cli.Usagef("unexpected argument: %s", operands[1])
	}
	sub := subcommands[at]
	set.Visit(func(f *flag.Flag) {
		if err == nil && !slices.Contains(sub.options, f.Name) {
			err = cli.Usagef("unknown option: --%s", f.Name)
		}
	})
	if err != nil {
		return err
	}
	return sub.run(s, o)
}
