package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/pty"
)

// WRAP-42: on a terminal, an update is shown and must be confirmed.
func TestUpdateOnATerminal(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	brew := func(options string) {
		put("bin/brew", "#!/bin/sh\nprintf 'Usage: brew [OPTION]...\\n\\n"+options+"'\n")
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put("server.d/server.meta.json", `{"name":"demo"}`)
	brew(`  -a, --all  show all\n`)
	wrap := func(answer string, args ...string) (code int, screen string) {
		t.Helper()
		cmd := exec.Command("mcp-scaffold", append([]string{"wrap", "--project-root", dir}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "MCPBASH_PROJECT_ROOT=")
		p := pty.Start(t, cmd)
		if answer != "" {
			p.Expect("Write this?")
			p.Type(answer)
		}
		return p.Wait()
	}
	if code, screen := wrap("", filepath.Join(dir, "bin", "brew"), "--max-options", "9"); code != 0 {
		t.Fatalf("%d\n%s", code, screen)
	}
	brew(`  -a, --all  show all\n  -n, --new  show new\n`)
	script := filepath.Join(dir, "tools", "brew", "tool.sh")
	isNew := func() bool {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "--new")
	}
	code, screen := wrap("n\r", "--update")
	if code != 1 || isNew() || !strings.Contains(screen, "+mcp_argv_switch argv .new --new") ||
		!strings.Contains(screen, "nothing was written") {
		t.Errorf("%d\n%s", code, screen)
	}
	if code, screen = wrap("y\r", "--update"); code != 0 || !isNew() || !strings.Contains(screen, "Updated brew") {
		t.Errorf("%d\n%s", code, screen)
	}
}
