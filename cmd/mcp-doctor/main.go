// Mcp-doctor checks projects and installations, and fixes them on request.
package main

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"mcp-bash/pkg/check/doctor"
	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/health"
	"mcp-bash/pkg/check/validate"
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

func rules() finding.Rules {
	return slices.Concat(validate.Rules(), doctor.Rules())
}

func explainCommand() *cli.Command {
	asJSON := false
	c := &cli.Command{
		Name:    "explain",
		Summary: "Explain a finding: why it matters, and how to fix it. Without an id, list all findings.",
		Examples: []cli.Example{
			{Line: "NAME script.crlf"}, {Line: "NAME | grep name"},
		},
		Operands: []cli.Operand{{Name: "[ID]", Complete: cli.Found(ids)}},
		Text:     "Ids: " + strings.Join(ids(), ", ") + ".",
		Exits: []cli.Exit{
			{Code: 0, Meaning: "it is explained"}, {Code: 1, Meaning: "there is no such id"},
		},
		Run: func(s cli.Streams, operands []string) error {
			if len(operands) == 0 && asJSON {
				return printJSON(s.Out, rules())
			} else if len(operands) == 0 {
				_, err := s.Out.Write([]byte(rules().List()))
				return err
			}
			rule := rules().Find(operands[0])
			if rule == nil {
				return cli.Failf(cli.CodeNotFound, "no finding is called %s%s", operands[0],
					cli.DidYouMean(operands[0], ids())).WithHint("run mcp-bash explain to list all ids")
			}
			if asJSON {
				return printJSON(s.Out, rule)
			}
			cli.Explain(s.Out, "%s", cli.Lines(rule.Explain()))
			return nil
		},
	}
	c.Flags.Bool(&asJSON, "json", "as JSON, errors included")
	return c
}

func ids() (names []string) {
	for _, r := range rules() {
		names = append(names, r.ID)
	}
	return names
}

// printJSON prints a value on one line. It does not escape the characters of HTML.
func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
