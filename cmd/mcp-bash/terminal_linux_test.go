package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/pty"
)

// CLI-309, CLI-115: a person gets the result laid out, and nothing that a script
// writes anywhere drives the terminal.
func TestRequestOnATerminal(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"server.d/server.meta.json": "{}",
		"tools/sly/tool.sh":         "#!/bin/bash\nprintf 'clear\\xc2\\x9b2J'\nprintf 'title\\x1b]0;owned\\x07\\n' >&2\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("mcp-bash", "request", "tools/call", `{"name":"sly"}`, "--project-root", root)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(),
		"MCPBASH_TOOL_ALLOWLIST=*", "MCPBASH_TOOL_STREAM_STDERR=true")
	code, screen := pty.Start(t, cmd).Wait()
	want := "title\\u001b]0;owned\\u0007\n{\n  \"name\": \"sly\",\n  \"content\": [\n    {\n      \"type\": \"text\",\n" +
		"      \"text\": \"clear\\u009b2J\"\n    }\n  ],\n"
	if got := strings.ReplaceAll(screen, "\r\n", "\n"); code != 0 || !strings.HasPrefix(got, want) {
		t.Errorf("exit code %d, %q", code, got)
	}
}
