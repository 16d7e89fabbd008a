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
		"new":            "mcp-bash new demo; cd demo",
		"init":           "mkdir demo; cd demo; mcp-bash init",
		"in order":       scaffoldAll(false),
		"the other way":  scaffoldAll(true),
		"after a server": "mcp-bash new demo; cd demo; mcp-bash registry refresh; mcp-bash scaffold tool late; tools/late/smoke.sh",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := checkout.Directory(t)
			must(t, dir, "set -e; "+commands)
			printed := must(t, filepath.Join(dir, "demo"), "mcp-bash validate --strict")
			if strings.Contains(printed, "✗") || strings.Contains(printed, "⚠") ||
				strings.Count(printed, "[name.no_namespace]") != 1 {
				t.Error(printed)
			}
			if left := must(t, filepath.Join(dir, "demo"), "grep -riE 'fill in|(say|describe|put) here' . || true"); left != "" {
				t.Errorf("placeholder text: %s", left)
			}
		})
	}
}

// scaffoldAll returns commands that make a project with one item of each kind.
func scaffoldAll(backwards bool) string {
	all := []string{"tool same", "prompt same", "resource same", "completion same", "ui board", "ui --tool same", "test"}
	text := ""
	for i := range all {
		if backwards && i > 0 && i < 5 { // the page of a tool needs the tool
			i = 5 - i
		}
		text += "; mcp-bash scaffold " + all[i]
	}
	return "mcp-bash new demo; cd demo" + text
}
