package registry

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

var noTTL = project.Env{"MCP_TOOLS_TTL": "0", "MCP_RESOURCES_TTL": "0", "MCP_RESOURCES_TEMPLATES_TTL": "0",
	"MCP_PROMPTS_TTL": "0", "MCP_UI_TTL": "0"}

// the items of a declared kind.
func TestDeclaredKinds(t *testing.T) {
	discovered := files{"tools/a/tool.sh": "", "tools/b/tool.sh": `# mcp: {"id":"bee"}`, "tools/m.sh": ""}
	for _, tc := range []struct{ json, want string }{
		{`{"version":1}`, "a b"},
		{`{"version":1,"tools":null}`, "a b"},
		{`{"version":1,"tools":[]}`, ""},
		{`{"version":1.0,"tools":[{"name":"z","path":"m.sh"},{"name":"m","path":"m.sh"}]}`, "z m"},
		{`{"version":1,"tools":[{"name":"m","path":"m.sh"}],"merge":["tools"]}`, "a b m"},
		{`{"version":1,"tools":[{"name":"a","path":"m.sh"}],"merge":["tools"]}`, "a b"},
		{`{"version":1,"tools":[{"name":"c","path":"a/tool.sh"}],"merge":["tools"]}`, "b c"},
		{`{"version":1,"tools":[{"name":"c","path":"./a//tool.sh"}],"merge":["tools"]}`, "b c"},
		{`{"version":1,"tools":[],"merge":["tools"]}`, "a b"},
		{`{"version":1,"merge":["tools","prompts"],"prompts":[]}`, "a b"},
		{`{"version":1,"exclude":["a"]}`, "b"},
		{`{"version":1,"exclude":["bee"]}`, "a"},
		{`{"version":1,"tools":[{"name":"m","path":"m.sh"},{"name":"n","path":"n.sh"}],"exclude":["m"]}`, "n"},
		{`{"version":1,"tools":[{"name":"m","path":"m.sh"}],"merge":["tools"],"exclude":["m","b"]}`, "a"},
		{`{"version":1,"exclude":null,"merge":null,"_meta":{"x":1},"resourceTemplates":[5]}`, "a b"},
		{`{"version":2,"version":1,"tools":[1],"tools":[]}`, ""}, // of repeated members, the last one counts
	} {
		b := newBed(t, nil, discovered)
		b.Put(files{"server.d/register.json": tc.json})
		if got := b.names(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.json, got, tc.want)
		}
	}
}

// entries become complete items.
func TestDeclaredItems(t *testing.T) {
	b := newBed(t, nil, files{
		"tools/i.svg": "1", "icons/j.png": "2", "tools/sub/ui/index.html": "", "tools/ui/index.html": "",
		"server.d/register.json": `{"version":1,"tools":[
			{"zeta":[1.0],"path":"m.sh","name":"m","timeoutSecs":"8","arguments":{"properties":{}},"icons":[{"src":"i.svg"},{"src":"icons/j.png"}],"alpha":null},
			{"name":"n","path":"sub/x.sh","annotations":5},
			{"name":"m","path":"other.sh"},
			{"name":"..","path":"../../x.sh"},
			{"name":" ","path":"y.sh"}
		]}`,
	})
	want(t, strings.Join(b.items(), "\n"), strings.Join([]string{
		`{"name":"m","description":"","path":"m.sh","inputSchema":{"properties":{},"type":"object"},"timeoutSecs":8,` +
			`"icons":[{"src":"data:image/svg+xml;base64,MQ==","mimeType":"image/svg+xml"},{"src":"data:image/png;base64,Mg==",` +
			`"mimeType":"image/png"}],"zeta":[1.0],"alpha":null}`,
		`{"name":"n","description":"","path":"sub/x.sh","inputSchema":{"type":"object","properties":{}},"timeoutSecs":null,` +
			`"_meta":{"ui":{"resourceUri":"ui://demo/sub","visibility":["model","app"]}}}`,
		`{"name":"..","description":"","path":"../../x.sh","inputSchema":{"type":"object","properties":{}},` +
			`"timeoutSecs":null}`,
	}, "\n"))
	b.WantLog(
		`warning mcp.tools: register.json: tools[1]: "annotations" must be an object; ignored`,
		`warning mcp.tools: Duplicate tool name 'm' in tools/other.sh; keeping tools/m.sh`,
		`error mcp.tools: Skipping tool register.json: tools[4]: its name is empty`,
	)
}

// The files of declared items are checked for changes.
func TestDeclaredItemsFollowTheirFiles(t *testing.T) {
	b := newBed(t, noTTL, files{"tools/i.svg": "1", "tools/sub/": "",
		"server.d/register.json": `{"version":1,"tools":[{"name":"m","path":"sub/m.sh","icons":[{"src":"i.svg"}]}]}`})
	first := b.tools()
	if b.tools() != first {
		t.Error("another list")
	}
	b.Put(files{"tools/i.svg": "22"})
	want(t, string(rawjson.Get(b.tools().Items[0].JSON, "icons")),
		`[{"src":"data:image/svg+xml;base64,MjI=","mimeType":"image/svg+xml"}]`)
	b.Put(files{"tools/sub/ui/index.html": ""})
	want(t, string(rawjson.Path(b.tools().Items[0].JSON, "_meta", "ui", "resourceUri")), `"ui://demo/sub"`)
	b.Remove("tools/i.svg")
	b.Remove("tools/sub/ui")
	want(t, b.items()[0], `{"name":"m","description":"","path":"sub/m.sh","inputSchema":{"type":"object","properties":{}`+
		`},"timeoutSecs":null}`)
	b.Put(files{"server.d/register.json": `{"version":1,"tools":[{"name":"k","path":"k.sh"}]}`})
	want(t, b.names(), "k")
	b.Remove("server.d/register.json")
	want(t, b.names(), "")
}

// all messages about faults, also for several kinds.
func TestDeclaredFaults(t *testing.T) {
	const parsing = "Declarative register.json parsing/validation failed: "
	for _, tc := range []struct{ json, want string }{
		{"", parsing + "line 1, column 1: unexpected end"},
		{"{\n  \"version\": 1,\n}", parsing + "line 3, column 1: a member name expected"},
		{"[]", parsing + "register.json must be a JSON object"},
		{`{}`, parsing + "register.json version must be a number"},
		{`{"version":"1"}`, parsing + "register.json version must be a number"},
		{`{"version":2}`, parsing + "register.json version must be 1"},
		{`{"version":1,"b":1,"tools":[],"a":2}`, parsing + "register.json unknown keys: b,a"},
		{`{"version":1,"tols":[],"a":2}`, parsing + "register.json unknown keys: tols (did you mean tools?),a"},
		{`{"version":1,"ui":[]}`, parsing + "register.json unknown keys: ui"},
		{`{"version":1,"_meta":[]}`, parsing + "register.json _meta must be an object"},
		{`{"version":1,"tools":{}}`, parsing + "register.json tools must be an array or null"},
		{`{"version":1,"merge":"tools"}`, parsing + "register.json merge must be an array of tools, resources, prompts"},
		{`{"version":1,"merge":["completions"]}`, parsing + "register.json merge must be an array of tools, resources, " +
			"prompts"},
		{`{"version":1,"exclude":[1]}`, parsing + "register.json exclude must be an array of strings"},
		{"{\"version\":1} // comment", parsing + "line 1, column 15: text after the value"},
		{`{"version":1,"_meta":` + layers(101) + `}`, parsing + "nested more than 100 levels deep"},
		{"\xEF\xBB\xBF{\"version\":1,}", parsing + "line 1, column 14: a member name expected"},
		{`{"version":1,"_meta":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`,
			"Declarative register.json exceeded 1048576 bytes"},
	} {
		b := newBed(t, noTTL, files{"tools/a/tool.sh": "", "server.d/register.json": tc.json})
		if got := b.reason(); got != tc.want {
			t.Errorf("%.60s:\n%s, want\n%s", tc.json, got, tc.want)
		}
		b.reason()
		b.WantLog("warning mcp.tools: " + tc.want) // once
		b.Remove("server.d/register.json")
		want(t, b.names(), "a")
	}
}

// a fault of a kind affects only the kind, and a fault of an entry only the
// entry.
func TestDeclaredFaultsOfOneKind(t *testing.T) {
	const good = `{"name":"z","path":"m.sh","uri":"x://z","uriTemplate":"x://{y}"}`
	for _, tc := range []struct {
		kind  *kinds.Kind
		value string
		names string // "" when the kind fails
		want  string
	}{
		{kinds.Tools, "{}", "", "Declarative register.json parsing/validation failed: register.json tools must be an array " +
			"or null"},
		{kinds.Templates, `"x"`, "", "Declarative register.json parsing/validation failed: register.json resourceTemplates " +
			"must be an array or null"},
		{kinds.Completions, "false", "", "Declarative register.json parsing/validation failed: register.json completions " +
			"must be an array or null"},
		{kinds.Tools, "[" + good + `, {"name":"a"}]`, "z", `tools[1]: missing "path"; left out`},
		{kinds.Tools, "[5, " + good + "]", "z", "tools[0]: not an object; left out"},
		{kinds.Tools, `[{"name":5,"path":"b"}, ` + good + "]", "z", `tools[0]: "name" must be a string; left out`},
		{kinds.Tools, `[{"name":"","path":"b"}, ` + good + "]", "z", `tools[0]: missing "name"; left out`},
		{kinds.Tools, `[{"name":" ","path":"b"}, ` + good + "]", "z", `tools[0]: its name is empty`},
		{kinds.Resources, `[{"name":"a"}, ` + good + "]", "z", `resources[0]: missing "uri"; left out`},
		{kinds.Prompts, `[{"path":"a"}, ` + good + "]", "z", `prompts[0]: missing "name"; left out`},
		{kinds.Templates, `[{"name":"q"}, {"name":"q","uriTemplate":"x://{y}"}]`, "q",
			`resourceTemplates[0]: Manual template missing required 'uriTemplate' field; left out`},
		{kinds.Completions, `[{"name":"a","path":null}, ` + good + "]", "z",
			"completions[0]: Completion path  invalid or outside server root; left out"},
	} {
		b := newBed(t, noTTL, files{"tools/a/tool.sh": "", "m.sh": "", "resources/a.txt": "", "prompts/a.txt": "",
			"server.d/register.json": "{\"version\": 1,\n " + `"` + tc.kind.Key + `":` + tc.value + "}"})
		report := b.refresh("")
		for i, k := range report.Kinds {
			fault := someOf(k.Dropped)
			if k.Err != nil {
				fault = k.Err.Error()
			}
			status := b.Status("jq").Kinds[i]
			switch {
			case k.Kind != tc.kind && (fault != "" || status.Error != "" || status.Status != "present"):
				t.Errorf("%s of %s: %s: %s, %+v", tc.value, tc.kind.Key, k.Kind.Key, fault, status)
			case k.Kind == tc.kind && (!strings.HasSuffix(fault, tc.want) || status.Error != fault):
				t.Errorf("%s of %s: %q, %+v, want %s", tc.value, tc.kind.Key, fault, status, tc.want)
			case k.Kind == tc.kind && tc.names == "" && (k.Err == nil || status.Status != "failed"):
				t.Errorf("%s of %s: has not failed: %+v", tc.value, tc.kind.Key, status)
			case k.Kind == tc.kind && tc.names != "" &&
				(b.named(k.Kind) != tc.names || status.Status != "degraded" || !strings.Contains(fault, "register.json:2:")):
				t.Errorf("%s of %s: %s, %s, %+v", tc.value, tc.kind.Key, b.named(k.Kind), fault, status)
			}
		}
		if !report.Failed() || report.Fatal() || !b.Status("jq").Failed() {
			t.Errorf("%s of %s: failed %v, %v", tc.value, tc.kind.Key, report.Failed(), b.Status("jq").Failed())
		}
	}
}

// the item that an invalid entry would replace is not offered, because the entry may have restricted it.
func TestFaultyEntryHidesWhatItReplaces(t *testing.T) {
	b := newBed(t, noTTL, files{"tools/a/tool.sh": "", "tools/b/tool.sh": `# mcp: {"id":"bee"}`, "tools/c/tool.sh": "",
		"tools/d/tool.sh": ""})
	b.Put(files{"server.d/register.json": `{"version":1,"merge":["tools"],"tools":[
		{"name":"a","securityLevel":"full"},{"id":"bee","path":7},{"path":"c/tool.sh"},{}]}`})
	want(t, b.names(), "d")
	report := b.refresh("")
	want(t, len(report.Kinds[0].Dropped), 4)
	want(t, someOf(report.Kinds[0].Dropped), `register.json:2:3: tools[0]: missing "path"; left out; `+
		`register.json:2:39: tools[1]: missing "name"; left out; `+
		`register.json:2:61: tools[2]: missing "name"; left out; and 1 more`)
}

// for kinds other than tools, the messages have the level error.
func TestDeclaredFaultLevel(t *testing.T) {
	if kinds.Tools.FaultLevel != mcp.Warning {
		t.Error(kinds.Tools.FaultLevel)
	}
	for _, k := range kinds.All {
		if k != kinds.Tools && k.FaultLevel != mcp.Err {
			t.Error(k.Key, k.FaultLevel)
		}
	}
}

// R-144a, R-145: a register.json that other users can change.
func TestDeclaredUntrusted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("neither modes nor owners")
	}
	const file = "server.d/register.json"
	good := files{"tools/a/tool.sh": "", file: `{"version":1}`}
	for name, tc := range map[string]struct {
		change func(b *bed)
		want   string
	}{
		"file": {func(b *bed) { os.Chmod(b.Path(file), 0o757) }, file + " is group- or world-writable (fix: chmod g-w,o-w " +
			file + ")"},
		"directory": {func(b *bed) { os.Chmod(b.Path("server.d"), 0o757) },
			"server.d is group- or world-writable (fix: chmod g-w,o-w server.d)"},
		"root": {func(b *bed) { os.Chmod(b.Root, 0o757) },
			"the project root is group- or world-writable (fix: chmod g-w,o-w .)"},
		"link": {func(b *bed) {
			b.Remove(file)
			b.Put(files{"r.json": `{"version":1}`, file + "@": "../r.json"})
		}, file + " is a symlink (replace it with a regular file)"},
		"dangling link": {func(b *bed) {
			b.Remove(file)
			b.Put(files{file + "@": "nowhere"})
		}, file + " is a symlink (replace it with a regular file)"},
		"linked directory": {func(b *bed) {
			os.Rename(b.Path("server.d"), b.Path("elsewhere"))
			b.Put(files{"server.d@": "elsewhere"})
		}, "server.d is a symlink (replace it with a directory)"},
		"owner": {func(b *bed) {
			if os.Chown(b.Path(file), 12345, -1) != nil {
				b.T.Skip("only root gives files away")
			}
		}, file + " (owned by uid 12345, not by root)"},
		"directory in its place": {func(b *bed) {
			b.Remove(file)
			b.Put(files{file + "/": ""})
		}, file + " is not a regular file"},
		"FIFO": {func(b *bed) {
			b.Remove(file)
			b.Put(files{file + "|": ""})
		}, file + " is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, nil, good)
			tc.change(b)
			want(t, b.reason(), "Declarative register.json refused: "+tc.want)
		})
	}
}

// a file that is too large, and a lock that is not available.
func TestDeclaredApplyFailed(t *testing.T) {
	b := newBed(t, project.Env{"MCPBASH_REGISTRY_MAX_BYTES": "100"},
		files{"server.d/register.json": `{"version":1,"tools":[{"name":"a","path":"b"}]}`})
	want(t, b.reason(), "Declarative register.json apply failed for tools")
	b.WantLog("error mcp.tools: Tool registry exceeds 100 byte cap",
		"warning mcp.tools: Declarative register.json apply failed for tools")
}

// register.sh does not run if register.json is invalid.
func TestDeclaredBeforeHook(t *testing.T) {
	env := project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}
	b := newBed(t, env, files{"server.d/register.json": "[", "server.d/register.sh*": "touch ran", "tools/a/tool.sh": ""})
	b.reopen(env, b.hooks())
	b.reason()
	b.Put(files{"server.d/register.json": `{"version":1}`})
	b.reopen(env, b.hooks())
	want(t, b.names(), "a")
	if folder.StampOfPath(b.Path("ran")).Exists() {
		t.Error("register.sh ran")
	}
}
