package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/pty"
)

// CLI-109, CLI-1162: signs have colours on a terminal, unless NO_COLOR or TERM=dumb is set, and never in a pipe.
func TestColours(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"server.d/server.meta.json":   `{"name":"x"}`,
		"tools/bad/tool.sh":           "#!/bin/bash\n",
		"tools/bad/tool.meta.json":    `{"name":"bad\u001b[2J"`,
		"server.d/requirements.json":  `{"dependencies":[{"name":"no-such-program"}]}`,
		"prompts/greet/greet.txt":     "Greet.",
		"tools/good/tool.sh":          "#!/bin/bash\necho\n",
		"tools/good/tool.meta.json":   `{"name":"good","description":"Does good"}`,
		"resources/a/a.meta.json":     `{"name":"a","uri":"file://./a.txt"}`,
		"resources/a/a\x1b[2J.txt":    "text",
		"completions/c/completion.sh": "#!/bin/bash\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const good, bad, warning = "\x1b[32m✓\x1b[0m ", "\x1b[31m✗\x1b[0m ", "\x1b[33m⚠\x1b[0m "
	for _, verb := range []string{"validate", "doctor"} {
		for _, tc := range []struct {
			env     string
			colours bool
		}{{"TERM=xterm", true}, {"NO_COLOR=1", false}, {"TERM=dumb", false}} {
			cmd := exec.Command("mcp-doctor", verb)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "TERM=xterm", tc.env)
			_, screen := pty.Start(t, cmd).Wait()
			for _, sign := range []string{good, bad, warning} {
				if strings.Contains(screen, sign) != tc.colours {
					t.Errorf("%s with %s: %q is there: %t\n%q", verb, tc.env, sign, !tc.colours, screen)
				}
			}
			if strings.Contains(screen, "\x1b[2J") {
				t.Errorf("%s: a name controls the terminal: %q", verb, screen)
			}
		}
		cmd := exec.Command("mcp-doctor", verb)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "TERM=xterm")
		if out, _ := cmd.Output(); strings.Contains(string(out), "\x1b[3") || !strings.Contains(string(out), "✗ ") {
			t.Errorf("%s in a pipe: %q", verb, out)
		}
	}
}

// CLI-1160: help has the width of the terminal, and 80 columns in a pipe.
func TestHelpOnATerminal(t *testing.T) {
	longest := func(text string) (columns int) {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "  mcp-") { // an example
				continue
			}
			columns = max(columns, len(strings.TrimRight(line, "\r\n")))
		}
		return columns
	}
	for columns, want := range map[uint16][2]int{44: {35, 44}, 70: {61, 70}, 110: {91, 110}, 0: {71, 80}} {
		_, screen := pty.StartWide(t, exec.Command("mcp-doctor", "doctor", "--help"), columns).Wait()
		if n := longest(screen); n < want[0] || n > want[1] {
			t.Errorf("%d columns: the longest line has %d\n%s", columns, n, screen)
		}
		example := "  mcp-doctor doctor --json | jq -r '.findings[] | select(.severity==\"error\") | .message'\r\n"
		if !strings.Contains(screen, example) {
			t.Errorf("%d columns: the example is broken:\n%s", columns, screen)
		}
	}
	out, err := exec.Command("mcp-doctor", "doctor", "--help").Output()
	if n := longest(string(out)); err != nil || n > 80 || n <= 70 {
		t.Errorf("in a pipe: %v, %d columns", err, n)
	}
}
