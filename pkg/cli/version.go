package cli

import "strings"

// Version is the release of everything in this repository: the commands, the
// SDK, and what they tell clients (README decision 13).
const Version = "2.0.0"

// stamp stands in every program of ours, so that one made for another system tells
// its version without being run (CLI-1422).
var stamp = "[mcp-bash " + Version + "]"

// Stamp is the text to look for in a program of this release.
func Stamp() string { return stamp }

// stamped is the version as the stamp has it.
func stamped() string { return strings.TrimPrefix(strings.Trim(stamp, "[]"), "mcp-bash ") }
