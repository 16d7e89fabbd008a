//go:build unix

package clients

import (
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// CLI-1041: a project made a minute ago has no error and no warning, in any order of the commands.
func TestNewProjectIsPerfect(t *testing.T) {
	t.Parallel()
	for name, commands := range map[string]string{
		"new":           "mcp-bash new demo; cd demo",
		"init":          "mkdir demo; cd demo; mcp-bash init",
		"in order":      scaffoldAll(false),
		"the other way": scaffoldAll(true),
		// CLI-1005: tools that follow the advice to put the server's name before theirs.
		"namespaces": "mcp-bash new demo; cd demo; mcp-bash scaffold tool demo_a; mcp-bash scaffold tool demo-b",
		"after a server": "mcp-bash new demo; cd demo; mcp-bash registry refresh; " +
			"mcp-bash scaffold tool late; mcp-bash test tests/late.yaml",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := checkout.Directory(t)
			must(t, dir, "set -e; "+commands)
			printed := must(t, filepath.Join(dir, "demo"), "mcp-bash validate --strict")
			for line := range strings.Lines(printed) {
				if line != "\n" && !strings.HasPrefix(line, "Validating ") && !strings.HasPrefix(line, "✓ ") &&
					line != "All checks passed (warnings: 0).\n" {
					t.Error(printed)
					break
				}
			}
			noted := must(t, filepath.Join(dir, "demo"), "mcp-bash validate")
			if strings.Count(noted, "put the server's name before it: demo_") != 1 {
				t.Error(noted)
			}
			const complete = `{"ref":{"type":"ref/prompt","name":"prompt.same"},"argument":{"name":"subject","value":"b"}}`
			if strings.Contains(commands, "prompt same") {
				got := must(t, filepath.Join(dir, "demo"), "mcp-bash request completion/complete '"+complete+"'")
				if !strings.Contains(got, `"values":["Beta"]`) {
					t.Errorf("the completion and the prompt of one name: %s", got)
				}
			}
			if left := must(t, filepath.Join(dir, "demo"), "grep -riE 'fill in|(say|describe|put) here' . || true"); left != "" {
				t.Errorf("placeholder text: %s", left)
			}
		})
	}
}

// CLI-1141: the commands that init and new print work when they are pasted, one after the other.
func TestPrintedCommands(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"mkdir demo; cd demo; mcp-bash init", "mcp-bash new demo"} {
		dir := checkout.Directory(t)
		printed := must(t, dir, "set -e; "+command)
		pasted := `set -e
mkdir bin; printf '#!/bin/sh\necho npx "$*"\n' >bin/npx; chmod 755 bin/npx; PATH=$PWD/bin:$PATH
`
		if strings.HasPrefix(command, "mkdir") {
			pasted += "cd demo\n"
		}
		n := 0
		for line := range strings.Lines(printed) {
			if line, ok := strings.CutPrefix(line, "  "); ok && !strings.HasPrefix(line, "Created ") {
				pasted += line
				n++
			}
		}
		got := must(t, dir, pasted)
		if n < 3 || strings.Contains(command, "init") &&
			!strings.Contains(got, "-e MCPBASH_TOOL_ALLOWLIST=* --transport stdio -- "+bin) {
			t.Errorf("%s\n%s", pasted, got)
		}
	}
}

// scaffoldAll returns commands that make a project with one item of each kind.
func scaffoldAll(backwards bool) string {
	all := []string{"tool same", "prompt same", "resource same", "completion same", "ui board", "ui --tool same"}
	text := ""
	for i := range all {
		if backwards && i > 0 && i < 5 { // the page of a tool needs the tool
			i = 5 - i
		}
		text += "; mcp-bash scaffold " + all[i]
	}
	return "mcp-bash new demo; cd demo" + text
}
