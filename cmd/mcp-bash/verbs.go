package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
)

// A sibling is a program of its own that does what a verb says (CLI-202).
type sibling struct {
	verb     string
	program  string
	passVerb bool // it has several verbs and is told which was typed
	summary  string
}

// siblings are ours, in the order in which help lists them.
var siblings = []sibling{
	{"run-tool", "mcp-runtool", false, "List the tools, or run one and show its result"},
	{"registry", "mcp-registry", false, "Refresh and show what the project offers"},
	{"new", "mcp-scaffold", true, "Make a project in a new directory"},
	{"init", "mcp-scaffold", true, "Make a project of this directory"},
	{"scaffold", "mcp-scaffold", true, "Add tools, prompts, pages and more to the project"},
	{"wrap", "mcp-scaffold", true, "Make tools of a command-line program"},
	{"validate", "mcp-doctor", true, "Check a project, before clients do"},
	{"migrate", "mcp-doctor", true, "Show what changes for a project of the Bash edition"},
	{"doctor", "mcp-doctor", true, "Check the installation, and mend it"},
	{"config", "mcp-scaffold", true, "Connect a client: show or change its configuration"},
	{"bundle", "mcp-bundle", true, "Make one file of the project, for clients to install"},
	{"publish", "mcp-bundle", true, "Announce a bundle in the MCP registry"},
	{"vendor", "mcp-bundle", true, "Put the server into the project, for those who have none"},
}

// ownerOf returns the sibling of a verb; a name that is none of ours may be that
// of another program.
func ownerOf(verb string) (owner sibling, known bool) {
	for _, s := range siblings {
		if s.verb == verb {
			return s, true
		}
	}
	return sibling{verb: verb, program: "mcp-" + verb}, false
}

// runVerb runs the sibling for a verb, as git does (CLI-203 to CLI-205).
func runVerb(s cli.Streams, verb string, args []string) int {
	owner, known := ownerOf(verb)
	switch path := findSibling(owner.program); {
	case path == "" && known:
		cli.Printf(s.Err, "Error: %q is not available in this installation.\n", verb)
		if vendored() {
			fmt.Fprint(s.Err, "This is a vendored runtime — ")
		}
		fmt.Fprintln(s.Err, "CLI commands require a full mcp-bash install.")
		return cli.ExitFailed
	case path == "":
		cli.Printf(s.Err, "Unknown command: %s\n\nRun \"mcp-bash --help\" for available commands.\n", verb)
		return cli.ExitUsage
	}
	if owner.passVerb {
		args = append([]string{verb}, args...)
	}
	return runProgram(s, owner, args)
}

// runProgram runs a sibling in our place.
func runProgram(s cli.Streams, owner sibling, args []string) int {
	path := findSibling(owner.program)
	env := append(os.Environ(), "MCPBASH_ARGV0=mcp-bash "+owner.verb)
	code, err := script.Replace(path, append([]string{owner.program}, args...), env)
	if err != nil {
		cli.Printf(s.Err, "mcp-bash: %s: %v\n", path, err)
		return cli.ExitFailed
	}
	return code
}

// findSibling looks next to this program, then on PATH.
func findSibling(command string) string {
	if filepath.Base(command) != command {
		return ""
	}
	if path := script.Sibling(command); path != "" {
		return path
	}
	return script.LookPath(command, os.Getenv("PATH"))
}

// vendored reports whether this binary is part of a copy that was put into a
// project.
func vendored() bool {
	home := os.Getenv("MCPBASH_HOME") // which need not be whole to tell what it is
	if home == "" {
		home = project.InstalledHome(project.OSEnv())
	}
	_, err := os.Stat(filepath.Join(home, "vendor.json"))
	return !errors.Is(err, os.ErrNotExist) && err == nil
}
