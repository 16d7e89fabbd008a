// Mcp-doctor judges projects and installations, and changes them only where it is told to.
package main

import (
	"os"
	"slices"

	"mcp-bash/pkg/check/health"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper"
)

func main() {
	if helper.Is(os.Args) { // a sample's tool calls us for help (CLI-208)
		os.Exit(helper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(cli.Run("mcp-doctor", run))
}

// run does what the first argument asks for. A verb is a command of its own, as it is
// behind mcp-bash.
func run(s cli.Streams, args []string) int {
	c := command()
	if len(args) > 0 && args[0] != cli.CompleteWord {
		if at := slices.IndexFunc(c.Commands, func(sub *cli.Command) bool { return sub.Name == args[0] }); at >= 0 {
			return c.Commands[at].Main(s, "mcp-doctor "+args[0], args[1:])
		}
	}
	return c.Main(s, "mcp-doctor", args)
}

// command describes the program.
func command() *cli.Command {
	return &cli.Command{
		Name:    "mcp-doctor",
		Summary: "Check a project, or the installation.",
		Examples: []cli.Example{
			{Line: "NAME validate", Purpose: "is the project right?"},
			{Line: "NAME doctor", Purpose: "is the installation?"},
			{Line: "NAME explain script.crlf", Purpose: "more about a finding"},
		},
		Exits: []cli.Exit{
			{Code: 0, Meaning: "nothing is wrong; warnings are allowed"}, {Code: 1, Meaning: "errors were found"},
			{Code: 2, Meaning: "wrong usage"}, {Code: 3, Meaning: "doctor: refused"},
		},
		Commands: []*cli.Command{validateCommand(), migrateCommand(), doctorCommand(), explainCommand(),
			health.Command("health"), health.Command("ready")},
	}
}
