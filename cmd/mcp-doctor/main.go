// Mcp-doctor checks projects and installations, and fixes them on request.
package main

import (
	"os"
	"slices"

	"mcp-bash/pkg/check/health"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper/invoke"
)

func main() {
	if invoke.Is(os.Args) { // CLI-208
		os.Exit(invoke.Forward(os.Args))
	}
	os.Exit(cli.Run("mcp-doctor", run))
}

// run executes the command that the first argument names. The command parses the other
// arguments itself, as it does behind mcp-bash.
func run(s cli.Streams, args []string) int {
	c := command()
	if len(args) > 0 && args[0] != cli.CompleteWord {
		if at := slices.IndexFunc(c.Commands, func(sub *cli.Command) bool { return sub.Name == args[0] }); at >= 0 {
			return c.Commands[at].Main(s, "mcp-doctor "+args[0], args[1:])
		}
	}
	return c.Main(s, "mcp-doctor", args)
}

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
