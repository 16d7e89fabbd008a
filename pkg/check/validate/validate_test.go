package validate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/helper"
	"mcp-bash/pkg/helper/invoke"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/projecttest"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/lock"
	"mcp-bash/pkg/text/toolnames"
)

func TestMain(m *testing.M) {
	if invoke.Is(os.Args) { // scripts start this binary as the helper
		os.Exit(helper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

type files = projecttest.Files

// env returns the environment of a check. TMPDIR keeps all files of a test in its directory.
func env(t testing.TB) project.Env {
	tmp := t.TempDir()
	return project.Env{"PATH": os.Getenv("PATH"), "HOME": tmp, "TMPDIR": tmp, "XDG_CACHE_HOME": tmp}
}

// fixture makes a project that no other user can change.
func fixture(t testing.TB, content ...files) *projecttest.Fixture {
	t.Helper()
	f := projecttest.New(t, env(t), nil)
	for _, c := range content {
		f.Put(c)
	}
	err := filepath.WalkDir(f.Root, func(path string, d os.DirEntry, err error) error {
		if info, errInfo := d.Info(); err == nil && errInfo == nil && info.Mode()&os.ModeSymlink == 0 {
			err = os.Chmod(path, info.Mode().Perm()&^0o022)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Open(f.Project.Env)
	return f
}

func check1(t testing.TB, f *projecttest.Fixture, o Options) *Result {
	t.Helper()
	o.Tree = tree.Embedded
	o.Recipe = func(name string, _ []byte) []finding.Finding {
		if name == "brew.json" {
			return nil
		}
		return []finding.Finding{{Line: 1, Column: 1, Message: "is wrong"}}
	}
	r, err := Project(t.Context(), f.Project, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func of(r *Result, id string) (list []finding.Finding) {
	for _, f := range r.Findings {
		if f.ID == id {
			list = append(list, f)
		}
	}
	return list
}

// sound is a project without findings.
var sound = files{
	"server.d/server.meta.json": `{"name":"demo"}`,
	"tools/demo-hello/tool.meta.json": `{"name":"demo_hello","description":"Say hello",
		"inputSchema":{"type":"object","properties":{"name":{"type":"string"}}},
		"outputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}`,
	"tools/demo-hello/tool.sh*":           "#!/usr/bin/env bash\nprintf '{\"text\":\"hello\"}'\n",
	"tools/demo-hello/samples/plain.json": `{"arguments":{"name":"Ada"},"structuredContent":{"text":"hello"}}`,
	"prompts/ask/ask.meta.json":           `{"name":"ask","description":"Ask"}`,
	"prompts/ask/ask.txt":                 "What?",
	"resources/guide/guide.meta.json":     `{"name":"guide"}`,
	"resources/guide/guide.md":            "# Guide",
	"resources/echo.meta.json":            `{"name":"echo","uri":"echo://x"}`,
	"resources/files.meta.json":           `{"name":"files","uriTemplate":"file:///srv/{path}"}`,
	"server.d/register.json":              `{"version":1}`,
	"server.d/requirements.json":          `{"framework":{"minVersion":"1.0"},"dependencies":[{"name":"bash"}]}`,
	"mcpb.conf":                           "MCPB_NAME=demo\n",
	"providers/own.sh*":                   "#!/usr/bin/env bash\n",
	"resources/own.meta.json":             `{"name":"own","uri":"own://x"}`,
}

// cases has, by rule, files that break the rule when they are added to the sound project.
var cases = map[string]files{
	"server.no_metadata":      nil, // removed in the test
	"metadata.missing":        {"tools/bare/notes.txt": "x"},
	"script.gone":             importedTool("/none/own.sh"),
	"metadata.invalid_json":   {"tools/x/tool.meta.json": "{\n \"name\":", "tools/x/tool.sh*": "#!/bin/bash\n"},
	"metadata.unreadable":     {"prompts/ask/ask.meta.json": `{"name":"` + strings.Repeat("x", 1<<20) + `"}`},
	"metadata.no_name":        {"prompts/ask/ask.meta.json": `{"description":"Ask"}`},
	"metadata.no_description": {"prompts/ask/ask.meta.json": `{"name":"ask"}`},
	"metadata.placeholder":    {"prompts/ask/ask.meta.json": `{"name":"ask","description":"Say here what it is."}`},
	"metadata.unknown_key":    {"prompts/ask/ask.meta.json": `{"name":"ask","descripton":"x","description":"y"}`},
	"metadata.ignored":        {"prompts/ask/ask.meta.json": `{"name":"ask","description":"x","title":5}`},
	"metadata.form":           {"server.d/server.meta.json": `{"name":"demo","keywords":"one"}`},
	"icons.form":              {"prompts/ask/ask.meta.json": `{"name":"ask","description":"x","icons":["a"]}`},
	"icons.unreadable": {
		"prompts/ask/ask.meta.json": `{"name":"ask","description":"x","icons":[{"src":"no.svg"}]}`,
	},
	"name.duplicate": {"prompts/b/b.meta.json": `{"name":"ask","description":"x"}`, "prompts/b/b.txt": "x"},
	"name.unusable": {
		"prompts/b/b.meta.json": `{"name":"` + strings.Repeat("b", 129) + `"}`, "prompts/b/b.txt": "x",
	},
	"name.not_portable":  toolCalled("demo.hello"),
	"name.no_namespace":  toolCalled("hello"),
	"name.not_directory": toolCalled("demo_other"),
	"name.too_long":      toolCalled("demo_" + strings.Repeat("x", 59)),
	"name.changed":       toolCalled("demo-hello"),
	"name.collision":     merge(toolIn("a", "demo_a.b"), toolIn("b", "demo_a_b")),
	"name.reserved": merge(toolIn("a", "task_wait"),
		toolWith(`"longRunning":true`)),
	"name.server":     {"server.d/server.meta.json": `{"name":"my server"}`},
	"schema.empty":    toolWith(`"inputSchema":{}`),
	"schema.invalid":  toolWith(`"inputSchema":{"type":"object","properties":{"a":{"type":"strng"}}}`),
	"schema.header":   toolWith(`"inputSchema":{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`),
	"schema.unusable": toolWith(`"inputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}`),
	"schema.dialect": toolWith(
		`"inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`),
	"schema.output_type":         toolWith(`"inputSchema":{"type":"object"},"outputSchema":{"type":"array"}`),
	"script.missing":             {"tools/x/tool.meta.json": `{"name":"x_y","description":"x"}`},
	"script.not_executable":      {"providers/other.sh": "#!/usr/bin/env bash\n"},
	"script.link":                {"tools/x/tool.sh@": "../demo-hello/tool.sh"},
	"link.dangling":              {"tools/x/tool.sh@": "../gone.sh"},
	"script.link_not_executable": {"tools/x/tool.sh@": "../../mcpb.conf"},
	"script.no_shebang":          {"providers/other.sh*": "echo\n"},
	"script.byte_order_mark":     {"providers/other.sh*": "\ufeff#!/usr/bin/env bash\n"},
	"script.interpreter":         {"providers/other.sh*": "#!/usr/bin/env bush\n"},
	"script.plain_shell":         {"providers/other.sh*": "#!/bin/sh\n[[ -n $1 ]]\n"},
	"script.no_sdk":              toolOf("mcp_result_success {}"),
	"script.unknown_function":    toolOf("source \"$MCP_SDK/tool-sdk.sh\"\nmcp_arg_get .x"),
	"script.input":               toolOf("read -r name"),
	"script.background":          toolOf("sleep 9 &"),
	"script.stray_output":        toolOf("source \"$MCP_SDK/tool-sdk.sh\"\necho x\nmcp_result_success {}"),
	"script.missing_program":     toolOf("no-such-program"),
	"completion.not_executable":  {"prompts/ask/ask.completion.sh": "#!/bin/bash\n"},
	"prompt.placeholder":         {"prompts/ask/ask.txt": "Hello {{ name }}"},
	"metadata.type":              toolWith(`"timeoutSecs":"5"`),
	"script.crlf":                {"providers/other.sh*": "#!/usr/bin/env bash\necho\r\n"},
	"script.too_large":           {"providers/other.sh*": "#!/usr/bin/env bash\n" + strings.Repeat("#\n", 1<<19)},
	"script.syntax":              {"providers/other.sh*": "#!/usr/bin/env bash\nif true; then\n"},
	"bash.newer":                 {"providers/other.sh*": "#!/usr/bin/env bash\nmapfile -t a\n"},
	"folder.bad_name":            {"tools/a\nb/x": ""},
	"tool.misplaced":             {"tools/x.sh*": "#!/usr/bin/env bash\n"},
	"prompt.no_text":             {"prompts/x/x.png": "\x00"},
	"resource.no_uri":            {"resources/x.meta.json": `{"name":"x"}`},
	"resource.both_uris":         {"resources/x.meta.json": `{"name":"x","uri":"a://b","uriTemplate":"a://{b}"}`},
	"resource.no_variable":       {"resources/x.meta.json": `{"name":"x","uriTemplate":"a://b"}`},
	"resource.odd_uri":           {"resources/x.meta.json": `{"name":"x","uriTemplate":"a/{b}"}`},
	"resource.no_provider":       {"resources/x.meta.json": `{"name":"x","uri":"nosuch://b"}`},
	"resource.unreadable_uri":    {"resources/x.meta.json": `{"name":"x","uri":"git://example.org/x","provider":"git"}`},
	"resource.wrong_type": {"resources/x.txt": "%PDF-1.4",
		"resources/x.meta.json": `{"name":"x","mimeType":"text/plain","uri":"file://./resources/x.txt"}`},
	"resource.outside": {"resources/x.meta.json": `{"name":"x","uri":"file:///etc/hosts"}`},
	"resource.no_file": {"resources/x.meta.json": `{"name":"x","uri":"file://./resources/none"}`},
	"policy.replaces_default": {
		"server.d/policy.sh": "mcp_tools_policy_check() {\n  # mcp_tools_policy_check_default\n  :\n}\n",
	},
	"policy.no_check":  {"server.d/policy.sh": "mcp_tool_policy_check() { return 1; }\n"},
	"register.invalid": {"server.d/register.json": `{"version":2}`},
	"register.not_run": {"server.d/register.sh*": "#!/usr/bin/env bash\n"},
	"registry.reported": {
		"server.d/register.json": `{"version":1,"completions":[{"name":"c","path":"data.txt"}]}`, "data.txt": "x",
	},
	"lock.unusable": {"server.d/server.meta.json": `{"name":"demo","locked":true}`},
	"lock.drift": {"server.d/server.meta.json": `{"name":"demo","locked":true}`,
		"mcp-bash.lock.json": `{"version":1,"project":{"files":{}}}`},
	"roots.none":             {"tools/demo-hello/tool.sh*": "#!/usr/bin/env bash\nfile=$(mcp_require_path .path)\n"},
	"roots.unusable":         {"config/roots.json": `{"roots":[{"path":"none"}]}`},
	"declaration.unreadable": toolWith(`"confine":[]`),
	"confine.missing":        toolWith(`"confine":{"read":["nothing"],"exec":["no-such-program-at-all"]}`),
	"confine.no_effect":      toolWith(`"confine":{"write":["tools"]}`),
	"confine.too_small": {
		"tools/demo-t/tool.meta.json": `{"name":"demo-t","description":"x","capabilities":[]}`,
		"tools/demo-t/tool.sh*":       "#!/usr/bin/env bash\nwget x\n",
	},
	"env.invalid":         {"server.d/server.meta.json": `{"name":"demo","env":{"MCPBASH_TOOL_ENV_MODE":"all"}}`},
	"env.not_passed":      toolOf("echo \"$ACME_KEY\""),
	"env.refused":         {"server.d/server.meta.json": `{"name":"demo","env":{"API_KEY":"x"}}`},
	"scopes.invalid":      {"server.d/server.meta.json": `{"name":"demo","scopes":{"a b":["demo_hello"]}}`},
	"scopes.unknown_tool": {"server.d/server.meta.json": `{"name":"demo","scopes":{"a":["demo_helo","demo_*"]}}`},
	"scopes.unknown_resource": {"server.d/server.meta.json": `{"name":"demo","scopes":{"a":{"resources":["nots","n*"]}}}`,
		"resources/notes.txt": "x"},
	"scopes.unknown_prompt": {"server.d/server.meta.json": `{"name":"demo","scopes":{"a":{"prompts":["gret","g*"]}}}`,
		"prompts/greet.txt": "x"},
	"requirements.invalid":   {"server.d/requirements.json": `{"dependencies":[{"or":[]}]}`},
	"env.user_config":        {"mcpb.conf": "MCPB_USER_CONFIG_ENV_MAP=api_key=ACME_KEY\n"},
	"requirements.framework": {"server.d/requirements.json": `{"framework":{"minVersion":"99.0"}}`},
	"requirements.too_old": {"server.d/requirements.json": `{"dependencies":[{"name":"bash","minVersion":"99.0",` +
		`"check":"bash --version"}]}`},
	"requirements.unknown": {"server.d/requirements.json": `{"dependencies":[{"name":"true","check":"true now"}]}`},
	"requirements.missing": {"server.d/requirements.json": `{"dependencies":[{"or":["no-such-program","/no/such"]}]}`},
	"bundle.conf":          {"mcpb.conf": "MCPB_NAME=\xff\n"},
	"ignored.setting":      {"server.d/env.sh": "export MCPBASH_CORRUPTION_WINDOW=1\n"},
	"ignored.file":         {"server.d/more.sh": "x\n"},
	"ignored.field":        {"prompts/ask/ask.meta.json": `{"name":"ask","description":"x","widget":1}`},
	"recipe.valid":         {"recipes/brew.json": "{}"},
	"skill.invalid":        {"skills/tea/SKILL.md": "# Tea"},
	"large.shown":          toolWith(`"largeResultBytes":100000`),
	"large.invalid":        toolWith(`"_meta":{"anthropic/maxResultSizeChars":"100000"}`),
	"client.schema":        toolWith(`"inputSchema":{"type":"object","anyOf":[{"required":["a"]}]}`),
	"client.type":          toolWith(`"inputSchema":{"type":"object","properties":{"a":{"type":["string","null"]}}}`),
	"client.page":          manyTools(51),
	"client.text":          {"server.d/server.instructions.md": strings.Repeat("x", 2049)},
	"client.picture":       {"resources/map.png": picture(4 << 20), "resources/map.meta.json": `{"name":"map"}`},
	"skill.valid":          {"skills/tea/SKILL.md": "---\nname: tea\ndescription: Makes tea.\n---\n"},
	"recipe.invalid":       {"recipes/tea.json": "{}"},
	"wrap.unconfirmed": {"tools/demo-hello/.wrap.json": "{}", "tools/demo-hello/tool.sh": "#!/usr/bin/env bash\n" +
		"mcp_argv_option argv .cups --cups # unconfirmed: type\n"},
	"sample.invalid":   {"tools/demo-hello/samples/x.json": `[]`},
	"sample.arguments": {"tools/demo-hello/samples/x.json": `{"arguments":{"name":5}}`},
	"sample.output":    {"tools/demo-hello/samples/x.json": `{"structuredContent":{}}`},
}

// CLI-1040: placeholder text is found in the descriptions of all items, and other text is not reported.
func TestPlaceholders(t *testing.T) {
	const text = `"description":"A thing.\n\nWhen to use:\n- fill in\n"`
	f := fixture(t, sound, files{
		"server.d/server.meta.json":       `{"name":"demo",` + text + `}`,
		"tools/demo-hello/tool.meta.json": `{"name":"demo_hello",` + text + `,"inputSchema":{"type":"object"}}`,
		"prompts/ask/ask.meta.json":       `{"name":"ask",` + text + `}`,
		"resources/guide/guide.meta.json": `{"name":"guide","description":"To fill in a form, say here or there what."}`,
		"resources/own.meta.json":         `{"name":"own","uri":"own://x",` + text + `}`,
		"ui/p/index.html":                 "<p>",
		"ui/p/ui.meta.json":               `{"title":"P","description":"Shows a result; say here what people see."}`,
	})
	var got []string
	for _, found := range of(check1(t, f, Options{}), "metadata.placeholder") {
		got = append(got, found.Path+": "+found.Message)
	}
	slices.Sort(got)
	const says = `: the description has placeholder text: "`
	want := []string{
		"prompts/ask/ask.meta.json" + says + `fill in"`, "resources/own.meta.json" + says + `fill in"`,
		"server.d/server.meta.json" + says + `fill in"`, "tools/demo-hello/tool.meta.json" + says + `fill in"`,
		"ui/p/ui.meta.json" + says + `say here what"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// CLI-1041: the namespace advice is given once, and a tool that follows it has no finding.
func TestNamespaceAdvice(t *testing.T) {
	f := fixture(t, sound, toolIn("one", "one"), toolIn("two", "two"), toolIn("three", "my_demo_three"),
		files{"server.d/server.meta.json": `{"name":"my-demo"}`})
	r := check1(t, f, Options{})
	advice := of(r, "name.no_namespace")
	if len(advice) != 1 || advice[0].Severity != finding.Info || advice[0].Path != "tools/one/tool.meta.json" ||
		advice[0].Fix != "put the server's name before it: my_demo_one" {
		t.Errorf("%+v", advice)
	}
	for _, found := range r.Findings {
		if strings.Contains(found.Path, "three") && !found.Good {
			t.Errorf("%+v", found)
		}
	}
}

// CLI-1023: fields that the server does not know are reported for all kinds of metadata, with the line.
func TestFieldsWithoutEffect(t *testing.T) {
	for name, tc := range map[string]struct {
		files files
		want  string
	}{
		"register.json": {files{"server.d/register.json": `{"version":1,
"resources":[{"name":"r","uri":"file:///x","widget":1}],
"completions":[{"name":"c","path":"c.sh","widgets":1,"$note":1}]}`, "c.sh*": "#!/bin/sh\n"},
			`server.d/register.json:2 "widget"|server.d/register.json:3 "widgets"`},
		"a tool": {files{"tools/demo-hello/tool.meta.json": `{"name":"demo_hello","description":"Say hello",
"parameters":{"required":[{"name":"a","defualt":1}]}}`}, `tools/demo-hello/tool.meta.json:2 "defualt"`},
		"a tool with a schema in the wrong place": {files{"tools/demo-hello/tool.meta.json": `{"name":"demo_hello",
"description":"Say hello","parameters":{"type":"object","properties":{"a":{}}}}`}, ""}, // metadata.unknown_key
		"an inline header of a tool": {files{"tools/x/tool.sh*": `#!/bin/bash
# mcp: {"name":"demo-x","widget":1,"_mine":1}
`},
			`tools/x/tool.sh:2 "widget"`},
		"of a prompt": {files{"prompts/p.txt": `mcp: {"name":"p","widget":1}`}, `prompts/p.txt:1 "widget"`},
		"of a resource": {files{"resources/r.md": `<!-- mcp: {"name":"r","arguments":1} -->`},
			`resources/r.md:1 "arguments"`},
		"a page": {files{"ui/p/index.html": "<p>", "ui/p/ui.meta.json": `{"title":"P",
"widget":1,
"meta":{"csp":{},
"frame":[],
"permission":{}}}`}, `ui/p/ui.meta.json:2 "widget"|ui/p/ui.meta.json:4 "frame"|` +
			`ui/p/ui.meta.json:5 "permission" (did you mean permissions?)`},
	} {
		var got []string
		for _, f := range of(check1(t, fixture(t, sound, tc.files), Options{}), "ignored.field") {
			got = append(got, fmt.Sprintf("%s:%d %s", f.Path, f.Line, strings.Replace(f.Message, " has no effect", "", 1)))
		}
		if all := strings.Join(got, "|"); all != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, all, tc.want)
		}
	}
}

// P-2108, CLI-1008: tools that take paths need roots.
func TestPathsWithoutRoots(t *testing.T) {
	script := func(tool, line string) files {
		return merge(toolIn(tool, "demo_"+tool), files{"tools/" + tool + "/tool.sh*": "#!/usr/bin/env bash\n" + line + "\n"})
	}
	taking := script("a", "mcp_into file mcp_require_path .path # checked")
	both := merge(taking, script("b", "mcp_argv_operand argv .p --path"))
	for name, tc := range map[string]struct {
		files files
		env   string
		want  string
	}{
		"none":         {files: script("a", "# mcp_require_path"), want: ""},
		"a comment":    {files: script("a", "echo 1 # file=$(mcp_require_path .path)"), want: ""},
		"one":          {files: taking, want: "tools/a/tool.sh"},
		"two":          {files: both, want: "tools/a/tool.sh and 1 more"},
		"the file":     {files: merge(taking, files{"config/roots.json": `{"roots":[{"path":"."}]}`}), want: ""},
		"the variable": {files: taking, env: ".", want: ""},
	} {
		f := fixture(t, sound, tc.files)
		f.Project.Env["MCPBASH_ROOTS"] = tc.env
		found := of(check1(t, f, Options{}), "roots.none")
		if tc.want == "" && len(found) > 0 || tc.want != "" &&
			(len(found) != 1 || found[0].Message != "missing, but tools take paths: "+tc.want) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func toolCalled(name string) files { return toolIn("demo-hello", name) }

func toolIn(dir, name string) files {
	return files{
		"tools/" + dir + "/tool.meta.json": `{"name":"` + name + `","description":"x","inputSchema":{"type":"object"}}`,
		"tools/" + dir + "/tool.sh*":       "#!/usr/bin/env bash\n",
	}
}

func toolOf(script string) files {
	return files{"tools/demo-hello/tool.sh*": "#!/usr/bin/env bash\n" + script + "\n"}
}

func manyTools(n int) files {
	all := files{}
	for i := range n {
		name := fmt.Sprintf("demo_t%d", i)
		all["tools/"+name+"/tool.sh*"] = "#!/usr/bin/env bash\n"
		all["tools/"+name+"/tool.meta.json"] = `{"name":"` + name + `","description":"d","inputSchema":{"type":"object"}}`
	}
	return all
}

func picture(size int) string { return "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", size-8) }

func toolWith(schema string) files {
	return files{"tools/demo-hello/tool.meta.json": `{"name":"demo_hello","description":"x",` + schema + `}`}
}

func merge(all ...files) files {
	result := files{}
	for _, one := range all {
		for name, text := range one {
			result[name] = text
		}
	}
	return result
}

// situations has functions that produce a finding of the other rules.
var situations = map[string]func(t *testing.T) *Result{
	"metadata.valid":    func(t *testing.T) *Result { return check1(t, fixture(t, sound), Options{}) },
	"script.executable": func(t *testing.T) *Result { return check1(t, fixture(t, sound), Options{}) },
	"lock.valid": func(t *testing.T) *Result { // LOCK-14
		f := fixture(t, sound)
		catalog := registry.NewCatalog(f.Project, registry.Options{ReadOnly: true})
		pinned, err := lock.Of(t.Context(), f.Project, catalog, f.Root)
		if err == nil {
			err = pinned.Write(f.Project)
		}
		result := check1(t, f, Options{Locked: true})
		if err != nil || result.Errors > 0 {
			t.Errorf("%v, %+v", err, result.Findings)
		}
		return result
	},
	"script.made_executable": func(t *testing.T) *Result {
		return check1(t, fixture(t, sound, cases["script.not_executable"]), Options{Fix: true})
	},
	"script.unreadable": func(t *testing.T) *Result { return unreadable(t, "providers/own.sh") },
	"folder.unreadable": func(t *testing.T) *Result { return unreadable(t, "resources/guide") },
	"path.insecure":     func(t *testing.T) *Result { return writable(t, "tools") },
	"shellcheck": func(t *testing.T) *Result {
		return withShellcheck(t, quoteIt)
	},
	"shellcheck.incomplete": func(t *testing.T) *Result { return withShellcheck(t, "echo no JSON") },
	"sample.ran":            func(t *testing.T) *Result { return check1(t, fixture(t, sound), Options{Samples: true}) },
	"sample.failed": func(t *testing.T) *Result {
		tool := files{"tools/demo-hello/tool.sh*": "#!/usr/bin/env bash\nexit 3\n"}
		return check1(t, fixture(t, sound, tool), Options{Samples: true})
	},
	"sample.not_run": samplesNowhere,
	"policy.unknown_tool": func(t *testing.T) *Result {
		f := fixture(t, sound)
		f.Project.Calls.Allowlist = []string{"demo_helo"}
		return check1(t, f, Options{})
	},
	"env.mode": func(t *testing.T) *Result {
		f := fixture(t, sound)
		f.Project.Env["MCPBASH_TOOL_ENV_MODE"] = "minimum"
		f.Open(f.Project.Env)
		return check1(t, f, Options{})
	},
	"registry.unavailable": func(t *testing.T) *Result {
		f := fixture(t, sound)
		f.Project.Discovery.MaxBytes = 100
		return check1(t, f, Options{})
	},
}

// CLI-1009: words in names of a project do not change the rule of a finding.
func TestNamesDecideNothing(t *testing.T) {
	ids := func(r *Result) (list []string) {
		for _, f := range r.Findings {
			list = append(list, f.ID)
		}
		return list
	}
	quoted := func(text string) string { return string(rawjson.Quote(text)) }
	project := func(name string) *Result {
		dir := "tools/" + name
		return check1(t, fixture(t, sound, files{
			dir + "/a.meta.json": `{"name":"demo_a","description":"x","inputSchema":{"type":"object"},"title":5,
				"confine":{"reed":[]},"capabilities":["Edit","nosuch"],"annotations":{"readOnlyHint":true},
				"securityLevel":"x","icons":[{"src":"no.svg"}]}`,
			dir + "/a.sh*":                     "#!/usr/bin/env bash\n",
			dir + "/b.sh*":                     "#!/usr/bin/env bash\n# mcp: {\n",
			"prompts/" + name + "/p.txt":       "x",
			"prompts/" + name + "/p.meta.json": `{"name":"p","description":"x","descripton":"y","role":5,"icons":["x"]}`,
			"prompts/" + name + "/q.txt":       "x",
			"prompts/" + name + "/q.meta.json": `{"name":"p","description":"x"}`,
			"resources/" + name + ".meta.json": `{"name":"r"}`,
			"server.d/register.json": `{"version":1,"merge":["tools"],"tools":[{"name":"demo_c","path":` +
				quoted(name+"/a.sh") + `,"outputSchema":{"type":5}},{"path":5}],"completions":[{"name":"c","path":` +
				quoted(name) + `}]}`,
		}), Options{})
	}
	want := project("plain")
	for _, name := range []string{
		"parameters", "Schema", "x; left out", "x; ignored", "Duplicate x", "unknown key x", "icon x", ": its name x",
		"x; the tool does not run", " is refused by some clients", "Malformed metadata x", "Declarative register.json",
		"unknown capability", "register.json", `"icons" must be an array`, "12:3: x", "a:1:2", "left out", "x: y: z",
		"uriTemplate has no {variable}, skipping",
	} {
		if got := project(name); !slices.Equal(ids(got), ids(want)) || got.Errors != want.Errors {
			t.Errorf("%q: %d errors %q\nwant %d errors %q", name, got.Errors, ids(got), want.Errors, ids(want))
		}
	}
}

// CLI-1015: a schema that cannot be decoded is reported with its place, without Go types.
func TestSchemaForm(t *testing.T) {
	tool := toolWith("\n\"inputSchema\":{\"type\":\"object\",\n \"required\":5}")
	found := of(check1(t, fixture(t, sound, tool), Options{}), "schema.unusable")
	const want = "inputSchema cannot be used: required: expected an array of strings, found a number"
	if len(found) != 1 || found[0].Message != want || found[0].Line != 3 || found[0].Column != 13 {
		t.Errorf("%+v", found)
	}
}

// CLI-1003: errors come first, then warnings, notes and passed checks.
func TestOrder(t *testing.T) {
	r := check1(t, fixture(t, sound, cases["name.changed"], cases["metadata.no_description"], cases["sample.invalid"],
		cases["script.no_shebang"]), Options{})
	last, seen := 0, map[int]bool{}
	for _, f := range r.Findings {
		rank := slices.Index([]string{"✗", "⚠", "•", "✓"}, f.Mark())
		if rank < last {
			t.Errorf("%s %s comes too late", f.Mark(), f.Text())
		}
		last = rank
		seen[rank] = true
	}
	if len(seen) != 4 {
		t.Errorf("not all sorts: %+v", r.Findings)
	}
}

// CLI-1003, CLI-1004, CLI-1008, CLI-1011: each rule has an explanation, a fix, and a project that
// breaks it. The sound project breaks none.
func TestRules(t *testing.T) {
	clean := check1(t, fixture(t, sound), Options{})
	for _, f := range clean.Findings {
		if !f.Good {
			t.Errorf("a sound project: %s %s", f.ID, f.Text())
		}
	}
	if len(of(clean, "metadata.valid")) != 7 || len(of(clean, "script.executable")) != 2 {
		t.Errorf("what is right is not said: %+v", clean.Findings)
	}
	for _, id := range slices.Concat(slices.Collect(maps.Keys(cases)), slices.Collect(maps.Keys(situations))) {
		if Rules().Find(id) == nil {
			t.Errorf("%s is no rule", id)
		}
	}
	seen := map[string]bool{}
	for _, rule := range Rules() {
		if strings.HasPrefix(rule.ID, "migrate.") {
			continue // TestMigrationRules
		}
		if seen[rule.ID] || rule.Summary == "" || rule.Reason == "" || rule.Severity != finding.Info && rule.Fix == "" {
			t.Errorf("%s is given twice, or does not explain itself", rule.ID)
		}
		seen[rule.ID] = true
		if !slices.Contains([]finding.Severity{finding.Info, finding.Warning, finding.Error}, rule.Severity) {
			t.Errorf("%s: severity %q", rule.ID, rule.Severity)
		}
		t.Run(rule.ID, func(t *testing.T) {
			t.Parallel()
			found := of(produce(t, rule.ID), rule.ID)
			if len(found) == 0 {
				t.Fatalf("not found in %+v", produce(t, rule.ID).Findings)
			}
			for _, one := range found {
				if one.Severity != rule.Severity || one.Section == "" || one.Message == "" {
					t.Errorf("%+v", one)
				}
			}
		})
	}
}

// An unreadable declaration is an error with line and column (CF-63).
func TestUnreadableDeclarations(t *testing.T) {
	const tool = "#!/usr/bin/env bash\n"
	added := files{
		"tools/a/tool.sh*": tool, "tools/a/tool.meta.json": "{\"name\":\"demo_a\",\"description\":\"x\",\n \"Confine\":{}}",
		"tools/b/tool.sh*": tool + "# mcp: {\"name\":\"demo_b\",}\n",
		"tools/c/tool.sh*": tool, "tools/c/tool.meta.json": "{\n\"name\":", // this fault has its own rule
		"tools/d/tool.sh*": tool, "tools/d/tool.meta.json@": "../a/tool.meta.json",
		"tools/e/run.sh*": tool,
		"server.d/register.json": `{"version":1,"merge":["tools"],"tools":[
			{"name":"demo_e","path":"e/run.sh","capabilities":5}]}`,
		"server.d/server.meta.json": `{"name":"demo","Confine":"all"}`,
	}
	var got []string
	r := check1(t, fixture(t, sound, added), Options{})
	for _, f := range of(r, "declaration.unreadable") {
		got = append(got, fmt.Sprintf("%s %s:%d:%d: %s", f.Severity, f.Path, f.Line, f.Column, f.Message))
	}
	slices.Sort(got)
	want := []string{
		`error server.d/register.json:2:54: tools[0]: "capabilities" must be an array of strings`,
		`error server.d/server.meta.json:1:16: "Confine" is not known; did you mean confine?`,
		`error tools/a/tool.meta.json:2:2: "Confine" is not known; did you mean confine?`,
		`error tools/b/tool.sh:2:25: a member name expected`,
		`error tools/d/tool.meta.json:0:0: a link or no regular file, which is not read; put the file itself there`,
	}
	if !slices.Equal(got, want) || len(of(r, "metadata.invalid_json")) != 1 || len(of(r, "registry.reported")) > 0 {
		t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Entries of "confine" without effect are reported with the reason (CF-17, CF-61).
func TestConfine(t *testing.T) {
	added := files{
		"tools/demo-hello/tool.meta.json": `{"name":"demo_hello","description":"x","inputSchema":{"type":"object"},"confine":
			{"read":["server.d/env.sh"],"write":["prompts","scripts/complete.sh","work","data/link"],
			"exec":["work/own","data","data/plain","server.d/env.sh"]}}`,
		"server.d/env.sh*":       "#!/usr/bin/env bash\n",
		"server.d/register.json": `{"version":1,"completions":[{"name":"c","path":"scripts/complete.sh"}]}`,
		"scripts/complete.sh*":   "#!/usr/bin/env bash\n",
		"work/own*":              "#!/usr/bin/env bash\n",
		"work/link@":             "../data",
		"data/link@":             "../work/link",
		"data/plain":             "x",
	}
	var got []string
	for _, f := range of(check1(t, fixture(t, sound, added), Options{}), "confine.no_effect") {
		got = append(got, f.Message)
	}
	const changeable = "in a folder that a tool writes to, so "
	want := []string{
		"confine.read: server.d/env.sh is one of the server's own files",
		"confine.write: prompts is code that runs later, which no confined tool writes",
		"confine.write: scripts/complete.sh is code that runs later, which no confined tool writes",
		"confine.write: data/link leads over a link " + changeable + "it could lead anywhere",
		"confine.exec: work/own is " + changeable + "anything could be started there",
		"confine.exec: data is not an executable file",
		"confine.exec: data/plain is not an executable file",
		"confine.exec: server.d/env.sh is one of the server's own files",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// produce checks a project that breaks a rule.
func produce(t *testing.T, id string) *Result {
	t.Helper()
	if situation := situations[id]; situation != nil {
		return situation(t)
	}
	content, known := cases[id]
	if !known {
		t.Fatal("nothing produces it")
	}
	f := fixture(t, sound, content)
	if content == nil {
		f.Remove("server.d/server.meta.json")
	}
	return check1(t, f, Options{})
}

// T-34: the text contains the file name.
func TestPolicyReplacesDefault(t *testing.T) {
	f := of(produce(t, "policy.replaces_default"), "policy.replaces_default")
	want := `server.d/policy.sh replaces the default tool policy (deny-by-default allowlist and tool path checks); ` +
		`start mcp_tools_policy_check with: mcp_tools_policy_check_default "$@" || return 1`
	if len(f) != 1 || f[0].Text() != want || f[0].Path != "server.d/policy.sh" || f[0].Line != 1 {
		t.Errorf("T-34: %+v", f)
	}
}

// Findings have the file, and the line if possible.
func TestPlaces(t *testing.T) {
	r := check1(t, fixture(t, sound, cases["metadata.invalid_json"], files{
		"tools/demo-hello/tool.meta.json": "{\"name\":\"demo_hello\",\n\"inputSchema\":{\n\"type\":\"objct\"}}",
		"providers/other.sh*":             "#!/usr/bin/env bash\n\necho ${x,,}\n",
		"server.d/register.json":          "{\"version\":1,\n\"completions\":[{\"path\":\"a\"}]}",
	}), Options{})
	for id, want := range map[string]string{
		"metadata.invalid_json": "tools/x/tool.meta.json:2", "schema.invalid": "tools/demo-hello/tool.meta.json:3",
		"bash.newer": "providers/other.sh:3", "register.invalid": "server.d/register.json:2",
	} {
		f := of(r, id)
		if len(f) != 1 || fmt.Sprintf("%s:%d", f[0].Path, f[0].Line) != want {
			t.Errorf("%s: %+v, not at %s: %+v", id, f, want, r.Findings)
		}
	}
}

// CLI-1006: --fix makes scripts executable for users who may read them. It is idempotent and follows no link.
func TestFix(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no execute bits")
	}
	f := fixture(t, sound, files{"providers/other.sh": "#!/usr/bin/env bash\n", "outside.sh": "#!/bin/sh\n",
		"tools/x/tool.sh@": "../../outside.sh"})
	if err := os.Chmod(f.Path("providers/other.sh"), 0o640); err != nil {
		t.Fatal(err)
	}
	r := check1(t, f, Options{Fix: true})
	if made := of(r, "script.made_executable"); len(made) != 1 || r.Fixed != 1 || made[0].Path != "providers/other.sh" {
		t.Errorf("%+v", r)
	}
	mode := func(name string) os.FileMode {
		info, err := os.Stat(f.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if mode("providers/other.sh") != 0o750 || mode("outside.sh") != 0o644 {
		t.Errorf("modes %v, %v", mode("providers/other.sh"), mode("outside.sh"))
	}
	if r := check1(t, f, Options{Fix: true}); r.Fixed != 0 {
		t.Errorf("fixed again: %+v", r)
	}
}

// writable checks a project in which other users can write to files.
func writable(t *testing.T, names ...string) *Result {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	f := fixture(t, sound, toolIn("a", "demo_a"), toolIn("b", "demo_b"))
	for _, name := range names {
		if err := os.Chmod(f.Path(name), 0o757); err != nil {
			t.Fatal(err)
		}
	}
	return check1(t, f, Options{})
}

// CLI-1008, T-41a: files that other users can change are reported once for each folder.
func TestInsecure(t *testing.T) {
	found := of(writable(t, "tools", "providers/own.sh"), "path.insecure")
	var where []string
	for _, one := range found {
		where = append(where, one.Path)
	}
	if !slices.Equal(where, []string{"providers/own.sh", "tools"}) || !strings.Contains(found[1].Message, "chmod") {
		t.Errorf("%+v", found)
	}
}

// Checks of unreadable files return, and report the files.
func TestUnreadable(t *testing.T) {
	f := fixture(t, sound, files{
		"tools/pipe/tool.sh|": "", "tools/pipe2/tool.meta.json|": "", "prompts/loop@": "../prompts",
		"resources/r/r.meta.json|": "", "tools/demo-hello/samples/p.json|": "",
		"tools/deep/" + strings.Repeat("d/", 40) + "x": "",
	})
	f.Remove("mcpb.conf")
	f.Remove("server.d/requirements.json")
	f.Put(files{"mcpb.conf@": "mcpb.conf", "server.d/requirements.json|": ""})
	r := check1(t, f, Options{})
	if of(r, "requirements.invalid") == nil || of(r, "bundle.conf") == nil {
		t.Errorf("%+v", r.Findings)
	}
}

// unreadable checks a project with an unreadable file.
func unreadable(t *testing.T, name string) *Result {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	f := fixture(t, sound)
	if err := os.Chmod(f.Path(name), 0o100); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(f.Path(name), 0o700)
	if os.Geteuid() == 0 { // root may read every file
		for dir := f.Root; dir != filepath.Dir(dir) && filepath.Clean(os.TempDir()) != dir; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		defer asNobody(t)()
	}
	return check1(t, f, Options{})
}

// A folder that cannot be read has no missing files: their remedy would be to remove the folder.
func TestUnreadableFolder(t *testing.T) {
	for _, name := range []string{"tools/demo-hello", "resources/guide", "prompts/ask"} {
		result := unreadable(t, name)
		for _, f := range result.Findings {
			if strings.HasSuffix(f.ID, ".missing") {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// CLI-405: a check creates no files, even if samples run.
func TestLeavesNoTrace(t *testing.T) {
	f := fixture(t, sound)
	before := listing(t, f.Root)
	check1(t, f, Options{Samples: true, ShellCheck: true})
	if after := listing(t, f.Root); before != after {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func listing(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		info, _ := d.Info()
		fmt.Fprintln(&b, path, info.Mode(), info.ModTime())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// CLI-1010: a tool runs with its samples, and its results are validated.
func TestSamples(t *testing.T) {
	tool := func(name, script string) files {
		return merge(toolIn(name, "demo_"+name), files{
			"tools/" + name + "/tool.sh*": "#!/usr/bin/env bash\n" + script + "\n",
			"tools/" + name + "/tool.meta.json": `{"name":"demo_` + name + `","description":"x","timeoutSecs":1,
				"inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}}`,
			"tools/" + name + "/samples/one.json": `{}`,
		})
	}
	f := fixture(t, sound, tool("fails", "exit 3"), tool("wrong", `echo '{"m":1}'`), tool("silent", "true"),
		tool("hangs", "exec sleep 600"), tool("right", `echo '{"n":1}'`))
	began := time.Now()
	r := check1(t, f, Options{Samples: true})
	ids := map[string]string{}
	for _, f := range r.Findings {
		if strings.HasPrefix(f.ID, "sample.") {
			ids[f.Path] = f.ID
		}
	}
	for name, want := range map[string]string{
		"fails": "sample.failed", "wrong": "sample.failed", "silent": "sample.failed", "hangs": "sample.failed",
		"right": "sample.ran",
	} {
		if got := ids["tools/"+name+"/samples/one.json"]; got != want {
			t.Errorf("%s: %s, not %s: %+v", name, got, want, r.Findings)
		}
	}
	if time.Since(began) > time.Minute {
		t.Error("a script that hangs was waited for")
	}
	if ids["tools/demo-hello/samples/plain.json"] != "sample.ran" {
		t.Errorf("%v", ids)
	}
}

// samplesNowhere runs samples without a usable private directory.
func samplesNowhere(t *testing.T) *Result {
	f := fixture(t, sound)
	e := f.Project.Env
	e["MCPBASH_STATE_DIR"] = f.Path("mcpb.conf") + "/x"
	f.Open(e)
	return check1(t, f, Options{Samples: true})
}

// CLI-1010: if a directory has several tools, a sample names its tool.
func TestSampleNamesItsTool(t *testing.T) {
	f := fixture(t, sound, files{
		"tools/two/a.sh*": "#!/usr/bin/env bash\n", "tools/two/a.meta.json": `{"name":"demo_a","description":"x"}`,
		"tools/two/b.sh*": "#!/usr/bin/env bash\n", "tools/two/b.meta.json": `{"name":"demo_b","description":"x","inputSchema":
			{"type":"object","required":["n"]}}`,
		"tools/two/samples/none.json": `{}`, "tools/two/samples/a.json": `{"tool":"demo_a"}`,
		"tools/two/samples/b.json": `{"tool":"demo_b"}`,
	})
	r := check1(t, f, Options{})
	invalid, arguments := of(r, "sample.invalid"), of(r, "sample.arguments")
	if len(invalid) != 1 || invalid[0].Path != "tools/two/samples/none.json" || len(arguments) != 1 ||
		arguments[0].Path != "tools/two/samples/b.json" {
		t.Errorf("%+v, %+v", invalid, arguments)
	}
}

// quoteIt is the text of a fake shellcheck that prints one finding in its last file, and one in an unknown file.
const quoteIt = `for last; do :; done
printf '{"comments":[{"file":"%s","line":2,"level":"error","code":2086,"message":"Quote it"},' "$last"
echo '{"file":"/etc/passwd","line":1}]}'
exit 1`

// withShellcheck checks a project with a fake shellcheck.
func withShellcheck(t *testing.T, script string) *Result {
	t.Helper()
	f := fixture(t, sound)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "shellcheck"), []byte("#!/usr/bin/env bash\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	e := f.Project.Env
	e["PATH"] = bin + string(os.PathListSeparator) + e["PATH"]
	f.Open(e)
	if r := check1(t, f, Options{}); of(r, "shellcheck") != nil || of(r, "shellcheck.incomplete") != nil {
		t.Errorf("not wanted: %+v", r.Findings)
	}
	return check1(t, f, Options{ShellCheck: true})
}

// shellcheck runs if it is installed, with a timeout, and its findings are warnings.
func TestShellcheck(t *testing.T) {
	found := of(withShellcheck(t, quoteIt), "shellcheck")
	if len(found) != 2 || found[1].Path != "tools/demo-hello/tool.sh" || found[1].Line != 2 ||
		found[1].Severity != finding.Warning || found[1].Message != "Quote it (SC2086)" {
		t.Errorf("%+v", found)
	}
	// The output is limited.
	endless := `echo '{"comments":[]}'; exec head -c 17000000 /dev/zero`
	if r := withShellcheck(t, endless); of(r, "shellcheck.incomplete") == nil {
		t.Errorf("%+v", r.Findings)
	}
	if r := withShellcheck(t, "echo no JSON"); of(r, "shellcheck.incomplete") == nil || of(r, "shellcheck") != nil {
		t.Errorf("%+v", r.Findings)
	}
}

// CLI-1014: extglob patterns are valid if the script enables extglob.
func TestExtglob(t *testing.T) {
	script := "#!/usr/bin/env bash\nshopt -s extglob\ncase $1 in +(a|b)) echo ;; esac\n"
	if r := check1(t, fixture(t, sound, files{"providers/other.sh*": script}), Options{}); of(r, "script.syntax") != nil {
		t.Errorf("%+v", of(r, "script.syntax"))
	}
}

// CLI-1003: files that the server offers are not reported as missing.
func TestOfferedAllTheSame(t *testing.T) {
	f := fixture(t, sound, files{
		"tools/py/tool.py*":     "#!/usr/bin/env python3\n# mcp: {\"name\":\"demo_py\",\"description\":\"x\"}\n",
		"tools/scripts/add.sh*": "#!/usr/bin/env bash\n",
		"server.d/register.json": `{"version":1,"tools":[{"name":"demo_add","path":"scripts/add.sh","description":"x"}],
			"merge":["tools"]}`,
		"prompts/md/md.md": "Text", "prompts/flat.txt": "Text", "resources/dir/data.csv": "a,b",
	})
	for _, one := range check1(t, f, Options{}).Findings {
		if !one.Good {
			t.Errorf("%s %s", one.ID, one.Text())
		}
	}
}

// CLI-1009: files that register.sh may offer are not reported as missing, if the server would run it.
func TestRegisteredByHook(t *testing.T) {
	f := fixture(t, sound, files{
		"tools/scripts/notes.txt": "x", "prompts/x/x.png": "\x00", "server.d/register.sh*": "#!/usr/bin/env bash\n",
	})
	f.Remove("server.d/register.json")
	missing := func() int {
		r := check1(t, f, Options{})
		return len(of(r, "metadata.missing")) + len(of(r, "script.missing")) + len(of(r, "prompt.no_text"))
	}
	if n := missing(); n != 4 {
		t.Errorf("%d are missing, not 4", n)
	}
	e := f.Project.Env
	e["MCPBASH_ALLOW_PROJECT_HOOKS"] = "true"
	f.Open(e)
	if n := missing(); n != 0 {
		t.Errorf("%d are missing", n)
	}
}

// A cancelled validation returns the cause of its context.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := Project(ctx, fixture(t, sound).Project, Options{}); !errors.Is(err, why) {
		t.Error(err)
	}
}

// Each limit of a client is exceeded by one character.
func TestLimits(t *testing.T) {
	for i := range toolnames.Clients {
		c := &toolnames.Clients[i]
		if c.Max == 0 {
			continue
		}
		room := c.Room("demo")
		for n, want := range map[int]bool{room: false, room + 1: true} {
			f := fixture(t, sound, toolCalled(strings.Repeat("x", n)))
			told := false
			for _, one := range of(check1(t, f, Options{}), "name.too_long") {
				told = told || strings.Contains(one.Message, c.Name+" "+c.Over)
			}
			if told != want && n <= 128 {
				t.Errorf("%s: %d characters: told %v", c.Name, n, told)
			}
		}
	}
}

// A file with settings is read up to maxSmall bytes.
func TestSizes(t *testing.T) {
	for n, told := range map[int]bool{maxSmall: false, maxSmall + 1: true} {
		r := check1(t, fixture(t, sound, files{
			"server.d/requirements.json": "{}" + strings.Repeat(" ", n-2), "mcpb.conf": strings.Repeat("\n", n),
			"tools/demo-hello/samples/x.json": "{}" + strings.Repeat(" ", n-2),
		}), Options{})
		for _, id := range []string{"requirements.invalid", "bundle.conf", "sample.invalid"} {
			if found := of(r, id); (found != nil) != told {
				t.Errorf("%d bytes, %s: %+v", n, id, found)
			}
		}
	}
}

// Metadata is read to the same depth as by the server.
func TestDepth(t *testing.T) {
	for depth, told := range map[int]bool{item.MaxDepth: true, item.MaxDepth + 1: false} {
		name := "resources/" + strings.Repeat("d/", depth) + "x.meta.json"
		r := check1(t, fixture(t, sound, files{name: "{"}), Options{})
		if found := of(r, "metadata.invalid_json"); (found != nil) != told {
			t.Errorf("%d deep: %+v", depth, r.Findings)
		}
	}
}

// CLI-1006: --fix does not change a file that replaced the checked one, and reports it.
func TestFixAnotherFile(t *testing.T) {
	f := fixture(t, sound, files{"a.sh": "", "b.sh": ""})
	seen := folder.StampOfPath(f.Path("a.sh"))
	if err := os.Rename(f.Path("b.sh"), f.Path("a.sh")); err != nil {
		t.Fatal(err)
	}
	if makeExecutable(f.Path("a.sh"), seen) == nil {
		t.Error("changed")
	}
	c := &check{o: Options{Fix: true}, p: f.Project, result: &Result{}, broken: map[string]bool{},
		found: map[fileRule]bool{}}
	c.executable("script.not_executable", f.Path("a.sh"), "a.sh", seen)
	if list := c.result.Findings; len(list) != 1 || list[0].Text() != "a.sh - not executable (chmod failed)" {
		t.Errorf("%+v", list)
	}
}

// The time for very many tools is linear.
func TestManyTools(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 2000
	content := files{}
	for i := range n {
		content[fmt.Sprintf("tools/t%d/tool.meta.json", i)] = fmt.Sprintf(`{"name":"demo-t%d","descripton":"x"}`, i)
		content[fmt.Sprintf("tools/t%d/tool.py*", i)] = "#!/usr/bin/env python3\n"
	}
	r := check1(t, fixture(t, sound, content), Options{})
	if len(of(r, "metadata.unknown_key")) != n || len(of(r, "metadata.no_description")) != n ||
		len(of(r, "name.changed")) != n {
		t.Errorf("%d errors, %d warnings", r.Errors, r.Warnings)
	}
}

// CLI-1020, R-33a: a finding for resources whose provider cannot read their URI has the error of a read. Templates
// without a provider are reported, too.
func TestUnreadableURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"git://h/r#p":              `provider "git" cannot read git://h/r#p: Invalid git+https URI`,
		"git+https://h/r":          `provider "git" cannot read git+https://h/r: git resources must include #ref:path`,
		"https://h:0x/":            "blocked",
		"https://h/":               "",
		"git+https://h/r#m:p":      "",
		"ui://s/":                  `provider "ui" cannot read ui://s/: `,
		"echo://x":                 "",
		`x","provider":"echo`:      `provider "echo" cannot read x: Unsupported URI scheme for echo provider`,
		`h://x","provider":"https`: `provider "https" cannot read h://x: HTTPS provider requires https:// URI`,
	} {
		f := fixture(t, sound, files{"resources/x.meta.json": `{"name":"x","uri":"` + uri + `"}`})
		found := of(check1(t, f, Options{}), "resource.unreadable_uri")
		switch {
		case want == "" && found != nil, want != "" && len(found) != 1:
			t.Errorf("%s: %v", uri, found)
		case want != "" && (found[0].Path != "resources/x.meta.json" ||
			want != "blocked" && !strings.HasPrefix(found[0].Message, `resource "x": `+want)):
			t.Errorf("%s: %v", uri, found)
		}
	}
	// A provider script of the project may read any URI.
	f := fixture(t, sound, files{"resources/x.meta.json": `{"name":"x","uri":"git://h/r"}`,
		"providers/git.sh*": "#!/usr/bin/env bash\n"})
	if found := of(check1(t, f, Options{}), "resource.unreadable_uri"); found != nil {
		t.Error(found)
	}
	for template, id := range map[string]string{
		"git://h/{r}": "resource.unreadable_uri", "nosuch://{x}": "resource.no_provider", "own://{x}": "", "{s}://x": "",
		"git+https://h/{r}": "", "OWN://{x}": "resource.no_provider", "https://{h}/": "",
	} {
		f := fixture(t, sound, files{"resources/x.meta.json": `{"name":"x","uriTemplate":"` + template + `"}`})
		r := check1(t, f, Options{})
		for _, rule := range []string{"resource.unreadable_uri", "resource.no_provider"} {
			if found := of(r, rule); (found != nil) != (rule == id) {
				t.Errorf("%s: %v", template, found)
			}
		}
	}
}

// CLI-1021: a declared type that contradicts the file, in the words of the Bash edition.
func TestWrongTypes(t *testing.T) {
	for _, tc := range []struct{ name, content, declared, detected string }{
		{"a.txt", "\x89PNG\r\n\x1a\n\x00", "text/plain", "image/png"},
		{"a.txt", "\x00", "text/markdown", "application/octet-stream"},
		{"a.txt", "text", "image/png", "text/plain"}, {"a.json", "{}", "text/plain", "application/json"},
		{"a.md", "# a", "Text/Plain; charset=utf-8", "text/markdown"}, {"a.html", "<p>", "text/plain", "text/html"},
		{"a.xml", "<a/>", "text/plain", "application/xml"}, {"a.md", "# a", "text/x-notes", ""},
		{"a.toml", "a = 1", "text/plain", ""}, {"a.txt", "text", "application/json", ""},
		{"a.png", "\x89PNG\r\n\x1a\n\x00", "image/x-mine", ""}, {"a.png", "", "text/plain", ""},
		{"a.svg", "<svg/>", "image/svg+xml", ""},
	} {
		for meta, rest := range map[string]string{
			"resources/x/x.meta.json": `,"uri":"file://${MCPBASH_PROJECT_ROOT}/resources/x/` + tc.name + `","provider":"file"`,
			"resources/x/a.meta.json": "", "resources/x/resource.meta.json": "",
			"server.d/register.json": `,"uri":"file://./resources/x/` + tc.name + `"`,
		} {
			object := `{"name":"it","mimeType":"` + tc.declared + `"` + rest + `}`
			if strings.HasPrefix(meta, "server.d") {
				object = `{"version":1,"resources":[` + object + `]}`
			}
			f := fixture(t, sound, files{"resources/x/" + tc.name: tc.content, meta: object})
			var got []string
			for _, found := range of(check1(t, f, Options{}), "resource.wrong_type") {
				got = append(got, found.Path+" - "+found.Message)
			}
			var want []string
			if tc.detected != "" {
				want = []string{meta + ` - resource "it" declares mimeType "` + tc.declared + `" but its file is detected as "` +
					tc.detected + `"; update mimeType or remove it to use detection`}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s %s: %q, want %q", meta, tc.name, got, want)
			}
		}
	}
	f := fixture(t, sound, files{"resources/x.json": "{}", "resources/x.meta.json": `{"name":"x","mimeType":"text/plain"}`,
		"providers/file.sh*": "#!/usr/bin/env bash\n"})
	if found := of(check1(t, f, Options{}), "resource.wrong_type"); found != nil {
		t.Errorf("a provider of the project knows better: %v", found)
	}
	f = fixture(t, sound, files{"resources/x/resource.meta.json": `{"name":"x","description":"d"}`,
		"resources/x/text.md": "x"})
	if r := check1(t, f, Options{}); of(r, "resource.no_uri") != nil { // R-33a
		t.Error(r.Findings)
	}
}

// CLI-1063: findings name the clients that refuse or cut something, and nothing within the limits has one.
func TestLimitsOfClients(t *testing.T) {
	const refuse = "Claude Code, Claude Desktop, Kiro and opencode"
	input := func(schema string) files { return toolWith(`"inputSchema":{"type":"object",` + schema + `}`) }
	meta := func(member string) files { return files{"server.d/server.meta.json": `{"name":"demo",` + member + `}`} }
	sample := func(size string) files {
		return merge(toolWith(`"inputSchema":{"type":"object"}`), files{"tools/demo-hello/tool.sh*": "#!/usr/bin/env bash\n" +
			`printf '{"content":[{"type":"image","mimeType":"image/png","data":"'; head -c ` + size + ` /dev/zero | tr '\0' A
			printf '"}],"isError":false}'`, "tools/demo-hello/samples/plain.json": `{"arguments":{}}`})
	}
	for _, tc := range []struct {
		add  files
		want string // "" for none
	}{
		{input(`"oneOf":[{"required":["a"]}]`), `client.schema inputSchema has "oneOf" at the top; ` + refuse},
		{input(`"anyOf":[{"required":["a"]}]`), `client.schema inputSchema has "anyOf" at the top; ` + refuse},
		{input(`"allOf":[{"required":["a"]}]`), `client.schema inputSchema has "allOf" at the top; ` + refuse},
		{input(`"properties":{"a b":{"type":"string"}}`), `client.schema inputSchema has an argument "a b"; ` + refuse},
		{input(`"properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]},"anyOf":{"type":"string"}}`), ""},
		{input(`"properties":{"a":{"type":"array","items":{"type":["string","null"]}}}`),
			`client.type a list of types (["string","null"]) at properties.a.items; Gemini CLI, GitHub Copilot CLI and`},
		{input(`"$defs":{"a":{"type":"array"}}`), `client.type an array without "items" at $defs.a; Gemini CLI`},
		{input(`"properties":{"type":{"type":"string","enum":["a"],"default":["a"],"examples":[{"type":["a"]}]}}`), ""},
		{manyTools(49), ""},
		{manyTools(50), "client.page 51 tools, and the first page has 50; Factory Droid"},
		{merge(manyTools(50), meta(`"pageSize":200`)), ""},
		{merge(manyTools(200), meta(`"pageSize":200`)), "client.page 201 tools, and the first page has 200; opencode"},
		{toolWith(`"inputSchema":{"type":"object"},"description":"` + strings.Repeat("x", 2048) + `"`), ""},
		{toolWith(`"inputSchema":{"type":"object"},"description":"` + strings.Repeat("x", 2049) + `"`),
			"client.text the description has 2049 bytes; Claude Code"},
		{files{"server.d/server.instructions.md": strings.Repeat("x", 2048)}, ""},
		{files{"resources/map.png": picture(3932160), "resources/map.meta.json": `{"name":"map"}`}, ""},
		{files{"resources/map.png": picture(3932161), "resources/map.meta.json": `{"name":"map"}`},
			"client.picture a picture of 3932161 bytes; Claude Code and Claude Desktop"},
		{sample("5242880"), ""},
		{sample("5242884"), "client.picture a picture of 3932163 bytes; Claude Code and Claude Desktop"},
	} {
		r := check1(t, fixture(t, sound, tc.add), Options{Samples: true})
		id, parts, _ := strings.Cut(tc.want, " ")
		var got []string
		for _, f := range r.Findings {
			if strings.HasPrefix(f.ID, "client.") {
				got = append(got, f.ID+" "+f.Message)
			}
		}
		ok := len(got) == 0
		if tc.want != "" {
			ok = len(got) == 1 && strings.HasPrefix(got[0], id+" ")
			for _, part := range strings.Split(parts, "; ") {
				ok = ok && strings.Contains(got[0], part)
			}
		}
		if !ok {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// LR-40: a tool with known large results gets advice, and no other tool does.
func TestLargeResults(t *testing.T) {
	const bounded = `{"name":"demo","version":"1","largeResultBytes":32768}`
	const long = "#!/usr/bin/env bash\nprintf '%060000d' 1\n"
	shown := func(n string) string { return `"_meta":{"anthropic/maxResultSizeChars":` + n + `}` }
	for _, tc := range []struct {
		name, tool string
		more       files
		want       string // "ID N", or ""
	}{
		{"a large bound", `"largeResultBytes":60000`, nil, "large.shown 60000"},
		{"a very large bound", `"largeResultBytes":6000000`, nil, "large.shown 500000"},
		{"too few characters", `"largeResultBytes":60000,` + shown("55000"), nil, "large.shown 60000"},
		{"enough characters", `"largeResultBytes":60000,` + shown("60000"), nil, ""},
		{"a small bound", `"largeResultBytes":50000`, nil, ""},
		{"structured", `"largeResultBytes":60000,"outputSchema":{"type":"object"}`, nil, ""},
		{"never, in a bounded project", `"largeResultBytes":0`, files{"server.d/server.meta.json": bounded},
			"large.shown 500000"},
		{"never", `"largeResultBytes":0`, nil, ""},
		{"a long sample", `"timeoutSecs":9`, files{"tools/demo-hello/tool.sh*": long}, "large.shown 60000"},
		{"a long sample, in a bounded project", `"timeoutSecs":9`,
			files{"tools/demo-hello/tool.sh*": long, "server.d/server.meta.json": bounded}, ""},
		{"too many", shown("500001"), nil, "large.invalid 500000"},
		{"none", shown("0"), nil, "large.invalid above 0"},
	} {
		f := fixture(t, sound, toolWith(tc.tool), files{"tools/demo-hello/samples/plain.json": "{}"}, tc.more)
		got := ""
		for _, f := range check1(t, f, Options{Samples: true}).Findings {
			if strings.HasPrefix(f.ID, "large.") {
				got += f.ID + " " + f.Message
			}
		}
		id, n, _ := strings.Cut(tc.want, " ")
		if !strings.HasPrefix(got, id) || !strings.Contains(got, n) || tc.want == "" && got != "" {
			t.Errorf("%s: %s", tc.name, got)
		}
	}
}
