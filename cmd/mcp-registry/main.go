// Mcp-registry makes and shows the files in .registry/ that say what a project
// offers.
package main

import (
	"os"
	"runtime/debug"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper"
)

func main() {
	if helper.Is(os.Args) { // register.sh calls us for help (CLI-208)
		os.Exit(helper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	debug.SetGCPercent(400) // it runs once and ends: collecting would cost more than the memory
	os.Exit(cli.Run("mcp-registry", run))
}
