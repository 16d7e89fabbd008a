package main

import (
	"context"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold"
)

// removeOptions are the options of remove.
type removeOptions struct {
	common
	force, dryRun bool
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
		Run: func(s cli.Streams, operands []string) error {
			return o.inProject(s, func(ctx context.Context, p *project.Project) error {
				return removeTool(ctx, s, o, p, operands[0])
			})
		},
	}
	c.Flags.Bool(&o.force, "force", "do not ask")
	c.Flags.Bool(&o.force, "yes", "the same as --force")
	c.Flags.Bool(&o.dryRun, "dry-run", "show what would be removed, and remove nothing")
	o.addTo(c, jsonHelp)
	return &cli.Command{
		Name: "remove", Summary: "Remove a tool from the project.", Exits: exits,
		Examples: []cli.Example{{Line: "NAME tool backup --dry-run"}}, Commands: []*cli.Command{c},
	}
}

// removeTool shows what belongs to a tool, asks, and removes it (ADD-40, ADD-41).
func removeTool(ctx context.Context, s cli.Streams, o *removeOptions, p *project.Project, name string) error {
	r, err := scaffold.PlanRemoval(p, name)
	if err != nil {
		return err
	}
	if !o.json {
		printRemoval(s, r)
	}
	done := "Would remove"
	if !o.dryRun {
		if !o.force {
			if err := o.confirm(ctx, s, "Remove this?", "removed"); err != nil {
				return err
			}
		}
		if err := scaffold.Remove(ctx, p, r); err != nil {
			return err
		}
		done = "Removed"
	}
	if o.json {
		return printJSON(s, r, o.dryRun)
	}
	cli.Printf(s.Out, "%s %s\n", done, r.Name)
	return nil
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
