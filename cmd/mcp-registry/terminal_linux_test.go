package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/pty"
)

// CLI-1164: tables on a terminal, and JSON with --json or --ndjson.
func TestTablesOnATerminal(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"server.d/server.meta.json": `{}`,
		"tools/fetch/tool.sh":       "echo",
		"tools/fetch/tool.meta.json": `{"name":"fetch","description":"Fetches a page` + "\\n" + `and more","capabilities":["Network"],
			"inputSchema":{"type":"object","required":["url"],"properties":{"url":{"type":"string","description":"The address"},
			"depth":{"type":"integer"}}}}`,
		"resources/a.txt":       "x",
		"resources/a.meta.json": `{"name":"a","description":"The text","uri":"file:///srv/a.txt"}`,
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ args, want string }{
		{"list", "NAME   LEVEL     OFFERED  DESCRIPTION\nfetch  elevated  yes      Fetches a page\n"},
		{"list --level restricted", "no tools\n"},
		{"list --kind resources", "NAME  URI                DESCRIPTION\na     file:///srv/a.txt  The text\n"},
		{"list --kind prompts", "no items\n"},
		{"list --json", `{"tools":[{"id":"fetch",`},
		{"list --ndjson", `{"id":"fetch",`},
		{"get fetch", "Name:         fetch\nId:           fetch\nDescription:  Fetches a page\\nand more\n"},
		{"get fetch", "\nPARAMETER  TYPE     REQUIRED  DESCRIPTION\nurl        string   yes       The address\n" +
			"depth      integer  no\n"},
		{"get fetch --json", "{\n  \"id\": \"fetch\","},
		{"status", "\n\nKIND               STATUS   COUNT  ERROR\ntools              present  1\n"},
		{"status --json", "{\n  \"projectRoot\": "},
	} {
		cmd := exec.Command("mcp-registry", append(strings.Fields(tc.args), "--project-root", root)...)
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
		code, screen := pty.Start(t, cmd).Wait()
		if got := strings.ReplaceAll(screen, "\r\n", "\n"); code != 0 || !strings.Contains(got, tc.want) {
			t.Errorf("%s: exit code %d\n%s", tc.args, code, got)
		}
	}
}

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
