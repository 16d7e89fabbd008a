package main

import (
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold"
)

// removeOptions are the options of remove.
type removeOptions struct {
	projectRoot         string
	force, dryRun, json bool
}

func removeCommand() *cli.Command {
	o := &removeOptions{}
	c := &cli.Command{
		Name:    "tool",
		Summary: "Remove a tool, with the requirements and variables that only this tool needs.",
		Examples: []cli.Example{
			{Line: "NAME backup --yes", Purpose: "remove tools/backup, without a question"},
			{Line: "NAME backup --dry-run", Purpose: "show what would be removed, and remove nothing"},
		},
		Operands: []cli.Operand{{Name: "TOOL", Missing: "Tool name required"}},
		Text:     "A script of which the tool was made stays.",
		Exits:    exits,
		Run:      func(s cli.Streams, operands []string) error { return removeTool(s, o, operands[0]) },
	}
	c.Flags.Bool(&o.force, "force", "do not ask")
	c.Flags.Bool(&o.force, "yes", "the same as --force")
	c.Flags.Bool(&o.dryRun, "dry-run", "show what would be removed, and remove nothing")
	c.Flags.ProjectRoot(&o.projectRoot)
	c.Flags.Bool(&o.json, "json", "print the result as JSON; errors, too")
	return &cli.Command{
		Name: "remove", Summary: "Remove a tool from the project.", Exits: exits,
		Examples: []cli.Example{{Line: "NAME tool backup --dry-run"}}, Commands: []*cli.Command{c},
	}
}

// removeTool shows what belongs to a tool, asks, and removes it (ADD-40, ADD-41).
func removeTool(s cli.Streams, o *removeOptions, name string) error {
	ctx, stop := cli.UntilSignal()
	defer stop()
	p, err := scaffold.Open(o.projectRoot, s.Notice)
	if err != nil {
		return err
	}
	r, err := scaffold.PlanRemoval(p, name)
	if err != nil {
		return err
	}
	if !o.json {
		printRemoval(s, r)
	}
	if !o.dryRun {
		if !o.force {
			if err := confirm(ctx, s, o.json, "Remove this?", "removed"); err != nil {
				return interrupted(ctx, err)
			}
		}
		if err := scaffold.Remove(ctx, p, r); err != nil {
			return interrupted(ctx, err)
		}
	}
	switch {
	case o.json:
		return printRemovalJSON(s, o, r)
	case o.dryRun:
		_, err = cli.Printf(s.Out, "Would remove %s\n", r.Name)
	default:
		_, err = cli.Printf(s.Out, "Removed %s\n", r.Name)
	}
	return err
}

func printRemoval(s cli.Streams, r *scaffold.Removal) {
	cli.Printf(s.Out, "Files of the tool:\n")
	for _, f := range r.Files {
		cli.Printf(s.Out, "  %s\n", f)
	}
	if len(r.Programs) > 0 {
		cli.Printf(s.Out, "Entries of requirements.json: %s\n", strings.Join(r.Programs, " "))
	}
	if len(r.Variables) > 0 {
		cli.Printf(s.Out, "Variables in env of server.meta.json: %s\n", strings.Join(r.Variables, " "))
	}
	for _, k := range r.Kept {
		cli.Printf(s.Out, "Stays: %s (%s)\n", k.What, k.Why)
	}
}

func printRemovalJSON(s cli.Streams, o *removeOptions, r *scaffold.Removal) error {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("name").String(r.Name).Name("path").String(r.Path).
		Name("files").Strings(r.Files).Name("requirements").Strings(r.Programs).
		Name("variables").Strings(r.Variables).Name("kept").Array()
	for _, k := range r.Kept {
		b.Object().Name("what").String(k.What).Name("why").String(k.Why).End()
	}
	return printJSON(s, b.End(), o.dryRun)
}
