package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mcp-bash/test/pty"
)

// ADD-41: on a terminal, a removal must be confirmed.
func TestRemoveOnATerminal(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(dir, "tools", "demo")
	for _, d := range []string{tool, filepath.Join(dir, "server.d")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(tool, "tool.sh"), filepath.Join(dir, "server.d", "server.meta.json")} {
		if err := os.WriteFile(file, []byte("{}"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		answer string
		code   int
		stays  bool
	}{{"n\r", 1, true}, {"y\r", 0, false}} {
		cmd := exec.Command("mcp-scaffold", "remove", "tool", "demo", "--project-root", dir)
		cmd.Env = append(os.Environ(), "HOME="+dir, "MCPBASH_PROJECT_ROOT=")
		p := pty.Start(t, cmd)
		p.Expect("Remove this?")
		p.Type(step.answer)
		code, screen := p.Wait()
		if _, err := os.Stat(tool); code != step.code || (err == nil) != step.stays {
			t.Errorf("%q: exit code %d, %v\n%s", step.answer, code, err, screen)
		}
	}
}
