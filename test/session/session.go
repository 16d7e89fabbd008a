// Package session runs what cmd/*/testdata/script holds: sessions at a shell, as
// testscripts, in which the commands are the program that is tested.
package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper"
	"mcp-bash/pkg/helper/invoke"
)

// A Program is what a command does with its arguments, and its exit code.
type Program func(s cli.Streams, args []string) int

// Main is the TestMain of a command: programs are what scripts can run, by their names.
func Main(m testscript.TestingM, programs map[string]Program) {
	if invoke.Is(os.Args) { // the link that scripts get leads to this binary
		os.Exit(helper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	commands := map[string]func(){}
	for name, run := range programs {
		commands[name] = func() { os.Exit(cli.Run(name, run)) }
	}
	testscript.Main(m, commands)
}

// Run runs each session in a new directory, with env added to the usual variables. With UPDATE=1 in the
// environment it updates the sessions instead of failing.
func Run(t *testing.T, env map[string]string) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			home, tmp := e.WorkDir+"/home", e.WorkDir+"/tmp"
			e.Setenv("HOME", home)
			e.Setenv("TMPDIR", tmp)
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each run takes a second more
			// make cover builds commands that record their coverage; a test binary records that of its tests only.
			if data := os.Getenv("MCPBASH_TEST_COVER"); data != "" {
				wd, err := os.Getwd() // the folder of the command
				if err != nil {
					return err
				}
				bin := filepath.Join(data, "bin")
				path := []string{filepath.Join(bin, filepath.Base(wd)), filepath.Join(bin, "mcp-bash"),
					filepath.Join(bin, "mcp-runtool"), e.Getenv("PATH")}
				// mcp-bash has the helpers of scripts, and mcp-runtool makes trials.
				e.Setenv("PATH", strings.Join(path, string(os.PathListSeparator)))
				e.Setenv("GOCOVERDIR", data)
			}
			for name, value := range env {
				e.Setenv(name, value)
			}
			// A project that others may write to would be refused.
			return errors.Join(os.Chmod(e.WorkDir, 0o755), os.MkdirAll(home, 0o755), os.MkdirAll(tmp, 0o755))
		},
	})
}
