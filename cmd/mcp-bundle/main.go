// Mcp-bundle makes what others install: a bundle of a project, or a project that
// brings its own server.
package main

import (
	"os"

	"mcp-bash/pkg/cli"
)

func main() { os.Exit(cli.Run("mcp-bundle", run)) }

// run does what the first argument asks for. A verb is a command of its own, as it is
// behind mcp-bash.
func run(s cli.Streams, args []string) int {
	c := command()
	for _, sub := range c.Commands {
		if len(args) > 0 && sub.Name == args[0] {
			return sub.Main(s, "mcp-bundle "+sub.Name, args[1:])
		}
	}
	return c.Main(s, "mcp-bundle", args)
}

// command describes the program.
func command() *cli.Command {
	return &cli.Command{
		Name: "mcp-bundle", NotVerb: true,
		Summary: "Make what others install: bundles of a project, or a project with its own server.",
		Examples: []cli.Example{
			{Line: "NAME bundle", Purpose: "one file that clients install"},
			{Line: "NAME inspect demo-1.0.0.mcpb", Purpose: "what is in one"},
			{Line: "NAME vendor", Purpose: "put the server into the project"},
		},
		Exits: []cli.Exit{
			{Code: 0, Meaning: "done"},
			{Code: 1, Meaning: "it failed, or a check found errors"},
			{Code: 2, Meaning: "wrong usage"},
			{Code: 3, Meaning: "the server's program for a system could not be had"},
		},
		Commands: []*cli.Command{
			bundleCommand(), validateCommand(), inspectCommand(), unpackCommand(), publishCommand(), vendorCommand(),
		},
	}
}
