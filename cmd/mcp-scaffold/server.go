package main

import (
	"context"
	"fmt"
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

// A maker creates a project for the working directory. [scaffold.Init] describes then.
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

// initHere is the maker of init (CLI-503).
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

// makeNew is the maker of new (CLI-504). Inside another project it asks on a terminal. Elsewhere it returns an error
// that suggests --force (CLI-1141).
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
	folder, err := lookAt(o.from)
	if err != nil || len(folder.Scripts) > 0 {
		return folder, err
	}
	var reasons strings.Builder
	for _, l := range folder.LeftOut {
		fmt.Fprintf(&reasons, "\n  %s: %s", l.Path, l.Reason)
		if l.Remedy != "" {
			reasons.WriteString("; " + l.Remedy)
		}
	}
	return nil, cli.Failf(cli.CodeInvalid, "%s: no script that can become a tool%s", o.from, reasons.String())
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

// printFiles prints what happened to each part of a project (CLI-503).
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
