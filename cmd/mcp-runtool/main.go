// Mcp-runtool runs one tool of a project and prints its result.
package main

import (
	"os"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/runtool"
)

func main() {
	if helper.Is(os.Args) { // a script calls this program (CLI-208)
		os.Exit(helper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(cli.Run("mcp-runtool", run))
}

func run(s cli.Streams, args []string) int {
	return runtool.Command(tree.Embedded).Main(s, "mcp-runtool", args)
}
