package main

import (
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
	"mcp-bash/test/reach"
	"mcp-bash/test/session"
)

func TestMain(m *testing.M) {
	session.Main(cleaning{m}, map[string]session.Program{"mcp-bundle": run})
}

// cleaning removes the files that the tests share, after the last test.
type cleaning struct{ *testing.M }

func (c cleaning) Run() int {
	code := c.M.Run()
	if dir, err := server(); err == nil {
		os.RemoveAll(dir)
	}
	return code
}

// repo returns the root of the repository.
func repo(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// server returns a directory with the server's program for this machine, in the form of --runtime-dir.
var server = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "mcp-bundle-test.")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, filepath.FromSlash(runtimes.Host.Path()))
	return dir, checkout.Build(filepath.Dir(file), "mcp-bash/cmd/mcp-bash")
})

func TestSessions(t *testing.T) {
	dir, err := server()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"MCPBASH_RUNTIME_DIR": dir, "HOST": runtimes.Host.String(), "HOSTPLATFORM": runtimes.Host.Platform(),
		"HOSTARCH": runtimes.Host.Arch, "GIT_CONFIG_NOSYSTEM": "1",
		"SDKDIR": filepath.Join(repo(t), "sdk"),
	}
	maps.Copy(env, reach.Guard(t))
	session.Run(t, env)
}
