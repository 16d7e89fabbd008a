//go:build unix

package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
)

// skillProject has one skill that is served, and one that is not.
var skillProject = map[string]string{
	"skills/a/SKILL.md":      "---\nname: a\ndescription: Does a.\n---\n\n# A\n",
	"skills/a/ref/notes.txt": "note\n",
	"skills/b/SKILL.md":      "# B\n",
}

// SK-13, SK-20 to SK-25, M-40: skills over stdio in the handshake revisions.
func TestSkills(t *testing.T) {
	c := ready(t, skillProject, nil)
	for _, tc := range []struct{ method, params, want string }{
		{"skills/list", `{}`, `"result":{"ttlMs":5000,"cacheScope":"public","skills":[{"uri":"skill://a/SKILL.md",` +
			`"frontmatter":{"name":"a","description":"Does a."},"resources":[{"uri":"skill://a/SKILL.md","digest":"sha256:`},
		{"skills/list", `{"cursor":"x"}`, `-32602`},
		{"skills/get", `{"uri":"skill://a/SKILL.md"}`, `"skill":{"uri":"skill://a/SKILL.md",`},
		{"skills/get", `{"uri":"skill://b/SKILL.md"}`, `-32602`},
		{"skills/get", `{}`, `uri is required`},
		{"skills/other", `{}`, `-32601`},
		{"resources/directory/read", `{"uri":"skill://a"}`,
			`{"uri":"skill://a/ref","name":"ref","mimeType":"inode/directory"}]`},
		{"resources/directory/read", `{"uri":"skill://a/SKILL.md"}`, `-32602`},
		{"resources/directory/read", `{"uri":"skill://x"}`, `-32602`},
		{"resources/list", `{}`, `"resources":[{"uri":"skill://a/SKILL.md","name":"a","description":"Does a.","size":42,` +
			`"mimeType":"text/markdown"}],"_meta":{"mcpbash/total":1}`},
		{"resources/read", `{"uri":"skill://a/ref/notes.txt"}`, `"text":"note\n"`},
		{"resources/read", `{"uri":"skill://b/SKILL.md"}`, `-32002`},
		{"resources/read", `{"uri":"skill://a/../../tools"}`, `-32002`},
	} {
		if got := c.request(tc.method, tc.params); !strings.Contains(got, tc.want) {
			t.Errorf("%s %s: %s", tc.method, tc.params, got)
		}
	}
}

// SK-14, SK-25: a changed skill changes both lists, and clients are notified.
func TestChangedSkill(t *testing.T) {
	files := files(t, skillProject)
	c := start(t, files, project.Env{"MCP_RESOURCES_TTL": "1"})
	c.handshake("2025-11-25", "{}")
	c.request("resources/list", "{}")
	file := filepath.Join(files, "skills", "b", "SKILL.md")
	if err := os.WriteFile(file, []byte("---\nname: b\ndescription: Does b.\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const skill = "skill://b/SKILL.md"
	for got := ""; !strings.Contains(got, skill); { // a notification can also come at the start
		select {
		case <-c.changed:
			got = c.request("resources/list", "{}")
		case <-time.After(patience):
			t.Fatal("no list_changed")
		}
	}
	if got := c.request("skills/list", "{}"); !strings.Contains(got, skill) {
		t.Error(got)
	}
}

// SK-20: a project without skills has none of the methods.
func TestNoSkills(t *testing.T) {
	c := ready(t, nil, nil)
	for _, method := range []string{"skills/list", "skills/get", "resources/directory/read"} {
		if got := c.request(method, `{"uri":"skill://a/SKILL.md"}`); !strings.Contains(got, `-32601`) {
			t.Errorf("%s: %s", method, got)
		}
	}
}
