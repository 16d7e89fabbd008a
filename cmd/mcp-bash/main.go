// Mcp-bash serves a project's tools to an MCP client on standard input and output. "mcp-bash VERB" runs the program
// that implements the verb.
package main

import (
	"os"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper"
	"mcp-bash/pkg/helper/invoke"
	"mcp-bash/pkg/project"
)

func main() {
	if invoke.Is(os.Args) { // a script calls this program (CLI-208)
		os.Exit(helper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	project.UsePackaged()
	os.Exit(cli.Run("mcp-bash", run))
}
