// Mcp-scaffold makes projects, and what they consist of.
package main

import (
	"os"
	"slices"

	"mcp-bash/pkg/cli"
)

func main() { os.Exit(cli.Run("mcp-scaffold", run)) }

// run does what the first argument asks for. A verb is a command of its own, as it is
// behind mcp-bash.
func run(s cli.Streams, args []string) int {
	c := command()
	if len(args) > 0 && args[0] != cli.CompleteWord {
		if at := slices.IndexFunc(c.Commands, func(sub *cli.Command) bool { return sub.Name == args[0] }); at >= 0 {
			return c.Commands[at].Main(s, "mcp-scaffold "+args[0], args[1:])
		}
	}
	return c.Main(s, "mcp-scaffold", args)
}

// command describes the program.
func command() *cli.Command {
	return &cli.Command{
		Name:    "mcp-scaffold",
		Summary: "Make a project and what it consists of, and connect clients with it.",
		Examples: []cli.Example{
			{Line: "NAME new my-server", Purpose: "a project in a directory of its own"},
			{Line: "NAME init", Purpose: "make this directory one"},
			{Line: "NAME scaffold tool my-tool", Purpose: "add a tool to it"},
			{Line: "NAME wrap sort", Purpose: "make a tool of a program"},
			{Line: "NAME config --client cursor --apply", Purpose: "connect a client with it"},
		},
		Exits:    exits,
		Commands: []*cli.Command{newCommand(), initCommand(), scaffoldCommand(), wrapCommand(), configCommand()},
	}
}

// exits are the exit codes of all verbs.
var exits = []cli.Exit{
	{Code: 0, Meaning: "done"},
	{Code: 1, Meaning: "it failed, is there already, or there is no project; nothing was made"},
	{Code: 2, Meaning: "wrong usage, or a name that will not do"},
}
