package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/adopt"
	"mcp-bash/pkg/text/toolnames"
)

// serverOptions are the options of the commands that create a project (cli chapter 5).
type serverOptions struct {
	name          string
	noHello, json bool
	force         bool // whether new works inside another project
	from          string
	copies, ask   bool
	noTrial       bool
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
		Run:   func(s cli.Streams, _ []string) error { return initHere(s, o) },
	}
	c.Flags.String(&o.name, "name", "SERVER", "the server's name; default: the name of the directory")
	o.common(c)
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
			return makeNew(s, o)
		},
	}
	c.Flags.Bool(&o.force, "force", "create it even inside another project")
	o.common(c)
	return c
}

// serverCommand returns an alias of init without a first tool (CLI-201).
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
			return initHere(s, o)
		},
	}
	c.Flags.Bool(&o.json, "json", "print the result as JSON; errors, too")
	return c
}

func (o *serverOptions) common(c *cli.Command) {
	c.Flags.String(&o.from, "from", "DIR", "make a tool of each script in this folder, in place of the tool hello")
	c.Flags.Bool(&o.copies, "copy", "with --from: copy the scripts to scripts/ of the project")
	c.Flags.Bool(&o.ask, "ask", "with --from: let the user of the client answer the questions of scripts")
	c.Flags.Bool(&o.noTrial, "no-trial", "with --from: "+noTrial)
	c.Flags.Bool(&o.noHello, "no-hello", "leave out the tool hello")
	c.Flags.Bool(&o.json, "json", "print the result as JSON; errors, too")
}

// initHere creates a project in the working directory and prints the result (CLI-503).
func initHere(s cli.Streams, o *serverOptions) error {
	ctx, stop := cli.UntilSignal()
	defer stop()
	if o.name != "" && !toolnames.IsPortable(o.name) {
		return cli.Usagef("Invalid server name %q: use letters, digits, - and _ (1-64), which all clients accept", o.name)
	}
	folder, err := o.look()
	if err != nil {
		return err
	}
	made, err := inWorkingDirectory(func(dir string) (*scaffold.Server, error) {
		return scaffold.Init(ctx, dir, o.name, !o.noHello && folder == nil, func(text string) {
			cli.Printf(s.Err, "init: warning: %s\n", text)
		})
	})
	if err != nil {
		return interrupted(ctx, err)
	}
	if folder != nil {
		return interrupted(ctx, o.adopt(ctx, s, made, folder))
	}
	if !toolnames.IsPortable(made.Name) {
		cli.Printf(s.Err, "init: warning: some clients reject the name %q, and a wrapper script cannot have it; "+
			"use letters, digits, - and _ (1-64)\n", made.Name)
	}
	if o.json {
		return printServer(s, made)
	}
	fmt.Fprint(s.Out, "Initializing MCP server project...\n\n")
	printFiles(s, made)
	cli.Printf(s.Out, "\nYour MCP server \"%s\" is ready!\n", made.Name)
	fmt.Fprint(s.Out, "\nTest immediately:\n")
	if slices.Contains(made.Created, "tools/hello/tool.sh") {
		fmt.Fprint(s.Out, "  mcp-bash run-tool hello --allow-self\n  mcp-bash test\n")
	}
	_, err = fmt.Fprint(s.Out, "  eval \"$(mcp-bash config --inspector)\"   # opens it in the MCP Inspector\n"+
		"\nAdd more tools:\n  mcp-bash scaffold tool my-tool\n")
	return err
}

// makeNew creates a project in a new directory and prints the result (CLI-504).
func makeNew(s cli.Streams, o *serverOptions) error {
	ctx, stop := cli.UntilSignal()
	defer stop()
	folder, err := o.look()
	if err != nil {
		return err
	}
	made, err := inWorkingDirectory(func(dir string) (*scaffold.Server, error) {
		if around, err := project.FindRoot(project.Env{}, "", dir); err == nil && !o.force {
			if err := confirmInside(ctx, s, o, around); err != nil {
				return nil, err
			}
		}
		return scaffold.New(ctx, dir, o.name, !o.noHello && folder == nil)
	})
	if err != nil {
		return interrupted(ctx, err)
	}
	if folder != nil {
		return interrupted(ctx, o.adopt(ctx, s, made, folder))
	}
	if o.json {
		return printServer(s, made)
	}
	cli.Printf(s.Out, "Created project at ./%s/\n\n", made.Name)
	printFiles(s, made)
	_, err = cli.Printf(s.Out, `
Next steps:
  cd %s
  mcp-bash scaffold tool my-tool    # create a tool
  mcp-bash config --client cursor   # get client config
  mcp-bash bundle                   # create distributable package
`, made.Name)
	return err
}

// look reads the folder of --from, or returns nil.
func (o *serverOptions) look() (*adopt.Folder, error) {
	if o.from == "" {
		if o.copies {
			return nil, cli.Usagef("--copy is for the scripts of --from DIR")
		}
		return nil, nil
	}
	folder, err := lookAt(o.from)
	if err == nil && len(folder.Scripts) == 0 {
		err = cli.Failf(cli.CodeInvalid, "%s: no script that can become a tool%s", o.from, reasons(folder))
	}
	return folder, err
}

// reasons lists the scripts that were left out, with the commands that repair them.
func reasons(folder *adopt.Folder) string {
	var b strings.Builder
	for _, l := range folder.LeftOut {
		fmt.Fprintf(&b, "\n  %s: %s", l.Path, l.Reason)
		if l.Remedy != "" {
			b.WriteString("; " + l.Remedy)
		}
	}
	return b.String()
}

// adopt makes the tools of a new project. If that fails, the project does not stay.
func (o *serverOptions) adopt(ctx context.Context, s cli.Streams, made *scaffold.Server, folder *adopt.Folder) error {
	p, err := scaffold.Open(made.Root, s.Notice)
	if err == nil {
		options := addOptions{json: o.json, noTrial: o.noTrial}
		options.Copy, options.Ask = o.copies, o.ask
		err = adoptAll(ctx, s, &options, p, []*adopt.Folder{folder})
	}
	if err != nil {
		made.Remove()
		return err
	}
	if !o.json {
		cli.Printf(s.Out, "\nYour MCP server is in %s. Try it there:\n  mcp-bash run-tool %s --allow-self --dry-run\n"+
			"  mcp-bash config --client claude-code --apply\n", made.Root, folder.Scripts[0].Tool)
	}
	return nil
}

// confirmInside asks on a terminal whether to create a project inside another one. Otherwise it returns an error
// that suggests --force (CLI-1141).
func confirmInside(ctx context.Context, s cli.Streams, o *serverOptions, around string) error {
	if o.json || !cli.IsTerminal(s.In) || !cli.IsTerminal(s.Out) {
		return cli.Failf(cli.CodeExists, "this directory is in the project %s", cli.Line(around)).
			WithHint("Change to another directory, add to that project with mcp-bash scaffold, or give --force.")
	}
	cli.Printf(s.Out, "This directory is in the project %s.\n", cli.Line(around))
	if !cli.Confirm(ctx, s, s.Out, "Create another project inside it?") {
		return cli.Failf(cli.CodeExists, "nothing was created")
	}
	return nil
}

func inWorkingDirectory(work func(dir string) (*scaffold.Server, error)) (*scaffold.Server, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return work(dir)
}

// interrupted returns the exit code for a signal instead of the error that it caused.
func interrupted(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// printFiles prints what happened to each part of a project (CLI-503).
func printFiles(s cli.Streams, made *scaffold.Server) {
	hello := false
	for _, name := range made.Created {
		if strings.HasPrefix(name, "tools/hello/") {
			if !hello {
				cli.Printf(s.Out, "  Created hello tool at %s\n", filepath.Join(made.Root, "tools", "hello"))
			}
			hello = true
			continue
		}
		cli.Printf(s.Out, "  Created %s\n", filepath.Join(made.Root, filepath.FromSlash(name)))
	}
	for _, name := range made.Updated {
		cli.Printf(s.Out, "  Updated %s\n", filepath.Join(made.Root, filepath.FromSlash(name)))
	}
	for _, name := range made.Skipped {
		what := ""
		if name == "tools/hello" {
			what = "hello tool at "
		}
		cli.Printf(s.Out, "  Skipped existing %s%s\n", what, filepath.Join(made.Root, filepath.FromSlash(name)))
	}
}

func printServer(s cli.Streams, made *scaffold.Server) error {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("projectRoot").String(made.Root).Name("name").String(made.Name).
		Name("created").Strings(made.Created).
		Name("updated").Strings(made.Updated).
		Name("skipped").Strings(made.Skipped)
	return printJSON(s, &b, false)
}
