package cli

// Version is the release of the commands and the SDK (README decision 13).
const Version = "2.0.0"

// stamp is in the binary of every program, so that the version of binaries for other systems can be found (CLI-1422).
var stamp = "[mcp-bash " + Version + "]"

// Stamp returns the text that binaries of this release contain.
func Stamp() string { return stamp }

// Programs are the names of the programs of an installation, in the order of lists.
var Programs = []string{"mcp-bash", "mcp-runtool", "mcp-registry", "mcp-bundle", "mcp-scaffold", "mcp-doctor"}
