// Mcp-registry makes and shows the files in .registry/ that say what a project
// offers.
package main

import (
	"os"
	"runtime/debug"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper/invoke"
)

func main() {
	if invoke.Is(os.Args) { // CLI-208
		os.Exit(invoke.Forward(os.Args))
	}
	debug.SetGCPercent(400) // it runs once and ends: collecting would cost more than the memory
	os.Exit(cli.Run("mcp-registry", run))
}
