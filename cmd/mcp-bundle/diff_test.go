package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
)

// original is the project that the changes begin with.
var original = map[string]string{
	"server.d/server.meta.json": `{"name": "demo", "version": "1.0.0", "env": {"pass": ["A"]}, "title": "T",
		"user_config": {"key": {"type": "string"}}}`,
	"server.d/policy.sh":              "mcp_tools_policy_check() { true; }\n",
	"server.d/env.sh":                 "X=1\n",
	"server.d/server.instructions.md": "Use it.\n",
	"server.d/requirements.json":      `{"programs": []}`,
	"config/roots.json":               `{"roots": []}`,
	"lib/a.sh":                        "a() { true; }\n",
	"providers/note.sh":               "#!/bin/sh\n",
	"tools/add/tool.sh":               "#!/usr/bin/env bash\necho 1\n",
	"tools/add/part.sh":               "p=1\n",
	"tools/add/tool.meta.json": `{"name": "add", "description": "Adds", "inputSchema": {"type": "object"},
		"annotations": {"readOnlyHint": true}, "capabilities": ["Search"], "timeoutSecs": 5}`,
	"tools/old/tool.sh":        "#!/usr/bin/env bash\n",
	"tools/old/tool.meta.json": `{"name": "old", "description": "Old"}`,
	"prompts/hello.txt":        "Hello {{name}}",
	"prompts/hello.meta.json":  `{"name": "hello", "description": "Greets", "path": "hello.txt", "arguments": []}`,
	"resources/text.txt":       "text",
	"resources/text.meta.json": `{"name": "text", "description": "A text", "path": "text.txt",
		"mimeType": "text/plain"}`,
	"skills/use/SKILL.md":     "---\nname: use\ndescription: Uses\n---\nDo it.\n",
	"completions/hello.sh":    "#!/usr/bin/env bash\n",
	"skills/use/reference.md": "more\n",
	"data.txt":                "data",
	"README.md":               "text",
}

// The changes, of which each replaces a text of a file, or adds or removes a file, and a line that diff shows.
var changes = []struct{ file, old, new, want string }{
	{"tools/add/tool.meta.json", "Adds", "adds", "description (read by models)"},
	{"tools/add/tool.meta.json", `"type": "object"`, `"type": "object", "required": ["a"]`,
		"inputSchema (read by models)"},
	{"tools/add/tool.meta.json", "true", "false", "annotations (read by models)"},
	{"tools/add/tool.meta.json", `"Search"`, `"Search", "Network"`, "capabilities (permissions)"},
	{"tools/add/tool.meta.json", `"capabilities": ["Search"], `, "", "capabilities (permissions)"},
	{"tools/add/tool.meta.json", `"timeoutSecs": 5`, `"timeoutSecs": 50`, "timeoutSecs (permissions)"},
	{"tools/add/tool.meta.json", `"timeoutSecs"`, `"confine": {"read": ["/etc"]}, "timeoutSecs"`,
		"confine (permissions)"},
	{"tools/add/tool.meta.json", `"timeoutSecs"`, `"securityLevel": "elevated", "timeoutSecs"`,
		"securityLevel (permissions)"},
	{"tools/add/tool.meta.json", `"timeoutSecs"`, `"title": "Add", "timeoutSecs"`, "title (read by models)"},
	{"tools/add/tool.meta.json", `"name": "add"`, `"name": "sum"`, "tool sum\n  added"},
	{"tools/add/tool.sh", "1", "2", "files/tools/add/tool.sh (runs)"},
	{"tools/add/part.sh", "1", "2", "files/tools/add/part.sh (runs)"},
	{"tools/add/new.sh", "", "x=1\n", "files/tools/add/new.sh (runs)"},
	{"tools/new/tool.sh", "", "#!/usr/bin/env bash\n", "tools/new/tool.sh: added"},
	{"tools/old/tool.sh", "#!/usr/bin/env bash\n", "", "tool old\n  removed"},
	{"lib/a.sh", "true", "false", "files/lib/a.sh (runs)"},
	{"providers/note.sh", "sh", "bash", "files/providers/note.sh (runs)"},
	{"server.d/policy.sh", "true", "false", "files/server.d/policy.sh (permissions)"},
	{"server.d/policy.sh", original["server.d/policy.sh"], "", "files/server.d/policy.sh (permissions)"},
	{"server.d/env.sh", "1", "2", "files/server.d/env.sh (permissions)"},
	{"server.d/register.sh", "", "#!/bin/sh\n", "files/server.d/register.sh (runs)"},
	{"server.d/server.meta.json", `"A"`, `"A", "B"`, "meta/env (permissions)"},
	{"server.d/server.meta.json", `"T"`, `"U"`, "meta/title (read by models)"},
	{"server.d/server.meta.json", `"string"`, `"directory"`, "meta/user_config"},
	{"server.d/server.meta.json", "1.0.0", "1.0.1", "meta/version"},
	{"server.d/server.instructions.md", "it", "all", "instructions (read by models)"},
	{"server.d/requirements.json", "[]", `["jq"]`, "files/server.d/requirements.json (runs)"},
	{"config/roots.json", "[]", `["/"]`, "roots (permissions)"},
	{"prompts/hello.txt", "Hello", "Hallo", "files/prompts/hello.txt"},
	{"prompts/hello.meta.json", "Greets", "greets", "description (read by models)"},
	{"resources/text.meta.json", "plain", "html", "mimeType (read by models)"},
	{"resources/text.txt", "text", "next", "files/resources/text.txt"},
	{"skills/use/SKILL.md", "Uses", "uses", "frontmatter (read by models)"},
	{"skills/use/reference.md", "more", "less", "files/skills/use/reference.md"},
	{"completions/hello.sh", "bash", "sh", "completions/hello.sh"},
	{"data.txt", "data", "date", "data.txt: changed"},
}

func writeAll(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".sh") {
			if err := os.Chmod(file, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func runDiff(args ...string) (out, errors string, code int) {
	var stdout, stderr bytes.Buffer
	code = run(cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, append([]string{"diff"}, args...))
	return stdout.String(), stderr.String(), code
}

// LOCK-20: each kind of change is shown, and ends with 1. The same project, at another place, ends with 0.
func TestDiffShowsEachChange(t *testing.T) {
	before := writeAll(t, original)
	if out, errs, code := runDiff(before, writeAll(t, original)); out != "" || errs != "" || code != 0 {
		t.Fatalf("the same: %d\n%s%s", code, out, errs)
	}
	for _, c := range changes {
		files := map[string]string{}
		for name, text := range original {
			files[name] = text
		}
		if c.old != "" && !strings.Contains(files[c.file], c.old) {
			t.Errorf("%s has no %q", c.file, c.old)
		}
		files[c.file] = strings.Replace(files[c.file], c.old, c.new, 1)
		if files[c.file] == "" {
			delete(files, c.file)
		}
		out, errs, code := runDiff(before, writeAll(t, files))
		if code != 1 || errs != "" || !strings.Contains(out, c.want) {
			t.Errorf("%s %q: %d, want %q\n%s%s", c.file, c.new, code, c.want, out, errs)
		}
	}
}

// LOCK-21: one byte after the lock was made is an error with the difference, for each side.
func TestDiffVerifiesLocks(t *testing.T) {
	whole := filepath.Join("testdata", "none")
	if _, errs, code := runDiff(whole, whole); code != 3 || !strings.Contains(errs, "no such file") {
		t.Errorf("%d %s", code, errs)
	}
	files := map[string]string{".claude-plugin/plugin.json": "{}"}
	for name, text := range original {
		files["server/"+name] = text
	}
	files["server/mcp-bash.lock.json"] = `{"version": 1, "project": {"files": {}}}`
	out, errs, code := runDiff(writeAll(t, original), writeAll(t, files))
	if code != 3 || out != "" || !strings.Contains(errs, "does not match its files") ||
		!strings.Contains(errs, "tool add\n") {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
}
