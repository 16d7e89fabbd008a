package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
)

// versions are two versions of a project that differ in each kind of change.
func versions() (list [2]map[string]string) {
	for v := range list {
		list[v] = maps.Clone(original)
		delete(list[v], "data.txt") // not part of products
		list[v]["server.d/server.meta.json"] = `{"name": "demo", "version": "1.0.0", "title": "T", "author": "Ada",
			"license": "MIT", "user_config": {"key": {"type": "string", "title": "Key"}}, "user_config_env_map": {"key": "KEY"}}`
		list[v]["icon.svg"] = "<svg/>"
	}
	for _, c := range []struct{ file, old, new string }{
		{"tools/add/tool.meta.json", "Adds", "adds"}, {"tools/add/tool.meta.json", `"Search"`, `"Search", "Network"`},
		{"tools/add/part.sh", "1", "2"}, {"server.d/policy.sh", "true", "false"},
		{"server.d/server.meta.json", "Key", "The key"}, {"icon.svg", "<svg/>", "<svg></svg>"},
	} {
		list[1][c.file] = strings.Replace(list[1][c.file], c.old, c.new, 1)
	}
	return list
}

// bundleRun runs a command, and returns its output and its exit code.
func bundleRun(args ...string) (out, errors string, code int) {
	var stdout, stderr bytes.Buffer
	code = run(cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, args)
	return stdout.String(), stderr.String(), code
}

// LOCK-20, LOCK-23: inspect and diff show the same rows and changes for every kind of product.
func TestProducts(t *testing.T) {
	i := newImageTest(t)
	t.Setenv("MCPBASH_RUNTIME_DIR", i.dir)
	common := []string{"--platform", runtimes.Host.Platform(), "--arch", runtimes.Host.Arch, "--no-smoke", "--output"}
	type kind struct{ name, file string }
	kinds := []kind{{"bundle", "demo-1.0.0.mcpb"}, {"plugin", ""}, {"npm", "demo-1.0.0.tgz"}, {"wheel", "*.whl"},
		{"image", "image.tar"}, {"image", "layout"}, {"project", ""}}
	var made [2]map[kind]string
	for v, files := range versions() {
		made[v] = map[kind]string{}
		i.project = writeAll(t, files)
		for _, k := range kinds {
			dir := filepath.Join(t.TempDir(), "out")
			switch k.name {
			case "project":
				dir = i.project
			case "image":
				i.make("umask 022", nil, "--platform", "linux/"+runtimes.Host.Arch, "-o", filepath.Join(dir, k.file))
			default:
				args := append([]string{k.name, i.project}, common...)
				if _, stderr, code := bundleRun(append(args, dir)...); code != 0 {
					t.Fatalf("%s: exit %d\n%s", k.name, code, stderr)
				}
			}
			found, err := filepath.Glob(filepath.Join(dir, k.file))
			if err != nil || len(found) != 1 {
				t.Fatalf("%s: %q, %v", k.name, found, err)
			}
			made[v][k] = found[0]
		}
	}
	isSkill := func(item any) bool { return item.(map[string]any)["item"] == "skill use" }
	var want []any
	for n := range kinds {
		k := kinds[len(kinds)-1-n] // the project first
		var got struct {
			Kind  string
			Items []any
			Files []any
		}
		out, stderr, code := bundleRun("inspect", made[0][k], "--json")
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
			t.Fatalf("%s: exit %d, %v\n%s%s", k.name, code, err, out, stderr)
		}
		if k.name == "project" || k.name == "plugin" {
			if n := len(got.Items) - 1; !isSkill(got.Items[n]) {
				t.Errorf("%s: no skill: %v", k.name, got.Items)
			}
			got.Items = slices.DeleteFunc(got.Items, isSkill) // other products contain no skills
		}
		if n == 0 {
			want = got.Items
		}
		if !strings.Contains(got.Kind, k.name) || len(got.Files) == 0 || !reflect.DeepEqual(got.Items, want) {
			t.Errorf("%s: %s, %d files, %v\nnot %v", k.name, got.Kind, len(got.Files), got.Items, want)
		}
		if out, _, _ = bundleRun("diff", made[0][k], made[0][k]); out != "" {
			t.Errorf("%s: differs from itself: %s", k.name, out)
		}
		out, stderr, code = bundleRun("diff", made[0][k], made[1][k])
		for _, line := range []string{
			"# rights\n  - tool add: reads project, roots\n  + tool add: reads project, roots; reaches any host\n",
			"# read by models\n", "  description (read by models)\n    - Adds\n    + adds\n",
			"# runs\n", "  files/tools/add/part.sh (runs)\n", "# permissions\n", "  capabilities (permissions)\n",
			"  files/server.d/policy.sh (permissions)\n", "  meta/user_config (read by models)\n", "# files\n",
			"tools/add/part.sh: changed\n",
		} {
			if code != 1 || !strings.Contains(out, line) {
				t.Errorf("%s: exit %d, no %q\n%s%s", k.name, code, line, out, stderr)
			}
		}
		asks := k.name == "bundle" || k.name == "plugin" || k.name == "project"
		if strings.Contains(out, "# settings\n") != asks {
			t.Errorf("%s: settings\n%s", k.name, out)
		}
	}
}

// LOCK-23: a product whose lock does not match its files, and a file that is not a product, are errors.
func TestInspectRefuses(t *testing.T) {
	files := map[string]string{".claude-plugin/plugin.json": "{}", "server/mcp-bash.lock.json": `{"version": 1, "project":
		{"files": {}}}`}
	for name, text := range original {
		files["server/"+name] = text
	}
	out, errs, code := bundleRun("inspect", writeAll(t, files))
	if code != 1 || out != "" || !strings.Contains(errs, "does not match its files") ||
		!strings.Contains(errs, "tool add\n") {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	if _, errs, code := bundleRun("inspect", t.TempDir()); code != 1 || !strings.Contains(errs, "not a bundle") {
		t.Errorf("%d %s", code, errs)
	}
	if _, errs, code := bundleRun("inspect", ".", "--json", "--format", "docker"); code != 2 {
		t.Errorf("%d %s", code, errs)
	}
}

// LOCK-24: the permissions in the formats of other programs, with notes on permissions that a format cannot express.
func TestInspectFormats(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	tool := func(more string) string { return `{"name": "NAME", "description": "d", ` + more + `}` }
	files := map[string]string{
		"server.d/server.meta.json": `{"name": "My_Tools", "version": "1.0.0"}`,
		"server.d/policy.sh":        "true\n",
		"resources/page.meta.json": `{"name": "page", "description": "d", "provider": "https",
			"uri": "https://example.com/x"}`,
	}
	for name, meta := range map[string]string{
		"look": tool(`"capabilities": ["Search"], "confine": {"exec": ["grep"], "read": ["~/notes", "/etc/hosts", "data"]}`),
		"save": tool(`"capabilities": ["Edit"], "confine": {"write": ["~/notes", "out", "/a,b"]}`),
		"call": tool(`"confine": {"connect": [8080]}`),
		"free": tool(`"inputSchema": {}`),
	} {
		files["tools/"+name+"/tool.sh"] = "#!/bin/sh\n"
		files["tools/"+name+"/tool.meta.json"] = strings.Replace(meta, "NAME", name, 1)
	}
	root := writeAll(t, files)
	notes := []string{
		"inspect: project is not confined, so its needs are unknown, and nothing is allowed for it",
		"inspect: tool free is not confined, so its needs are unknown, and nothing is allowed for it",
		"inspect: tool look uses its roots, which depend on the client; add these folders",
		"inspect: tool save writes out in the project, which is read-only in an image",
		"inspect: tool save uses /a,b, which cannot be mounted",
		"inspect: tool save uses its roots, which depend on the client; add these folders",
		"inspect: programs are not limited, and all tools share these permissions",
	}
	for format, want := range map[string]struct {
		text  string
		notes []string
	}{
		"toolhive-profile": {`{
  "read": [
    "HOME/notes:/home/nonroot/notes",
    "/etc/hosts"
  ],
  "write": [
    "HOME/notes:/home/nonroot/notes"
  ],
  "network": {
    "outbound": {
      "insecure_allow_all": false,
      "allow_host": [],
      "allow_port": [
        443,
        8080
      ]
    }
  }
}
`, append(notes, "inspect: ToolHive limits HTTP and HTTPS only, by its proxy; other connections fail")},
		"docker": {`docker run --rm --interactive \
  --read-only \
  --tmpfs /tmp \
  --cap-drop ALL \
  --security-opt no-new-privileges \
  --mount type=bind,source=/etc/hosts,target=/etc/hosts,readonly \
  --mount type=bind,source=HOME/notes,target=/home/nonroot/notes \
  my-tools:1.0.0
`, append(notes, "inspect: Docker limits neither hosts nor ports")},
		"claude-settings": {`{
  "permissions": {
    "allow": [
      "mcp__My_Tools__look"
    ],
    "ask": [
      "mcp__My_Tools__call",
      "mcp__My_Tools__free",
      "mcp__My_Tools__save"
    ]
  }
}
`, []string{"inspect: Claude Code decides about calls only. The server limits files, hosts and programs, on Linux"}},
	} {
		out, errs, code := bundleRun("inspect", root, "--format", format)
		if want := strings.ReplaceAll(want.text, "HOME", home); out != want || code != 0 {
			t.Errorf("%s: exit %d\n%s\nnot\n%s", format, code, out, want)
		}
		if got := strings.Split(strings.TrimSpace(errs), "\n"); !reflect.DeepEqual(got, want.notes) {
			t.Errorf("%s:\n%s\nnot\n%s", format, errs, strings.Join(want.notes, "\n"))
		}
	}
	if out, _, code := bundleRun("inspect", root); code != 0 ||
		!strings.Contains(out, "\ntool look     reads project, roots, ~/notes, /etc/hosts, data; starts grep\n") ||
		!strings.Contains(out, "\nresource page reaches example.com\n") ||
		!strings.Contains(out, "\nproject       anything: nothing confines server.d/policy.sh\n") {
		t.Errorf("%d\n%s", code, out)
	}
	if err := os.WriteFile(filepath.Join(root, "server.d/server.meta.json"), []byte(`{"name": "a", "confine": "all"}`),
		0o644); err != nil {
		t.Fatal(err)
	}
	if out, _, code := bundleRun("inspect", root); code != 0 || !strings.Contains(out, "\ntool free     nothing\n") {
		t.Errorf("%d\n%s", code, out)
	}
}

// original is the project before the changes.
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

// changes are changes of the project, and the line that diff shows for each. A change replaces a text of a file, or
// adds or removes a file.
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

// LOCK-20: diff shows each change and exits with 1. For the same project in another directory, it exits with 0.
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

// LOCK-21: a change of one byte after the lock was made is an error that shows the difference, in either operand.
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
