// Package launch describes how a program starts the server of a project. Commands that only
// print this do not contain the editors of client files.
package launch

import (
	"strings"

	"mcp-bash/pkg/text/shell"
)

// Variables of a server.
const (
	RootVariable  = "MCPBASH_PROJECT_ROOT"
	AllowVariable = "MCPBASH_TOOL_ALLOWLIST"
)

// InspectorLine returns a command line for a shell that opens a server in the MCP Inspector, started by a command. root
// is its project; "": the command knows it (CLI-710).
func InspectorLine(root string, command ...string) string {
	words := []string{"npx", "@modelcontextprotocol/inspector"}
	if root != "" {
		words = append(words, "-e", RootVariable+"="+root, "-e", AllowVariable+"=*")
	}
	words = append(append(words, "--transport", "stdio", "--"), command...)
	for i, word := range words {
		words[i] = shell.Quote(word)
	}
	return strings.Join(words, " ")
}
