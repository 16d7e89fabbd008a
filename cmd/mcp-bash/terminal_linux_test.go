package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/pty"
)

// CLI-309, CLI-115: on a terminal, the result is indented. No output of a script contains control sequences for the
// terminal.
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

// CLI-1143: on a terminal, the server explains what it is and how to end it.
func TestServeOnATerminal(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "server.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "server.d", "server.meta.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"serve"}} {
		cmd := exec.Command("mcp-bash", args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())
		terminal := pty.Start(t, cmd)
		terminal.Expect(`mcp-bash: this is an MCP server, and it waits for a client on standard input ` +
			`\(Ctrl-D ends it; try mcp-bash run-tool or mcp-bash --help\)\r\n`)
		terminal.Type("\x04")
		if code, screen := terminal.Wait(); code != 0 {
			t.Errorf("%q: exit code %d\n%s", args, code, screen)
		}
	}
}
