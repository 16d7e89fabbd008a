// Mcp-runtool runs one tool of a project and prints its result.
package main

import (
	"os"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper/invoke"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/runtool"
)

func main() {
	if invoke.Is(os.Args) { // a script calls this program
		os.Exit(invoke.Forward(os.Args))
	}
	os.Exit(cli.Run("mcp-runtool", run))
}

func run(s cli.Streams, args []string) int {
	return runtool.Command(tree.Embedded).Main(s, "mcp-runtool", args)
}
