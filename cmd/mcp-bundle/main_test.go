package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/runtimes"
)

func TestMain(m *testing.M) {
	testscript.Main(cleaning{m}, map[string]func(){
		"mcp-bundle": func() { os.Exit(run(cli.Standard(), os.Args[1:])) },
	})
}

// cleaning removes what the tests have in common after the last.
type cleaning struct{ *testing.M }

func (c cleaning) Run() int {
	code := c.M.Run()
	if dir, err := server(); err == nil {
		os.RemoveAll(dir)
	}
	return code
}

// repo is the repository.
func repo(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// server is a directory with the server's program for this machine, as --runtime-dir
// takes it.
var server = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "mcp-bundle-test.")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, filepath.FromSlash(runtimes.Host.Path()))
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file,
		"mcp-bash/cmd/mcp-bash")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return dir, nil
})

func TestSessions(t *testing.T) {
	dir, err := server()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			for name, value := range map[string]string{
				"HOME": e.WorkDir + "/home", "TMPDIR": e.WorkDir + "/tmp", "MCPBASH_RUNTIME_DIR": dir,
				"HOST": runtimes.Host.String(), "HOSTPLATFORM": runtimes.Host.Platform(),
				"HOSTARCH":            runtimes.Host.Arch,
				"GIT_CONFIG_NOSYSTEM": "1", "GORACE": "atexit_sleep_ms=0",
			} {
				e.Setenv(name, value)
			}
			// A project that others may write to would be refused.
			return errors.Join(os.Chmod(e.WorkDir, 0o755),
				os.MkdirAll(e.Getenv("HOME"), 0o755), os.MkdirAll(e.Getenv("TMPDIR"), 0o755))
		},
	})
}
