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

// A sibling is another program that implements a verb (CLI-202).
type sibling struct {
	verb     string
	program  string
	passVerb bool // its first argument is the verb, because it has several
	summary  string
}

// siblings are the programs of this product, in the order of the help.
var siblings = []sibling{
	{"run-tool", "mcp-runtool", false, "List the tools, or run one and show its result"},
	{"registry", "mcp-registry", false, "Refresh and show what the project offers"},
	{"new", "mcp-scaffold", true, "Make a project in a new directory"},
	{"init", "mcp-scaffold", true, "Make a project in this directory"},
	{"add", "mcp-scaffold", true, "Make tools of scripts"},
	{"remove", "mcp-scaffold", true, "Remove a tool"},
	{"scaffold", "mcp-scaffold", true, "Add tools, prompts, pages and more to the project"},
	{"wrap", "mcp-scaffold", true, "Make tools of a command-line program"},
	{"validate", "mcp-doctor", true, "Check a project, before clients do"},
	{"test", "mcp-doctor", true, "Run the test cases of a project's tools"},
	{"migrate", "mcp-doctor", true, "Show what changes for a project of the Bash edition"},
	{"doctor", "mcp-doctor", true, "Check the installation, and fix it"},
	{"upgrade", "mcp-doctor", true, "Install the next version of mcp-bash"},
	{"audit", "mcp-doctor", true, "Show who called what, and check the records"},
	{"explain", "mcp-doctor", true, "Explain a finding of validate, migrate or doctor"},
	{"config", "mcp-scaffold", true, "Connect a client: show or change its configuration"},
	{"bundle", "mcp-bundle", true, "Make a bundle of the project, which clients can install"},
	{"plugin", "mcp-bundle", true, "Make a plugin of the project, which coding agents can install"},
	{"marketplace", "mcp-bundle", true, "List the plugins of a repository for agents"},
	{"wheel", "mcp-bundle", true, "Make Python wheels of the project, for uvx, pipx and pip"},
	{"publish", "mcp-bundle", true, "Announce a bundle in the MCP registry"},
	{"image", "mcp-bundle", true, "Make a container image of the project, without a container engine"},
	{"manifest", "mcp-bundle", true, "Make the files that deploy the project over HTTP"},
	{"vendor", "mcp-bundle", true, "Copy the server into the project, for users without an installation"},
}

// ownerOf returns the sibling of a verb. An unknown verb can be the name of another program.
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
		cli.Printf(s.Err, "Unknown command: %s%s\n\nRun \"mcp-bash --help\" for available commands.\n", verb,
			cli.DidYouMean(verb, verbs()))
		return cli.ExitUsage
	}
	if owner.passVerb {
		args = append([]string{verb}, args...)
	}
	return runProgram(s, owner, args)
}

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

func verbs() (names []string) {
	for _, c := range command().Commands {
		names = append(names, c.Name)
	}
	return names
}

// findSibling returns the path of a program next to the resolved binary, or on PATH.
func findSibling(command string) string {
	if filepath.Base(command) != command {
		return ""
	}
	return script.Find(command, os.Getenv("PATH"))
}

// vendored reports whether this binary belongs to a vendored copy in a project.
func vendored() bool {
	home := os.Getenv("MCPBASH_HOME") // it may be incomplete
	if home == "" {
		home = project.InstalledHome(project.OSEnv())
	}
	_, err := os.Stat(filepath.Join(home, "vendor.json"))
	return !errors.Is(err, os.ErrNotExist) && err == nil
}
