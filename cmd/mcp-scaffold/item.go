package main

import (
	"fmt"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold"
)

// itemOptions are the options of the commands that add items to a project (cli chapter 6).
type itemOptions struct {
	scaffold.Request
	projectRoot string
	json        bool
}

func scaffoldCommand() *cli.Command {
	return &cli.Command{
		Name:    "scaffold",
		Summary: "Add a tool or another item to the project, from a working template.",
		Examples: []cli.Example{
			{Line: "NAME tool my-tool", Purpose: "tools/my-tool, with a test case"},
			{Line: "NAME prompt review --dry-run", Purpose: "list the files that would be created"},
		},
		Exits: exits,
		Commands: []*cli.Command{
			itemCommand(scaffold.Tool, "Tool", "Add a tool: a script, its description, a test case.",
				cli.Example{Line: "NAME my-tool && mcp-bash test"},
				cli.Example{Line: "NAME chart --ui", Purpose: "with a page that shows its results"}),
			itemCommand(scaffold.Prompt, "Prompt", "Add a prompt: a text with placeholders, and arguments that replace them.",
				cli.Example{Line: "NAME review"}),
			itemCommand(scaffold.Resource, "Resource", "Add a resource: a file that clients can read.",
				cli.Example{Line: "NAME guide"}),
			itemCommand(scaffold.Completion, "Completion",
				"Add a script that suggests values for the arguments of a prompt, and register it in server.d/register.json.",
				cli.Example{Line: "NAME review"}),
			uiCommand(),
			skillCommand(),
			serverCommand(),
		},
	}
}

func itemCommand(kind scaffold.Kind, label, summary string, examples ...cli.Example) *cli.Command {
	o := &itemOptions{Request: scaffold.Request{Kind: kind}}
	c := &cli.Command{
		Name:     string(kind),
		Summary:  summary,
		Examples: examples,
		Operands: []cli.Operand{{Name: "ITEM", Missing: label + " name required"}},
		Exits:    exits,
		Run: func(s cli.Streams, operands []string) error {
			o.Name = operands[0]
			return add(s, o)
		},
	}
	if kind == scaffold.Tool {
		c.Flags.Bool(&o.Page, "ui", "with a page for its results, in tools/ITEM/ui")
	}
	o.common(c)
	return c
}

func uiCommand() *cli.Command {
	o := &itemOptions{Request: scaffold.Request{Kind: scaffold.UI}}
	c := &cli.Command{
		Name:    string(scaffold.UI),
		Summary: "Add a page (MCP App), standalone or for a tool.",
		Examples: []cli.Example{
			{Line: "NAME board", Purpose: "ui/board"},
			{Line: "NAME --tool chart", Purpose: "tools/chart/ui, shown with the results of the tool"},
		},
		Operands: []cli.Operand{{Name: "[ITEM]"}},
		Exits:    exits,
		Run: func(s cli.Streams, operands []string) error {
			if len(operands) > 0 {
				o.Name = operands[0]
			} else if o.Tool == "" {
				err := cli.Usagef("Error: UI name required for standalone UIs")
				err.Bare = true
				return err
			}
			return add(s, o)
		},
	}
	c.Flags.String(&o.Tool, "tool", "TOOL", "the tool whose results the page shows; ITEM defaults to its name")
	o.common(c)
	return c
}

func skillCommand() *cli.Command {
	o := &itemOptions{Request: scaffold.Request{Kind: scaffold.Skill}}
	c := &cli.Command{
		Name:    string(scaffold.Skill),
		Summary: "Add a skill: instructions for agents. Without ITEM, it teaches a coding agent to extend the project.",
		Examples: []cli.Example{
			{Line: "NAME tidy-up", Purpose: "skills/tidy-up/SKILL.md, which the server offers to its clients"},
			{Line: "NAME", Purpose: "skills/mcp-bash/SKILL.md"},
			{Line: "NAME --force", Purpose: "replace the skill of an earlier release"},
		},
		Operands: []cli.Operand{{Name: "[ITEM]"}},
		Exits:    exits,
		Run: func(s cli.Streams, operands []string) error {
			if len(operands) > 0 {
				o.Name = operands[0]
			}
			return add(s, o)
		},
	}
	o.common(c)
	return c
}

func (o *itemOptions) common(c *cli.Command) {
	c.Flags.Bool(&o.Force, "force", "replace existing files; otherwise these are an error")
	c.Flags.Bool(&o.DryRun, "dry-run", "list what would be created, and create nothing")
	c.Flags.ProjectRoot(&o.projectRoot)
	c.Flags.Bool(&o.json, "json", "print the result as JSON; errors, too")
}

func add(s cli.Streams, o *itemOptions) error {
	p, err := scaffold.Open(o.projectRoot, s.Notice)
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	item, err := scaffold.Make(ctx, p, o.Request, func(text string) {
		cli.Printf(s.Err, "scaffold: warning: %s\n", text)
	})
	if err != nil {
		return interrupted(ctx, err)
	}
	if o.json {
		return printItem(s, item, o.DryRun)
	}
	done := "Scaffolded"
	if o.DryRun {
		done = "Would scaffold"
	}
	switch item.Kind {
	case scaffold.UI:
		cli.Printf(s.Out, "%s UI at %s\n", done, item.Path)
	default:
		cli.Printf(s.Out, "%s %s at %s\n", done, item.Kind, item.Path)
	}
	if item.Page != "" {
		cli.Printf(s.Out, "%s UI at %s\n", done, item.Page)
	}
	if o.DryRun {
		for _, name := range item.Files {
			cli.Printf(s.Out, "  %s\n", name)
		}
		return nil
	}
	return printNext(s, o, item)
}

func printNext(s cli.Streams, o *itemOptions, item *scaffold.Item) (err error) {
	switch r := item.Registration; {
	case item.Kind == scaffold.Skill && o.Name != "":
		_, err = cli.Printf(s.Out, "\nNext steps:\n  1. Edit %s\n  2. Run: mcp-bash validate\n", item.Files[0])
	case item.Kind == scaffold.Skill:
		_, err = fmt.Fprint(s.Out, "\nAgents that look elsewhere for skills need a copy, for example Claude Code:\n"+
			"  mkdir -p .claude/skills && cp -R skills/mcp-bash .claude/skills/\n")
	case item.Kind == scaffold.UI && o.Tool != "":
		_, err = cli.Printf(s.Out, "\nThe page is linked to the tool %s automatically:\n"+
			"its tool.meta.json needs no _meta.ui.\n", o.Tool)
	case r == nil:
	case r.ToWrite != "":
		_, err = cli.Printf(s.Out, "Register it yourself:\n%s\n", []byte(r.ToWrite))
	case r.Known:
		_, err = cli.Printf(s.Out, "Completion %s already registered in %s\n", item.Name, r.File)
	default:
		_, err = cli.Printf(s.Out, "Registered completion %s in %s\n", item.Name, r.File)
	}
	return err
}

func printItem(s cli.Streams, item *scaffold.Item, dryRun bool) error {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("kind").String(string(item.Kind)).Name("name").String(item.Name).
		Name("path").String(item.Path).Name("files").Strings(item.Files)
	if item.Page != "" {
		b.Name("ui").String(filepath.ToSlash(item.Page))
	}
	if r := item.Registration; r != nil {
		b.Name("registration").Object().Name("file").String(r.File).Name("registered").Bool(r.ToWrite == "")
		if r.ToWrite != "" {
			b.Name("entry").Raw([]byte(r.ToWrite))
		}
		b.End()
	}
	return printJSON(s, &b, dryRun)
}
