package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/script"
)

// owners names the command that owns a verb, and whether it wants to be told
// which of its verbs was typed (cli M-2).
var owners = map[string]struct {
	command  string
	passVerb bool
}{
	"registry": {"mcp-registry", false},
	"run-tool": {"mcp-runtool", false},
	"init":     {"mcp-scaffold", true}, "new": {"mcp-scaffold", true}, "scaffold": {"mcp-scaffold", true}, "config": {"mcp-scaffold", true},
	"validate": {"mcp-doctor", true}, "doctor": {"mcp-doctor", true}, "health": {"mcp-doctor", true}, "ready": {"mcp-doctor", true},
	"bundle": {"mcp-bundle", true}, "publish": {"mcp-bundle", true}, "vendor": {"mcp-bundle", true},
}

// runVerb runs the sibling for a verb, as git does (M-3 to M-5).
func runVerb(s cli.Streams, verb string, args []string) int {
	owner, known := owners[verb]
	if !known {
		owner.command = "mcp-" + verb
	}
	if owner.passVerb {
		args = append([]string{verb}, args...)
	}
	path := findSibling(owner.command)
	switch {
	case path == "" && known:
		fmt.Fprintf(s.Err, "Error: %q is not available in this installation.\n", verb)
		if vendored() {
			fmt.Fprint(s.Err, "This is a vendored runtime — ")
		}
		fmt.Fprintln(s.Err, "CLI commands require a full mcp-bash install.")
		return cli.ExitFailed
	case path == "":
		fmt.Fprintf(s.Err, "Unknown command: %s\n\nRun \"mcp-bash --help\" for available commands.\n", verb)
		return cli.ExitUsage
	}
	env := append(os.Environ(), "MCPBASH_ARGV0=mcp-bash "+verb)
	code, err := replace(path, append([]string{owner.command}, args...), env)
	if err != nil {
		fmt.Fprintf(s.Err, "mcp-bash: %s: %v\n", path, err)
		return cli.ExitFailed
	}
	return code
}

// findSibling looks beside the resolved binary, then on PATH.
func findSibling(command string) string {
	if filepath.Base(command) != command {
		return ""
	}
	if exe, err := os.Executable(); err == nil {
		if physical, err := filepath.EvalSymlinks(exe); err == nil {
			exe = physical
		}
		if path := script.LookPath(command, filepath.Dir(exe)); path != "" {
			return path
		}
	}
	return script.LookPath(command, os.Getenv("PATH"))
}

// vendored reports whether this binary is part of a copy that was put into a
// project.
func vendored() bool {
	home := os.Getenv("MCPBASH_HOME")
	if home == "" {
		exe, err := os.Executable()
		if err != nil {
			return false
		}
		home = filepath.Dir(filepath.Dir(exe))
	}
	_, err := os.Stat(filepath.Join(home, "vendor.json"))
	return !errors.Is(err, os.ErrNotExist) && err == nil
}
