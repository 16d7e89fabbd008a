package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper"
)

func TestMain(m *testing.M) {
	if helper.Is(os.Args) { // the link that scripts get leads to this binary
		os.Exit(helper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(m, map[string]func(){
		"mcp-bash": func() { os.Exit(run(cli.Standard(), os.Args[1:])) },
		"mcp-echo": func() { // a sibling of another's making
			for _, arg := range append(os.Args[1:], os.Getenv("MCPBASH_ARGV0")) {
				os.Stdout.WriteString(arg + "\n")
			}
			os.Exit(7)
		},
	})
}

func TestSessions(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("TMPDIR", filepath.Join(e.WorkDir, "tmp"))
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each run takes a second more
			e.Setenv("MCPBASH_TOOL_ALLOWLIST", "*")
			// A project that others may write to would be refused.
			return errors.Join(os.Chmod(e.WorkDir, 0o755),
				os.MkdirAll(e.Getenv("HOME"), 0o755), os.MkdirAll(e.Getenv("TMPDIR"), 0o755))
		},
	})
}
