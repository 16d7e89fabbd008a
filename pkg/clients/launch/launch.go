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

// InspectorLine returns a command line for a shell that starts a project's server in the MCP
// Inspector (CLI-710).
func InspectorLine(command, root string) string {
	words := []string{"npx", "@modelcontextprotocol/inspector"}
	words = append(words, "-e", RootVariable+"="+root, "-e", AllowVariable+"=*", "--transport", "stdio", "--", command)
	for i, word := range words {
		words[i] = shell.Quote(word)
	}
	return strings.Join(words, " ")
}
