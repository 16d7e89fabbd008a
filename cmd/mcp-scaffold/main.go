// Mcp-scaffold creates projects and their parts.
package main

import (
	"os"

	"mcp-bash/pkg/cli"
)

func main() {
	os.Exit(cli.Run("mcp-scaffold", run))
}

func run(s cli.Streams, args []string) int { return command().MainOf(s, args) }

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
		Exits: exits,
		Commands: []*cli.Command{newCommand(), initCommand(), addCommand(), removeCommand(), scaffoldCommand(), wrapCommand(),
			configCommand()},
	}
}

var exits = []cli.Exit{
	{Code: 0, Meaning: "done"},
	{Code: 1, Meaning: "the command failed, the item already exists, or no project was found; nothing was created"},
	{Code: 2, Meaning: "wrong usage, or an invalid name"},
}
