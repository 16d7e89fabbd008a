// Mcp-scaffold creates projects and their parts.
package main

import (
	"os"
	"slices"

	"mcp-bash/pkg/cli"
)

func main() { os.Exit(cli.Run("mcp-scaffold", run)) }

// run executes the command that the first argument names. The command parses the other
// arguments itself, as it does behind mcp-bash.
func run(s cli.Streams, args []string) int {
	c := command()
	if len(args) > 0 && args[0] != cli.CompleteWord {
		if at := slices.IndexFunc(c.Commands, func(sub *cli.Command) bool { return sub.Name == args[0] }); at >= 0 {
			return c.Commands[at].Main(s, "mcp-scaffold "+args[0], args[1:])
		}
	}
	return c.Main(s, "mcp-scaffold", args)
}

func command() *cli.Command {
	return &cli.Command{
		Name:    "mcp-scaffold",
		Summary: "Create a project and its parts, and connect clients to it.",
		Examples: []cli.Example{
			{Line: "NAME new my-server", Purpose: "create a project in a new directory"},
			{Line: "NAME init", Purpose: "turn this directory into a project"},
			{Line: "NAME scaffold tool my-tool", Purpose: "add a tool to the project"},
			{Line: "NAME wrap sort", Purpose: "create a tool that runs a program"},
			{Line: "NAME config --client cursor --apply", Purpose: "connect a client to the project"},
		},
		Exits:    exits,
		Commands: []*cli.Command{newCommand(), initCommand(), scaffoldCommand(), wrapCommand(), configCommand()},
	}
}

var exits = []cli.Exit{
	{Code: 0, Meaning: "done"},
	{Code: 1, Meaning: "the command failed, the item already exists, or no project was found; nothing was created"},
	{Code: 2, Meaning: "wrong usage, or an invalid name"},
}
