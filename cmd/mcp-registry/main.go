// Mcp-registry writes and shows the files in .registry/, which list the content of a project.
package main

import (
	"os"
	"runtime/debug"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper/invoke"
)

func main() {
	if invoke.Is(os.Args) { // register.sh calls this program (CLI-208)
		os.Exit(invoke.Forward(os.Args))
	}
	debug.SetGCPercent(400) // for a short run, memory is cheaper than garbage collection
	os.Exit(cli.Run("mcp-registry", run))
}
