// Mcp-doctor checks projects and installations, and fixes them on request.
package main

import (
	"os"

	"mcp-bash/pkg/check/health"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper/invoke"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/runtool/suite"
)

func main() {
	if invoke.Is(os.Args) { // CLI-208
		os.Exit(invoke.Forward(os.Args))
	}
	os.Exit(cli.Run("mcp-doctor", run))
}

func run(s cli.Streams, args []string) int { return command().MainOf(s, args) }

func command() *cli.Command {
	return &cli.Command{
		Name:    "mcp-doctor",
		Summary: "Check a project, or the installation.",
		Examples: []cli.Example{
			{Line: "NAME validate", Purpose: "is the project right?"},
			{Line: "NAME test", Purpose: "do its tools return what its test cases expect?"},
			{Line: "NAME doctor", Purpose: "is the installation?"},
			{Line: "NAME audit --summary audit.jsonl", Purpose: "who called what?"},
			{Line: "NAME explain script.crlf", Purpose: "more about a finding"},
		},
		Exits: []cli.Exit{
			{Code: 0, Meaning: "nothing is wrong; warnings are allowed"}, {Code: 1, Meaning: "errors were found"},
			{Code: 3, Meaning: "doctor: refused"},
		},
		Default: "doctor",
		Commands: []*cli.Command{validateCommand(), migrateCommand(), doctorCommand(), upgradeCommand(), explainCommand(),
			auditCommand(),
			suite.Command(tree.Embedded),
			health.Command("health", nil), health.Command("ready", nil)},
	}
}
