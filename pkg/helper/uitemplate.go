package helper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/uitemplate"
)

const uiTemplateHelp = `mcp-bash ui-template prints the HTML of a ready-made MCP Apps view.

Examples:
  echo '{"title":"Order","fields":[{"name":"item"}],"submitTool":"order"}' |
    mcp-bash ui-template form > ui/order/index.html
  mcp-bash ui-template kanban < /dev/null   with the defaults

Usage: mcp-bash ui-template NAME < CONFIG.json

Names: %s.
The configuration is one JSON object; nothing at all means {}. What it may hold:
docs/MCP-APPS.md.

Exit codes: 0 printed; 1 no such template; 2 usage, or a faulty configuration.
`

// uiTemplate prints the document of a UI template, whose configuration is on
// standard input (resources UI-89).
func uiTemplate(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	known := strings.Join(uitemplate.Names(), ", ")
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		fmt.Fprintf(stdout, uiTemplateHelp, known)
		return exitOK
	}
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		fmt.Fprintf(stderr, "ui-template: give the name of one template: %s\nRun \"mcp-bash ui-template --help\" for usage.\n", known)
		return exitUsage
	}
	var config []byte
	if !cli.IsTerminal(stdin) {
		var err error
		if config, err = readText(stdin); err != nil {
			fmt.Fprintf(stderr, "ui-template: %v\n", err)
			return exitUsage
		}
	}
	if len(bytes.TrimSpace(config)) == 0 {
		config = []byte("{}")
	}
	document, err := uitemplate.Render(args[0], config)
	var unknown uitemplate.UnknownError
	switch {
	case errors.As(err, &unknown):
		fmt.Fprintf(stderr, "%v\nThere are: %s\n", err, known)
		return exitNo
	case err != nil:
		fmt.Fprintf(stderr, "ui-template: %v\n", err)
		return exitUsage
	}
	if _, err := stdout.Write(document); err != nil {
		fmt.Fprintf(stderr, "ui-template: %v\n", err)
		return exitUsage
	}
	return exitOK
}
