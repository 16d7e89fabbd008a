package main

import (
	"errors"
	"os"
	"os/exec"
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
		"mcp-doctor": func() { os.Exit(run(cli.Standard(), os.Args[1:])) },
	})
}

func TestSessions(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("TMPDIR", e.WorkDir+"/tmp")
			program, err := exec.LookPath("mcp-doctor") // on the PATH that testscript made
			if err != nil {
				return err
			}
			e.Setenv("DOCTOR", program)
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each run takes a second more
			// A register.json that others may write to would be refused.
			return errors.Join(os.Chmod(e.WorkDir, 0o755),
				os.MkdirAll(e.Getenv("HOME"), 0o755), os.MkdirAll(e.Getenv("TMPDIR"), 0o755))
		},
	})
}
