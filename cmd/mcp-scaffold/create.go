package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/adopt"
	"mcp-bash/pkg/text/toolnames"
)

// itemOptions are the options of the commands that add items to a project (cli chapter 6).
type itemOptions struct {
	scaffold.Request
	common
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
			itemCommand(scaffold.Tool, "Add a tool: a script, its description, a test case.",
				cli.Example{Line: "NAME my-tool && mcp-bash test"},
				cli.Example{Line: "NAME chart --ui", Purpose: "with a page that shows its results"}),
			itemCommand(scaffold.Prompt, "Add a prompt: a text with placeholders, and arguments that replace them.",
				cli.Example{Line: "NAME review"}),
			itemCommand(scaffold.Resource, "Add a resource: a file that clients can read.",
				cli.Example{Line: "NAME guide"}),
			itemCommand(scaffold.Completion,
				"Add a script that suggests values for the arguments of a prompt, and register it in server.d/register.json.",
				cli.Example{Line: "NAME review"}),
			itemCommand(scaffold.UI, "Add a page (MCP App), standalone or for a tool.",
				cli.Example{Line: "NAME board", Purpose: "ui/board"},
				cli.Example{Line: "NAME --tool chart", Purpose: "tools/chart/ui, shown with the results of the tool"}),
			itemCommand(scaffold.Skill,
				"Add a skill: instructions for agents. Without ITEM, it teaches a coding agent to extend the project.",
				cli.Example{Line: "NAME tidy-up", Purpose: "skills/tidy-up/SKILL.md, which the server offers to its clients"},
				cli.Example{Line: "NAME", Purpose: "skills/mcp-bash/SKILL.md"},
				cli.Example{Line: "NAME --force", Purpose: "replace the skill of an earlier release"}),
			itemCommand(scaffold.Release,
				"Add a workflow for GitHub Actions, which checks, builds and publishes the project for a tag.",
				cli.Example{Line: "NAME", Purpose: ".github/workflows/release.yml"},
				cli.Example{Line: "NAME my-tools --no-npm", Purpose: "my-tools as the packages' name, and none for npm"}),
			serverCommand(),
		},
	}
}

func itemCommand(kind scaffold.Kind, summary string, examples ...cli.Example) *cli.Command {
	o := &itemOptions{Request: scaffold.Request{Kind: kind}}
	label := strings.ToUpper(string(kind[:1])) + string(kind[1:])
	c := &cli.Command{
		Name: string(kind), Summary: summary, Examples: examples, Exits: exits,
		Operands: []cli.Operand{{Name: "ITEM", Missing: label + " name required"}},
		Run: func(s cli.Streams, operands []string) error {
			if o.Name = strings.Join(operands, ""); kind == scaffold.UI && len(operands) == 0 && o.Tool == "" {
				err := cli.Usagef("Error: UI name required for standalone UIs")
				err.Bare = true
				return err
			}
			return makeItem(s, o)
		},
	}
	switch kind {
	case scaffold.Tool:
		c.Flags.Bool(&o.Page, "ui", "with a page for its results, in tools/ITEM/ui")
	case scaffold.UI:
		c.Operands = []cli.Operand{{Name: "[ITEM]"}}
		c.Flags.String(&o.Tool, "tool", "TOOL", "the tool whose results the page shows; ITEM defaults to its name")
	case scaffold.Skill:
		c.Operands = []cli.Operand{{Name: "[ITEM]"}}
	case scaffold.Release:
		c.Operands = []cli.Operand{{Name: "[ITEM]"}}
		c.Flags.Bool(&o.NoNPM, "no-npm", "leave out the packages for npx")
		c.Flags.Bool(&o.NoPyPI, "no-pypi", "leave out the wheels for uvx and pipx")
		c.Flags.Bool(&o.NoImage, "no-image", "leave out the container image")
	}
	c.Flags.Bool(&o.Force, "force", "replace existing files; otherwise these are an error")
	c.Flags.Bool(&o.DryRun, "dry-run", "list what would be created, and create nothing")
	o.addTo(c, jsonHelp)
	return c
}

func makeItem(s cli.Streams, o *itemOptions) error {
	return o.inProject(s, func(ctx context.Context, p *project.Project) error {
		item, err := scaffold.Make(ctx, p, o.Request, warner(s, "scaffold"))
		switch {
		case err != nil:
			return err
		case o.json:
			return printJSON(s, item, o.DryRun)
		}
		printItem(s, o, item)
		return nil
	})
}

func printItem(s cli.Streams, o *itemOptions, item *scaffold.Item) {
	done, kind := "Scaffolded", string(item.Kind)
	if o.DryRun {
		done = "Would scaffold"
	}
	if item.Kind == scaffold.UI {
		kind = "UI"
	}
	cli.Printf(s.Out, "%s %s at %s\n", done, kind, item.Path)
	if item.Page != "" {
		cli.Printf(s.Out, "%s UI at %s\n", done, item.Page)
	}
	if o.DryRun {
		for _, name := range item.Files {
			cli.Printf(s.Out, "  %s\n", name)
		}
		return
	}
	switch r := item.Registration; {
	case item.Kind == scaffold.Release:
		cli.Printf(s.Out, "\nNext steps:\n  1. Follow the comment at the top of %s\n  2. Commit it, and push a tag\n",
			item.Files[0])
	case item.Kind == scaffold.Skill && o.Name != "":
		cli.Printf(s.Out, "\nNext steps:\n  1. Edit %s\n  2. Run: mcp-bash validate\n", item.Files[0])
	case item.Kind == scaffold.Skill:
		cli.Printf(s.Out, "\nAgents that look elsewhere for skills need a copy, for example Claude Code:\n"+
			"  mkdir -p .claude/skills && cp -R skills/mcp-bash .claude/skills/\n")
	case item.Kind == scaffold.UI && o.Tool != "":
		cli.Printf(s.Out, "\nThe page is linked to the tool %s automatically:\n"+
			"its tool.meta.json needs no _meta.ui.\n", o.Tool)
	case r == nil:
	case !r.Registered:
		cli.Printf(s.Out, "Register it yourself:\n%s\n", []byte(r.Entry))
	case r.Known:
		cli.Printf(s.Out, "Completion %s already registered in %s\n", item.Name, r.File)
	default:
		cli.Printf(s.Out, "Registered completion %s in %s\n", item.Name, r.File)
	}
}

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

// removeTool shows the files and settings of a tool, asks, and removes them.
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

// serverOptions are the options of the commands that create a project (cli chapter 5).
type serverOptions struct {
	addOptions
	name    string
	noHello bool
	inside  bool // whether new works inside another project
	from    string
}

func initCommand() *cli.Command {
	o := &serverOptions{}
	c := &cli.Command{
		Name:    "init",
		Summary: "Turn this directory into a project. Existing files are kept.",
		Examples: []cli.Example{
			{Line: "NAME"},
			{Line: "NAME --from ~/scripts", Purpose: "with a tool for each script of a folder"},
			{Line: "NAME --name my-server --no-hello", Purpose: "under another name, without a first tool"},
		},
		Exits: exits,
		Run:   func(s cli.Streams, _ []string) error { return makeServer(s, o, o.initHere, printInit) },
	}
	c.Flags.String(&o.name, "name", "SERVER", "the server's name; default: the name of the directory")
	o.addTo(c)
	return c
}

func newCommand() *cli.Command {
	o := &serverOptions{}
	c := &cli.Command{
		Name:    "new",
		Summary: "Create a project in a new directory.",
		Examples: []cli.Example{
			{Line: "NAME my-server --from ~/scripts", Purpose: "in ./my-server, with a tool for each script"},
			{Line: "NAME my-server", Purpose: "in ./my-server, with a first tool"},
			{Line: "cd $(NAME my-server --json | jq -r .projectRoot)"},
		},
		Operands: []cli.Operand{{Name: "SERVER", Missing: "Server name required"}},
		Exits:    exits,
		Run: func(s cli.Streams, operands []string) error {
			o.name = operands[0]
			return makeServer(s, o, o.makeNew, printNew)
		},
	}
	c.Flags.Bool(&o.inside, "force", "create it even inside another project")
	o.addTo(c)
	return c
}

// serverCommand returns an alias of init without a first tool.
func serverCommand() *cli.Command {
	o := &serverOptions{noHello: true}
	c := &cli.Command{
		Name:     "server",
		Summary:  "Turn this directory into an empty project, like init --no-hello.",
		Examples: []cli.Example{{Line: "NAME my-server"}},
		Operands: []cli.Operand{{Name: "[SERVER]"}},
		Exits:    exits,
		Run: func(s cli.Streams, operands []string) error {
			o.name = strings.Join(operands, "")
			return makeServer(s, o, o.initHere, printInit)
		},
	}
	c.Flags.Bool(&o.json, "json", jsonHelp)
	return c
}

func (o *serverOptions) addTo(c *cli.Command) {
	c.Flags.String(&o.from, "from", "DIR", "make a tool of each script in this folder, in place of the tool hello")
	c.Flags.Bool(&o.Copy, "copy", "with --from: copy the scripts to scripts/ of the project")
	c.Flags.Bool(&o.Ask, "ask", "with --from: let the user of the client answer the questions of scripts")
	c.Flags.Bool(&o.noTrial, "no-trial", "with --from: "+noTrial)
	c.Flags.Bool(&o.noHello, "no-hello", "leave out the tool hello")
	c.Flags.Bool(&o.json, "json", jsonHelp)
}

// A maker creates a project for the working directory. It calls then as [scaffold.Init] does.
type maker func(ctx context.Context, s cli.Streams, dir string, then func(*scaffold.Server) error) (*scaffold.Server,
	error)

// makeServer creates a project, with the tools of --from, and prints the result.
func makeServer(s cli.Streams, o *serverOptions, make maker, print func(cli.Streams, *scaffold.Server)) error {
	folder, err := o.look()
	if err != nil {
		return err
	}
	o.noHello = o.noHello || folder != nil
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	return untilSignal(func(ctx context.Context) error {
		made, err := make(ctx, s, dir, func(made *scaffold.Server) error {
			if folder == nil {
				return nil
			}
			return o.adopt(ctx, s, made, folder)
		})
		switch {
		case err != nil || folder != nil:
			return err
		case o.json:
			return printJSON(s, made, false)
		}
		print(s, made)
		return nil
	})
}

// initHere is the maker of init.
func (o *serverOptions) initHere(ctx context.Context, s cli.Streams, dir string, then func(*scaffold.Server) error) (
	*scaffold.Server, error) {
	if o.name != "" && !toolnames.IsPortable(o.name) {
		return nil, cli.Usagef("Invalid server name %q: use letters, digits, - and _ (1-64), which all clients accept",
			o.name)
	}
	made, err := scaffold.Init(ctx, dir, o.name, !o.noHello, warner(s, "init"), then)
	if err == nil && o.from == "" && !toolnames.IsPortable(made.Name) {
		cli.Printf(s.Err, "init: warning: some clients reject the name %q, and a wrapper script cannot have it; "+
			"use letters, digits, - and _ (1-64)\n", made.Name)
	}
	return made, err
}

func printInit(s cli.Streams, made *scaffold.Server) {
	cli.Printf(s.Out, "Initializing MCP server project...\n\n")
	printFiles(s, made)
	cli.Printf(s.Out, "\nYour MCP server \"%s\" is ready!\n\nTest immediately:\n", made.Name)
	if slices.Contains(made.Created, "tools/hello/tool.sh") {
		cli.Printf(s.Out, "  mcp-bash run-tool hello --allow-self\n  mcp-bash test\n")
	}
	cli.Printf(s.Out, "  eval \"$(mcp-bash config --inspector)\"   # opens it in the MCP Inspector\n"+
		"\nAdd more tools:\n  mcp-bash scaffold tool my-tool\n")
}

// makeNew is the maker of new. Inside another project, it asks on a terminal. Without a terminal, it returns an error
// that suggests --force.
func (o *serverOptions) makeNew(ctx context.Context, s cli.Streams, dir string, then func(*scaffold.Server) error) (
	*scaffold.Server, error) {
	around, err := project.FindRoot(project.Env{}, "", dir)
	switch isInside := err == nil && !o.inside; {
	case isInside && (o.json || !onTerminal(s)):
		return nil, cli.Failf(cli.CodeExists, "this directory is in the project %s", cli.Line(around)).
			WithHint("Change to another directory, add to that project with mcp-bash scaffold, or give --force.")
	case isInside:
		cli.Printf(s.Out, "This directory is in the project %s.\n", around)
		if !cli.Confirm(ctx, s, s.Out, "Create another project inside it?") {
			return nil, cli.Failf(cli.CodeExists, "nothing was created")
		}
	}
	return scaffold.New(ctx, dir, o.name, !o.noHello, then)
}

func printNew(s cli.Streams, made *scaffold.Server) {
	cli.Printf(s.Out, "Created project at ./%s/\n\n", made.Name)
	printFiles(s, made)
	cli.Printf(s.Out, `
Next steps:
  cd %s
  mcp-bash scaffold tool my-tool    # create a tool
  mcp-bash config --client cursor   # get client config
  mcp-bash bundle                   # create distributable package
`, made.Name)
}

// look reads the folder of --from, or returns nil.
func (o *serverOptions) look() (*adopt.Folder, error) {
	if o.from == "" {
		if o.Copy {
			return nil, cli.Usagef("--copy is for the scripts of --from DIR")
		}
		return nil, nil
	}
	return lookAt(o.from)
}

// adopt makes the tools of a new project.
func (o *serverOptions) adopt(ctx context.Context, s cli.Streams, made *scaffold.Server, folder *adopt.Folder) error {
	p, err := scaffold.Open(made.Root, s.Notice)
	if err == nil {
		err = adoptAll(ctx, s, &o.addOptions, p, []*adopt.Folder{folder})
	}
	if err == nil && !o.json {
		cli.Printf(s.Out, "\nYour MCP server is in %s. Try it there:\n  mcp-bash run-tool %s --allow-self --dry-run\n"+
			"  mcp-bash config --client claude-code --apply\n", made.Root, folder.Scripts[0].Tool)
	}
	return err
}

// printFiles prints the result for each part of a project.
func printFiles(s cli.Streams, made *scaffold.Server) {
	print := func(what string, names []string) {
		for _, name := range names {
			tool := ""
			if dir := "tools/hello"; strings.HasPrefix(name, dir) {
				if name != dir && !strings.HasSuffix(name, "/tool.sh") {
					continue
				}
				name, tool = dir, "hello tool at "
			}
			cli.Printf(s.Out, "  %s %s%s\n", what, tool, filepath.Join(made.Root, filepath.FromSlash(name)))
		}
	}
	print("Created", made.Created)
	print("Updated", made.Updated)
	print("Skipped existing", made.Skipped)
}
