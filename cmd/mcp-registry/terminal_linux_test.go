package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/pty"
)

// CLI-115: texts of a project cannot control the terminal, in data or in messages.
func TestHostileProjectOnATerminal(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"server.d/server.meta.json":      `{}`,
		"tools/sly/tool.sh":              "echo",
		"tools/sly/tool.meta.json":       `{"name":"sly","description":"clear` + "\u009b" + `2J"}`,
		"tools/broken/tool.sh":           "echo",
		"tools/broken/tool.meta.json":    `{"name":"x","icons":"` + "\u009b\u202e" + `"}`,
		"resources/odd\x1b[2J.txt":       "x",
		"resources/odd\x1b[2J.meta.json": `{"name":7}`,
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, verb := range []string{"refresh", "list"} {
		cmd := exec.Command("mcp-registry", verb, "--project-root", root)
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "MCPBASH_LOG_LEVEL=debug")
		s := pty.Start(t, cmd)
		_, screen := s.Wait()
		if strings.ContainsAny(screen, "\x1b\u009b\u202e") {
			t.Errorf("%s: the terminal got %q", verb, screen)
		}
		if verb == "list" && !strings.Contains(screen, `clear\u009b2J`) {
			t.Errorf("%q", screen)
		}
	}
}
