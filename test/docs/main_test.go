//go:build unix

// Package docs runs the examples of the documentation with the commands as they are shipped. These are the
// blocks of pages and of the READMEs of examples, and the examples of each help text.
package docs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/test/checkout"
	"mcp-bash/test/reach"
)

// bin holds the commands.
var bin string

// patience is how long a shell may take.
const patience = 10 * time.Minute

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		bin = dir
		return checkout.Build(dir, checkout.Commands)
	}))
}

// shell is Bash with a script to run in a directory, with the commands on PATH. Nothing else of our
// environment gets into it.
func shell(t *testing.T, dir, home, script string, env ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "LANG=C",
		"XDG_CACHE_HOME=" + filepath.Join(bin, "cache"), // shared: the SDK is unpacked once
	}, env...)
	if strings.Contains(script, " publish ") {
		for name, value := range reach.Guard(t) {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}
