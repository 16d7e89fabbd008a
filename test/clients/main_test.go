//go:build unix

// Package clients tests the server with a client that no one here wrote: the
// official Go SDK, which starts the real binary and talks to it over pipes.
package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// bin holds the commands, built once for all tests; repo is the repository.
var bin, repo string

// patience is how long a test waits for what must come.
const patience = 90 * time.Second

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mcp-bash-clients.")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	if repo, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	args := append([]string{"build", "-o", bin + "/"}, raceFlag...)
	build := exec.Command("go", append(args, "./cmd/mcp-bash", "./cmd/mcp-runtool", "./cmd/mcp-registry",
		"./cmd/mcp-bundle", "./cmd/mcp-scaffold", "./cmd/mcp-doctor")...)
	build.Dir, build.Stdout, build.Stderr = repo, os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the commands:", err)
		return 1
	}
	return m.Run()
}
