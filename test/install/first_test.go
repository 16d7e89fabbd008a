//go:build unix

package install

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inspector is an npx that starts the server as the Inspector does, and calls its tool.
const inspector = `#!/bin/bash
[ "$1" = @modelcontextprotocol/inspector ] || exit
shift
while [ "$1" = -e ]; do export "$2"; shift 2; done
[ "$1 $2 $3" = '--transport stdio --' ] || exit
shift 3
printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"inspector","version":"1"}}}' ` +
	`'{"jsonrpc":"2.0","method":"notifications/initialized"}' ` +
	`'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello",` +
	`"arguments":{"name":"Inspector"}}}' | "$@"
`

// CLI-1141: the commands that install.sh prints last work as printed, in an empty home. CLI-1144: doctor has no
// warnings afterwards.
func TestFirstProject(t *testing.T) {
	u := newUser(t)
	u.goEnv()
	u.env["GOPROXY"] = "off"
	u.write("programs/npx", inspector, 0o755)
	u.env["PATH"] = u.path("programs") + ":" + u.env["PATH"]
	printed := u.installs("--offline", "--yes").out

	source := regexp.MustCompile(`(?m)^Open a new shell, or: (\. .*)$`).FindStringSubmatch(printed)
	_, commands, found := strings.Cut(printed, "\nA first project:\n")
	if source == nil || !found {
		t.Fatalf("install.sh prints no commands:\n%s", printed)
	}
	script := "set -e\n" + source[1] + "\n" // set -e stays in force, so that each command must work
	lines := 0
	for line := range strings.Lines(commands) {
		if command, ok := strings.CutPrefix(line, "  "); ok {
			script += command
			lines++
		}
	}
	r := u.runs(u.command("bash", "-c", script))
	if lines != 3 || r.code != 0 || !strings.Contains(r.out, "Hello, World!") ||
		!strings.Contains(r.out, "Hello, Inspector!") {
		t.Errorf("the commands that install.sh prints:\n%s\n%+v", script, r)
	}

	r = u.runs(u.command("bash", "-c", source[1]+"\nmcp-bash doctor"))
	if r.code != 0 || r.errors != "" || !strings.Contains(r.out, "✓") || strings.ContainsAny(r.out, "⚠✗") {
		t.Errorf("doctor after a fresh installation: %+v", r)
	}

	// CLI-508: editors find the schemas.
	if text := u.read(".local/share/mcp-bash/schemas/tool.schema.json"); !strings.Contains(text, "inputSchema") {
		t.Errorf("tool.schema.json: %.200s", text)
	}

	// CLI-1702: the pages for coding agents are installed, and their links work.
	tree := u.path(".local/share/mcp-bash")
	if u.read(".local/share/mcp-bash/share/skills/mcp-bash/SKILL.md") == "" {
		t.Error("the skill is empty")
	}
	links := regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(u.read(".local/share/mcp-bash/share/llms.txt"), -1)
	if len(links) < 10 {
		t.Errorf("llms.txt has %d links", len(links))
	}
	for _, link := range links {
		if _, err := os.Stat(filepath.Join(tree, "share", link[1])); err != nil {
			t.Errorf("llms.txt: %v", err)
		}
	}
	if _, err := os.Lstat(u.path(".local/share/skills")); err == nil {
		t.Error("install.sh links the skill into a folder of other programs")
	}
}
