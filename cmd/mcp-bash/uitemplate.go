package main

import (
	"bytes"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper"
	"mcp-bash/pkg/provider/uitemplate"
)

func templateCommand() *cli.Command {
	names := uitemplate.Names()
	return &cli.Command{
		Name:    "ui-template",
		Summary: "Print the HTML of a ready-made view of MCP Apps.",
		Examples: []cli.Example{
			{Line: `echo '{"title":"Order","fields":[{"name":"item"}],"submitTool":"order"}' |` +
				"\nNAME form > ui/order/index.html"},
			{Line: "NAME kanban < /dev/null", Purpose: "with the defaults"},
		},
		Usage:    "TEMPLATE < CONFIG.json",
		Operands: []cli.Operand{{Name: "TEMPLATE", Complete: cli.Words(names...)}},
		Text: "TEMPLATE is one " +
			"of " + strings.Join(names, ", ") + `. The configuration is one JSON object. An empty input
means {}. docs/MCP-APPS.md describes its members.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "printed"}, {Code: 1, Meaning: "no such template"},
			{Code: 2, Meaning: "wrong usage, or a faulty configuration"},
		},
		Run: func(s cli.Streams, operands []string) error {
			var out bytes.Buffer // so that only cli.Run reports errors of writing
			code := helper.Run([]string{"ui-template", operands[0]}, s.In, &out, s.Err)
			s.Out.Write(out.Bytes())
			return exit(code)
		},
	}
}
