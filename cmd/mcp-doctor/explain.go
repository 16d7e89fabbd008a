package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mcp-bash/pkg/check/doctor"
	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
)

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
			if len(operands) == 0 {
				return list(s.Out, asJSON)
			}
			rule := rules().Find(operands[0])
			if rule == nil {
				return cli.Failf(cli.CodeNotFound, "no finding is called %s%s", operands[0],
					cli.DidYouMean(operands[0], ids())).WithHint("run mcp-bash explain to list all ids")
			}
			if asJSON {
				_, err := fmt.Fprintf(s.Out, "%s\n", rule.AppendJSON(nil))
				return err
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

func list(out io.Writer, asJSON bool) error {
	if !asJSON {
		_, err := out.Write([]byte(rules().List()))
		return err
	}
	var b rawjson.Builder
	b.Array()
	all := rules()
	for i := range all {
		b.Append(all[i].AppendJSON)
	}
	_, err := fmt.Fprintf(out, "%s\n", b.End().Bytes())
	return err
}
