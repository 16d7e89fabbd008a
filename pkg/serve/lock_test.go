//go:build unix

package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/lock"
)

// lockable has an item of each kind, and each file that belongs to the project.
var lockable = map[string]string{
	"server.d/server.meta.json": `{"name":"demo","version":"1.0.0","description":"A demo","securityLevel":"full",` +
		`"confine":"declared","env":{"MCPBASH_TOOL_ENV_ALLOWLIST":"LANG"}}`,
	"server.d/server.instructions.md": "Use add.\n",
	"server.d/policy.sh":              "mcp_tools_policy_check() { return 0; }\n",
	"server.d/env.sh":                 "export X=1\n",
	"server.d/health-checks.sh":       "true # 1\n",
	"server.d/requirements.json":      `{"dependencies":[{"name":"bash"}]}`,
	"server.d/register.json": `{"version":1,"completions":[{"name":"greet","path":"completions/names.sh",` +
		`"timeoutSecs":5}]}`,
	"config/roots.json":  `{"roots":[{"path":".","name":"R"}]}`,
	"lib/common.bash":    ": 1\n",
	"providers/x.sh":     "echo 1",
	"wrapper.sh":         "exec true # 1",
	"tools/shared/x.txt": ": 1\n",
	"tools/add/sum.bash": "sum() { echo $((1 + 1)); }\n",
	"tools/add/tool.sh":  `. "$MCPBASH_PROJECT_ROOT/lib/common.bash"; . "${0%/*}/sum.bash"; sum`,
	"tools/add/tool.meta.json": `{"name":"add","title":"Add","description":"Adds one","capabilities":["ReadFiles"],` +
		`"confine":{"read":["/etc"]},"timeoutSecs":5,"securityLevel":"standard","inputSchema":{"type":"object",` +
		`"properties":{"a":{"type":"string","description":"What"}}},"outputSchema":{"type":"number","title":"O"},` +
		`"annotations":{"title":"T","readOnlyHint":true},"validateInput":true,"version":"1.0.0"}`,
	"prompts/greet/greet.txt": "Greet one\n",
	"prompts/greet/greet.meta.json": `{"name":"greet","description":"Greets",` +
		`"arguments":[{"name":"who","description":"W"}]}`,
	"prompts/part/part.txt":               "Part {{with}}\n",
	"prompts/part/part.meta.json":         `{"name":"part","arguments":[{"name":"with"}]}`,
	"prompts/part/part.txt.completion.sh": `echo '["Ada"]' # 1`,
	"completions/names.sh":                `echo '["Bob"]' # 1`,
	"resources/note.txt":                  "A note\n",
	"resources/note.meta.json": `{"name":"note","uri":"demo://note","description":"Notes",` +
		`"mimeType":"text/plain","provider":"x"}`,
	"resources/logs.meta.json": `{"name":"logs","uriTemplate":"x://{day}","description":"Logs"}`,
	"ui/page/index.html":       "<p>1</p>\n",
	"ui/page/ui.meta.json": `{"description":"Page 1","meta":{"csp":{"connectDomains":` +
		`["https://a.example"]}}}`,
	"skills/tidy/SKILL.md":     "---\nname: tidy\ndescription: Tidies\n---\nTidy one.\n",
	"skills/tidy/more/text.md": "For order 1\n",
}

const (
	addList    = `tools/list {} "name":"add"`
	promptList = `prompts/list {} "name":"greet"`
	noteList   = `resources/list {} "name":"note"`
	logsList   = `resources/templates/list {} "name":"logs"`
	pageRead   = `resources/read {"uri":"ui://demo/page"} <p>`
	skillList  = `skills/list {} "name":"tidy"`
	partValues = `completion/complete {"ref":{"type":"ref/prompt","name":"part"},` +
		`"argument":{"name":"with","value":""}} Ada`
	nameValues = `completion/complete {"ref":{"type":"ref/prompt","name":"greet"},` +
		`"argument":{"name":"who","value":""}} Bob`
)

// lockedChanges are kinds of changes, each of one byte, of items. A probe is a request and a part of its answer before
// the change.
var lockedChanges = []struct{ file, from, to, member, probe string }{
	{"tools/add/tool.meta.json", "Adds one", "Adds two", "description", addList},
	{"tools/add/tool.meta.json", `"Add"`, `"Sub"`, "title", addList},
	{"tools/add/tool.meta.json", `"string"`, `"number"`, "inputSchema", addList},
	{"tools/add/tool.meta.json", "What", "Whot", "inputSchema", addList},
	{"tools/add/tool.meta.json", `"O"`, `"P"`, "outputSchema", addList},
	{"tools/add/tool.meta.json", `"title":"T"`, `"title":"U"`, "annotations", addList},
	{"tools/add/tool.meta.json", `Hint":true`, `Hint":false`, "annotations", addList},
	{"tools/add/tool.meta.json", "ReadFiles", "Network", "capabilities", addList},
	{"tools/add/tool.meta.json", "/etc", "/usr", "confine", addList},
	{"tools/add/tool.meta.json", `Secs":5`, `Secs":6`, "timeoutSecs", addList},
	{"tools/add/tool.meta.json", "standard", "elevated", "securityLevel", addList},
	{"tools/add/tool.meta.json", `Input":true`, `Input":false`, "validateInput", addList},
	{"tools/add/tool.meta.json", `1.0.0`, `1.0.1`, "version", addList},
	{"tools/add/tool.sh", "sum", "sun", "files/tools/add/tool.sh", addList},
	{"tools/add/sum.bash", "1 + 1", "1 + 2", "files/tools/add/sum.bash", addList},
	{"prompts/greet/greet.txt", "one", "two", "files/prompts/greet/greet.txt", promptList},
	{"prompts/greet/greet.meta.json", "Greets", "Greeta", "description", promptList},
	{"prompts/greet/greet.meta.json", `"W"`, `"V"`, "arguments", promptList},
	{"prompts/part/part.txt.completion.sh", "# 1", "# 2", "files/prompts/part/part.txt.completion.sh", partValues},
	{"completions/names.sh", "# 1", "# 2", "files/completions/names.sh", nameValues},
	{"resources/note.txt", "note", "nota", "files/resources/note.txt", noteList},
	{"resources/note.meta.json", "Notes", "Nodes", "description", noteList},
	{"resources/note.meta.json", "demo://note", "demo://nota", "uri", noteList},
	{"resources/note.meta.json", `"x"`, `"y"`, "provider", noteList},
	{"resources/logs.meta.json", "Logs", "Lots", "description", logsList},
	{"resources/logs.meta.json", "{day}", "{dax}", "uriTemplate", logsList},
	{"ui/page/index.html", "1", "2", "files/ui/page/index.html", pageRead},
	{"ui/page/ui.meta.json", "Page 1", "Page 2", "description", pageRead},
	{"ui/page/ui.meta.json", "https://a", "https://b", "csp", pageRead},
	{"skills/tidy/SKILL.md", "Tidies", "Tidier", "frontmatter", skillList},
	{"skills/tidy/SKILL.md", "one", "two", "files/skills/tidy/SKILL.md", skillList},
	{"skills/tidy/more/text.md", "1", "2", "files/skills/tidy/more/text.md", skillList},
}

// wholeChanges are kinds of changes of the project itself.
var wholeChanges = []struct{ file, from, to, member string }{
	{"server.d/server.meta.json", "A demo", "A dema", "meta/description"},
	{"server.d/server.meta.json", "LANG", "HOME", "meta/env"},
	{"server.d/server.meta.json", "full", "elevated", "meta/securityLevel"},
	{"server.d/server.meta.json", "declared", "off", "meta/confine"},
	{"server.d/server.instructions.md", "add", "adx", "instructions"},
	{"server.d/policy.sh", "0", "1", "files/server.d/policy.sh"},
	{"server.d/env.sh", "1", "2", "files/server.d/env.sh"},
	{"server.d/health-checks.sh", "1", "2", "files/server.d/health-checks.sh"},
	{"server.d/requirements.json", "bash", "dash", "files/server.d/requirements.json"},
	{"config/roots.json", `"R"`, `"S"`, "roots"},
	{"lib/common.bash", "1", "2", "files/lib/common.bash"},
	{"providers/x.sh", "1", "2", "files/providers/x.sh"},
	{"wrapper.sh", "1", "2", "files/wrapper.sh"},
	{"tools/shared/x.txt", "1", "2", "files/tools/shared/x.txt"},
	{"lib/new.bash", "", ":", "files/lib/new.bash"},
	{"tools/shared/new.txt", "", ":", "files/tools/shared/new.txt"},
}

// A pinned project has a lock.
type pinned struct {
	t    *testing.T
	root string
	lock *lock.Lock
}

func pin(t *testing.T) *pinned {
	t.Helper()
	p := &pinned{t: t, root: files(t, lockable)}
	p.lock = p.now()
	if err := p.lock.Write(p.open()); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pinned) open() *project.Project {
	return project.Open(p.root, project.Env{"HOME": p.root}, p.root, func(line string) { p.t.Log(line) })
}

func (p *pinned) now() *lock.Lock {
	p.t.Helper()
	opened := p.open()
	l, err := lock.Of(p.t.Context(), opened, registry.NewCatalog(opened, registry.Options{ReadOnly: true}), p.root)
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// change changes a file, and returns a function that restores it. It checks that Compare finds the member.
func (p *pinned) change(file, from, to, member string) (restore func()) {
	p.t.Helper()
	name := filepath.Join(p.root, filepath.FromSlash(file))
	old, err := os.ReadFile(name)
	if from != "" && (err != nil || !strings.Contains(string(old), from)) {
		p.t.Fatalf("%s has no %q", file, from)
	}
	write := func(text string) {
		p.t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".txt") {
			os.Chmod(name, 0o644)
		}
	}
	write(strings.Replace(string(old), from, to, 1))
	found := false
	changes := lock.Compare(p.lock, p.now())
	for i := range changes {
		found = found || changes[i].Member == member
	}
	if !found {
		p.t.Errorf("%s, %s: Compare finds %+v", file, member, changes)
	}
	return func() {
		if from == "" {
			os.Remove(name)
			return
		}
		write(string(old))
	}
}

var alwaysLocked = project.Env{"MCPBASH_LOCKED": "1", "MCP_TOOLS_TTL": "0", "MCP_RESOURCES_TTL": "0",
	"MCP_RESOURCES_TEMPLATES_TTL": "0", "MCP_PROMPTS_TTL": "0", "MCP_UI_TTL": "0", "MCPBASH_TOOL_ALLOWLIST": "*",
	"MCPBASH_LOG_VERBOSE": "true"}

// LOCK-10, LOCK-12: a locked server does not offer an item of which one byte has changed, and offers it again.
func TestLockedItems(t *testing.T) {
	p := pin(t)
	record := filepath.Join(t.TempDir(), "audit.jsonl")
	env := alwaysLocked.Clone()
	env["MCPBASH_AUDIT"] = record
	c := start(t, p.root, env)
	c.handshake("2025-11-25", "{}")
	offers := func(probe string) (string, bool) {
		parts := strings.SplitN(probe, " ", 2)
		params, want := parts[1][:strings.LastIndex(parts[1], " ")], parts[1][strings.LastIndex(parts[1], " ")+1:]
		got := c.request(parts[0], params)
		return got, strings.Contains(got, want)
	}
	for _, tc := range lockedChanges {
		if got, ok := offers(tc.probe); !ok {
			t.Fatalf("before %s, %s: %s", tc.file, tc.member, got)
		}
		restore := p.change(tc.file, tc.from, tc.to, tc.member)
		if got, ok := offers(tc.probe); ok {
			t.Errorf("%s, %s: %s", tc.file, tc.member, got)
		}
		if tc.probe == addList {
			if got := c.call("add", "{}"); !strings.Contains(got, "is not offered: tool add differs from") {
				t.Errorf("%s, %s: %s", tc.file, tc.member, got)
			}
			wantDenied(t, record, "locked")
		}
		restore()
	}
	if got := c.call("add", "{}"); !strings.Contains(got, `"text":"2`) {
		t.Error(got)
	}
	c.awaitStderr("tool add differs from mcp-bash.lock.json (changed: description); it is not offered", 1)
}

// wantDenied fails unless the last line of a record is a refusal with a reason.
func wantDenied(t *testing.T, record, reason string) {
	t.Helper()
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := lines[len(lines)-1]
	if !strings.Contains(last, `"outcome":"denied"`) || !strings.Contains(last, `"reason":"`+reason+`"`) {
		t.Error(last)
	}
}

// LOCK-11, LOCK-12: while the project itself differs, a locked server neither starts nor offers or starts anything.
func TestLockedProject(t *testing.T) {
	p := pin(t)
	c := start(t, p.root, alwaysLocked)
	c.handshake("2025-11-25", "{}")
	for _, tc := range wholeChanges {
		if got := c.request("tools/list", "{}"); !strings.Contains(got, `"add"`) {
			t.Fatalf("before %s, %s: %s", tc.file, tc.member, got)
		}
		restore := p.change(tc.file, tc.from, tc.to, tc.member)
		if _, err := lock.NewGuard(p.open()); err == nil {
			t.Errorf("%s, %s: a server starts", tc.file, tc.member)
		}
		if got := c.request("tools/list", "{}"); tc.member != "instructions" && strings.Contains(got, `"add"`) {
			t.Errorf("%s, %s: %s", tc.file, tc.member, got)
		}
		restore()
	}
}

// LOCK-13: a script that changes after the list was made does not start.
func TestLockedStart(t *testing.T) {
	p := pin(t)
	record := filepath.Join(t.TempDir(), "audit.jsonl")
	c := start(t, p.root, project.Env{"MCPBASH_LOCKED": "1", "MCP_TOOLS_TTL": "3600", "MCPBASH_TOOL_ALLOWLIST": "*",
		"MCPBASH_AUDIT": record})
	c.handshake("2025-11-25", "{}")
	for _, tc := range []struct{ file, reason string }{
		{"tools/add/tool.sh", "locked"}, {"tools/add/sum.bash", "locked"},
		{"lib/common.bash", "policy"}, {"server.d/policy.sh", "policy"}, // policy.sh is what may not start
	} {
		if got := c.call("add", "{}"); !strings.Contains(got, `"text":"2`) {
			t.Fatal(got)
		}
		restore := p.change(tc.file, " ", "  ", "files/"+tc.file)
		if got := c.call("add", "{}"); !strings.Contains(got, `"error"`) || strings.Contains(got, `"text":"2`) {
			t.Errorf("%s: %s", tc.file, got)
		}
		wantDenied(t, record, tc.reason)
		restore()
	}
}

// LOCK-11: without a usable lock, a locked server does not start.
func TestLockMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(p *pinned, file string)
		want string
	}{
		"missing":   {func(_ *pinned, file string) { os.Remove(file) }, "file does not exist"},
		"directory": {func(_ *pinned, file string) { os.Remove(file); os.Mkdir(file, 0o755) }, "not a regular file"},
		"version": {func(_ *pinned, file string) { os.WriteFile(file, []byte(`{"version":2}`), 0o644) },
			"unknown version 2"},
		"broken": {func(_ *pinned, file string) { os.WriteFile(file, []byte(`{`), 0o644) }, "mcp-bash.lock.json: "},
		"large":  {func(_ *pinned, file string) { os.Truncate(file, 17<<20) }, "larger than"},
		"shared": {func(_ *pinned, file string) { os.Chmod(file, 0o666) }, "mcp-bash.lock.json"},
		"project": {func(p *pinned, _ string) { p.change("lib/common.bash", "1", "2", "files/lib/common.bash") },
			"lib/common.bash"},
	} {
		t.Run(name, func(t *testing.T) {
			p := pin(t)
			meta := filepath.Join(p.root, "server.d/server.meta.json")
			text, _ := os.ReadFile(meta)
			os.WriteFile(meta, []byte(strings.Replace(string(text), "{", `{"locked":true,`, 1)), 0o644)
			tc.make(p, filepath.Join(p.root, lock.FileName))
			c := start(t, p.root, nil)
			if code := c.exit(); code != cli.ExitFailed {
				t.Errorf("exit %d", code)
			}
			if got := c.stderr.String(); !strings.Contains(got, "the project is locked: ") || !strings.Contains(got, tc.want) ||
				!strings.Contains(got, "run mcp-bash registry lock") {
				t.Error(got)
			}
		})
	}
}
