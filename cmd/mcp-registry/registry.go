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

// Options of all subcommands, and their operand; each takes some of them.
type options struct {
	projectRoot string
	filter      string
	quiet       bool
	replace     bool
	dryRun      bool
	capability  string
	level       string
	ndjson      bool
	operand     string
}

// A subcommand is what the first operand names.
type subcommand struct {
	name    string
	options []string
	operand string // what it is called in messages; "" takes none, "[FILE]" may be left out
	run     func(cli.Streams, options) error
}

var subcommands = []subcommand{
	{"refresh", []string{"project-root", "filter", "no-notify", "quiet", "json"}, "", refresh},
	{"status", []string{"project-root", "json"}, "", status},
	{"register", []string{"project-root", "replace", "dry-run", "quiet", "json"}, "[FILE]", register},
	{"unregister", []string{"project-root", "quiet", "json"}, "ID", unregister},
	{"get", []string{"project-root", "quiet", "json"}, "ID", get},
	{"list", []string{"project-root", "capability", "level", "ndjson", "quiet", "json"}, "", list},
}

func dispatch(s cli.Streams, args []string) error {
	var o options
	set := cli.NewOptions("registry")
	set.StringVar(&o.projectRoot, "project-root", "", "")
	set.StringVar(&o.filter, "filter", "", "")
	set.BoolVar(&o.quiet, "quiet", false, "")
	set.BoolVar(&o.replace, "replace", false, "")
	set.BoolVar(&o.dryRun, "dry-run", false, "")
	set.StringVar(&o.capability, "capability", "", "")
	set.StringVar(&o.level, "level", "", "")
	set.BoolVar(&o.ndjson, "ndjson", false, "")
	set.Bool("no-notify", false, "") // a command never notifies (registry R-162)
	set.Bool("json", false, "")      // it prints JSON anyway (cli C-8)
	operands, err := set.Read(args)
	switch {
	case err != nil:
		return err
	case len(operands) == 0:
		return cli.Usagef("a subcommand is missing: refresh, status, register, unregister, get or list")
	}
	at := slices.IndexFunc(subcommands, func(c subcommand) bool { return c.name == operands[0] })
	if at < 0 {
		return cli.Usagef("unknown subcommand: %s", operands[0])
	}
	sub := subcommands[at]
	switch rest := operands[1:]; {
	case len(rest) == 0 && sub.operand != "" && sub.operand[0] != '[':
		return cli.Usagef("%s: %s is missing", sub.name, sub.operand)
	case len(rest) > 0 && sub.operand == "":
		return cli.Usagef("unexpected argument: %s", rest[0])
	case len(rest) > 1:
		return cli.Usagef("unexpected argument: %s", rest[1])
	case len(rest) == 1:
		o.operand = rest[0]
	}
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
