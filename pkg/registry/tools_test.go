package registry

import (
	"strings"
	"testing"

	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
)

// the files that are tools, and their names.
func TestWhichFilesAreTools(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files files
		want  string
	}{
		{"the usual", files{"tools/a/tool.sh": "", "tools/a/tool.meta.json": `{"name":"x","description":"d"}`}, "x"},
		{"called after the directory", files{"tools/a/tool.sh": ""}, "a"},
		{"directly in tools", files{"tools/a.sh": "", "tools/a.meta.json": `{"name":"x"}`}, ""},
		{"smoke test", files{"tools/a/smoke.sh*": "", "tools/a/smoke.meta.json": `{"name":"x"}`}, ""},
		{"runnable by its mode", files{"tools/a/tool*": "\x7fELF", "tools/b/tool.py*": "#!/usr/bin/python3"}, "a b"},
		{"runnable by its first bytes", files{"tools/a/tool.py": "#!/usr/bin/python3\n", "tools/b/tool.py": "import os"},
			"a"},
		{"runnable by its extension", files{"tools/a/tool.sh": "", "tools/b/tool.bash": "", "tools/c/tool.zsh": ""}, "a b"},
		{"alone in its directory", files{"tools/a/hello.sh": "", "tools/b/x.sh": "", "tools/b/y.sh": ""}, "hello x y"},
		{"beside one called tool", files{"tools/a/tool.sh": "", "tools/a/helper.sh": ""}, "a"},
		{"beside a described one", files{"tools/a/main.sh": "", "tools/a/main.meta.json": `{}`, "tools/a/helper.sh": ""},
			"main"},
		{"called tool beside a described one", files{"tools/a/main.sh": "", "tools/a/main.meta.json": `{}`,
			"tools/a/tool.sh": ""}, "a main"},
		{"bare further down", files{"tools/x/lib/util.sh": "", "tools/x/tool.sh": ""}, "x"},
		{"described further down", files{"tools/g/h/i/tool.sh": "", "tools/g/h/i/tool.meta.json": `{}`}, "i"},
		{"header further down", files{"tools/g/h/x.sh": "# mcp: {}\n"}, "x"},
		{"web pages", files{"tools/a/ui/run.sh": "# mcp: {}\n", "tools/a/tool.sh": "", "tools/a/b/ui/run.sh": "# mcp: {}\n"},
			"a run"},
		{"a directory called ui", files{"tools/ui/tool.sh": ""}, "ui"},
		{"metadata is no content", files{"tools/a/tool.meta.json*": `{}`, "tools/a/x.meta.json*": "#!"}, ""},
		{"full name first", files{"tools/a/t.sh": "", "tools/a/t.sh.meta.json": `{"name":"full"}`,
			"tools/a/t.meta.json": `{"name":"stem"}`}, "full"},
		{"malformed metadata does not describe", files{"tools/g/h/x.sh": "", "tools/g/h/x.meta.json": `{`}, ""},
		{"no extension", files{"tools/a/run*": "", "tools/a/run.meta.json": `{"name":"x"}`}, "x"},
		{"names with dots", files{"tools/a/a.b.sh": "", "tools/a/a.meta.json": `{"name":"x"}`, "tools/b/b.c.sh": "",
			"tools/b/b.c.meta.json": `{"name":"y"}`}, "a.b y"},
		{"empty", files{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want(t, newBed(t, nil, tc.files).names(), tc.want)
		})
	}
}

// without a tools directory, the registry is empty.
func TestNoToolsDirectory(t *testing.T) {
	b := newBed(t, nil, nil)
	b.Remove("tools")
	want(t, b.names(), "")
	want(t, b.Read(".registry/tools.json")[:20], "{\n  \"format_version\"")
}

// the content directory may be a link, and may be outside of the project.
func TestToolsDirectoryElsewhere(t *testing.T) {
	b := newBed(t, nil, files{"other/a/tool.sh": "", "real/b/tool.sh": ""})
	b.reopen(project.Env{"MCPBASH_TOOLS_DIR": b.Path("other")}, Options{})
	want(t, b.names(), "a")
	b.Remove("tools")
	b.Put(files{"tools@": "real"})
	b.reopen(nil, Options{})
	want(t, b.names(), "b")
}

// all fields, and the order of the keys. R-13: numbers and strings stay as written.
func TestToolItem(t *testing.T) {
	b := newBed(t, nil, files{
		"tools/weather/tool.sh":       "",
		"tools/weather/ui/index.html": "<p>",
		"tools/weather/icon.svg":      "<svg/>",
		"tools/weather/tool.meta.json": `{
			"annotations": {"readOnlyHint": true},
			"securityLevel": "Elevated", "capabilities": ["network", "filesystem", "Network"],
			"confine": {"exec": ["git", 5], "connect": [443, 70000], "read": [], "sing": ["a"], "write": "x"}, "version": "1.2.0", "id": "net.weather",
			"requires": ["elicitation"], "validateInput": true,
			"icons": [{"src": "icon.svg"}, 5, {"src": "data:image/png;base64,AA"}],
			"outputSchema": {"type": "object", "properties": {"t": {"type": "number", "minimum": 1e3}}},
			"maxTimeoutSecs": "120", "progressExtendsTimeout": true, "timeoutHint": "Try a smaller area", "timeoutSecs": 5,
			"inputSchema": {"properties": {"z": {"default": 1.0}, "a": {"maximum": 9223372036854775807}}, "type": "object"},
			"description": "Get\ncurrent weather \u00e9", "title": "Weather", "name": "weather",
			"unknown": 1, "title": "Wetter"
		}`,
	})
	wantJSON(t, strings.Join(b.items(), "\n"), `{"name":"weather","title":"Wetter","description":"Get\ncurrent weather `+
		`\u00e9","path":"weather/tool.sh",
		"inputSchema":{"properties":{"z":{"default":1.0},"a":{"maximum":9223372036854775807}},"type":"object"},
		"timeoutSecs":5,
		"timeoutHint":"Try a smaller area","progressExtendsTimeout":true,"maxTimeoutSecs":120,
		"outputSchema":{"type":"object","properties":{"t":{"type":"number","minimum":1e3}}},
		"icons":[{"src":"data:image/svg+xml;base64,PHN2Zy8+","mimeType":"image/svg+xml"},{"src":"data:image/png;base64,`+
		`AA"}],
		"validateInput":true,"annotations":{"readOnlyHint":true},"requires":["elicitation"],"id":"net.weather",
		"version":"1.2.0",
		"capabilities":["FileSystem","Network"],"confine":{"exec":["git"],"connect":[443]},"securityLevel":"elevated",
		"_meta":{"ui":{"resourceUri":"ui://demo/weather","visibility":["model","app"]}}}`)
	b.WantLog("warning mcp.tools: tools/weather/tool.meta.json: icons[1]: must be an object with the text src; left out",
		"warning mcp.tools: tools/weather/tool.sh: confine.exec: not a path: 5; left out",
		"warning mcp.tools: tools/weather/tool.sh: confine.connect: not a port: 70000; left out",
		"warning mcp.tools: tools/weather/tool.sh: confine.sing is unknown; known are read, write, exec and connect; "+
			"left out",
		"warning mcp.tools: tools/weather/tool.sh: confine.write is not an array; left out")
}

// a script without metadata.
func TestBareToolItem(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	wantJSON(t, strings.Join(b.items(), "\n"), `{"name":"a","description":"","path":"a/tool.sh",
		"inputSchema":{"type":"object","properties":{}},"timeoutSecs":null}`)
}

// the inline header.
func TestHeader(t *testing.T) {
	long := strings.Repeat("#", 5000) + "\n"
	for _, tc := range []struct{ text, want string }{
		{"# mcp: {\"name\":\"x\"}", "x"},
		{"#!/bin/bash\n# mcp:{\"name\":\"x\"}\n", "x"},
		{"#!/bin/bash\r\n# mcp: {\"name\":\"x\"}\r\n", "x"},
		{"<!-- mcp: {\"name\":\"x\"} -->", "x"},
		{"// mcp: see below\n// mcp: {\"name\":\"x\"}", "x"},
		{"# mcp: is mcp: {\"name\":\"x\"}", "x"},
		{"# mcp: {broken\n# mcp: {\"name\":\"x\"}", "x"},
		{"# mcp: [\"name\"]\n", "a"},
		{"# mcp:\n{\"name\":\"x\"}", "a"},
		{strings.Repeat("\n", 9) + "# mcp: {\"name\":\"x\"}", "x"},
		{strings.Repeat("\n", 10) + "# mcp: {\"name\":\"x\"}", "a"},
		{long + "# mcp: {\"name\":\"x\"}", "x"},
		{strings.Repeat("#", 4090) + "\n# mcp: {\"name\":\"x\"}\n", "x"},
		{strings.Repeat(long, 9) + "# mcp: {\"name\":\"x\"}", "x"},
		{strings.Repeat("#", 64<<10) + "\n# mcp: {\"name\":\"x\"}", "a"},
		{"# mcp: {\"name\":\"x\"} mcp: {\"name\":\"y\"}", "x"},
		{"# MCP: {\"name\":\"x\"}", "a"},
	} {
		b := newBed(t, nil, files{"tools/a/tool.sh": tc.text})
		if got := b.names(); got != tc.want {
			t.Errorf("%.60q: %s, want %s", tc.text, got, tc.want)
		}
	}
}

// the precedence of each field. A value that is null or has the wrong form counts as missing.
func TestPrecedence(t *testing.T) {
	b := newBed(t, nil, files{
		"tools/a/tool.sh": `# mcp: {"name":"header","description":"from header","timeoutSecs":9,` +
			`"timeoutHint":"hint","arguments":{"type":"object","properties":{"h":{}}}}`,
		"tools/a/tool.meta.json": `{"name":null,"description":5,"timeoutSecs":"x","timeoutHint":"","annotations":[],
			"_meta":{"k":1},"progressExtendsTimeout":"true"}`,
	})
	wantJSON(t, strings.Join(b.items(), "\n"), `{"name":"header","description":"from header","path":"a/tool.sh",
		"inputSchema":{"type":"object","properties":{"h":{}}},"timeoutSecs":9,"_meta":{"k":1}}`)
	b.WantLog(
		`warning mcp.tools: tools/a/tool.meta.json: "description" must be a string; ignored`,
		`warning mcp.tools: tools/a/tool.meta.json: "timeoutSecs" must be a positive integer; ignored`,
		`warning mcp.tools: tools/a/tool.meta.json: "annotations" must be an object; ignored`,
		`warning mcp.tools: tools/a/tool.meta.json: "progressExtendsTimeout" must be true or false; ignored`,
	)
}

// CF-63: faulty metadata.
func TestMetadataFaults(t *testing.T) {
	for _, tc := range []struct{ name, text, name2, warning string }{
		{"carriage returns", "{\r\n\"name\": \"x\"\r\n}\r\n", "x", ""},
		{"one in a string", "{\"name\": \"\rx\"}", "x", ""},
		{"byte order mark", "\xEF\xBB\xBF{\"name\":\"x\"}", "x", ""},
		{"malformed", "{\n \"name\": }", "a", ":2:10: a value expected"},
		{"array", "[]", "a", ":1:1: not a JSON object"},
		{"empty", "", "a", ":1:1: unexpected end"},
		{"not UTF-8", "{\"name\":\"\xff\"}", "a", ":1:1: invalid UTF-8"},
		{"two values", "{} {}", "a", ":1:4: text after the value"},
		{"too large", `{"name":"x"` + strings.Repeat(" ", 1<<20) + "}", "a", ": larger than 1048576 bytes"},
		{"largest", `{"name":"x"` + strings.Repeat(" ", 1<<20-12) + "}", "x", ""},
		{"deep", `{"name":"x","_meta":` + strings.Repeat(`[`, 200000), "a", ":1:10020: nested too deeply"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/a/tool.meta.json": tc.text})
			want(t, b.names(), tc.name2)
			if tc.warning == "" {
				b.WantLog()
			} else {
				b.WantLog("warning mcp.tools: tools/a/tool.meta.json" + tc.warning + "; the tool does not run")
				_, err := access.DeclarationOf(b.tools().Items[0].JSON)
				want(t, err.Error(), "tools/a/tool.meta.json"+tc.warning)
			}
		})
	}
}

// names of tools.
func TestNames(t *testing.T) {
	long := strings.Repeat("n", 129)
	for _, tc := range []struct{ name, want, log string }{
		{`plain_Name-1`, "plain_Name-1", ""},
		{`a.b`, "a.b", ""},
		{strings.Repeat("n", 65), strings.Repeat("n", 65), "warning mcp.tools: Tool name '" + strings.Repeat("n",
			65) + "' (tools/d/tool.sh) is refused by some clients: use only letters, digits, _, - and ., at most 64"},
		{``, "", "error mcp.tools: Skipping tool tools/d/tool.sh: its name is empty"},
		{" \\t", "", "error mcp.tools: Skipping tool tools/d/tool.sh: its name is empty"},
		{long, "", "error mcp.tools: Skipping tool tools/d/tool.sh: its name is longer than 128 bytes"},
		{`a\nb`, "", "error mcp.tools: Skipping tool tools/d/tool.sh: its name contains control characters"},
		{`a\u007f`, "", "error mcp.tools: Skipping tool tools/d/tool.sh: its name contains control characters"},
	} {
		b := newBed(t, nil, files{"tools/d/tool.sh": "", "tools/d/tool.meta.json": `{"name":"` + tc.name + `"}`})
		want(t, b.names(), tc.want)
		if tc.log == "" {
			b.WantLog()
		} else {
			b.WantLog(tc.log)
		}
	}
}

// the order of tools, and duplicate names.
func TestOrderAndDuplicates(t *testing.T) {
	meta := func(name string) string { return `{"name":"` + name + `"}` }
	b := newBed(t, nil, files{
		"tools/z/tool.sh": "", "tools/z/tool.meta.json": meta("B"),
		"tools/a/tool.sh": "", "tools/a/tool.meta.json": meta("same"),
		"tools/a-b/tool.sh": "", "tools/a-b/tool.meta.json": meta("same"),
		"tools/a/sub/tool.sh": "", "tools/a/sub/tool.meta.json": meta("same"),
		"tools/y/tool.sh": "", "tools/y/tool.meta.json": meta("a"),
		"tools/x/tool.sh": "", "tools/x/tool.meta.json": meta("ä"),
	})
	want(t, b.names(), "B a same ä")
	if got := rawjson.TextOf(b.tools().Items[2].JSON, "path"); got != "a-b/tool.sh" {
		t.Errorf("kept %s", got)
	}
	b.WantLog(
		"warning mcp.tools: Duplicate tool name 'same' in tools/a/sub/tool.sh; keeping tools/a-b/tool.sh",
		"warning mcp.tools: Duplicate tool name 'same' in tools/a/tool.sh; keeping tools/a-b/tool.sh",
		"warning mcp.tools: Tool name 'ä' (tools/x/tool.sh) is refused by some clients: use only letters, digits, _, - "+
			"and ., at most 64",
	)
}

// a duplicate id.
func TestDuplicateIDs(t *testing.T) {
	b := newBed(t, nil, files{
		"tools/a/tool.sh": "", "tools/a/tool.meta.json": `{"name":"one","id":"two"}`,
		"tools/b/tool.sh": "", "tools/b/tool.meta.json": `{"name":"two"}`,
		"tools/c/tool.sh": "", "tools/c/tool.meta.json": `{"name":"three","id":"two"}`,
		"tools/d/tool.sh": "", "tools/d/tool.meta.json": `{"name":"four","id":"one"}`,
	})
	want(t, b.names(), "four one")
	b.WantLog(
		"warning mcp.tools: Duplicate tool id 'two' in tools/b/tool.sh; keeping tools/a/tool.sh",
		"warning mcp.tools: Duplicate tool id 'two' in tools/c/tool.sh; keeping tools/a/tool.sh",
	)
}

// the input schema of a tool.
func TestInputSchema(t *testing.T) {
	for _, tc := range []struct{ meta, want string }{
		{`{}`, `{"type":"object","properties":{}}`},
		{`{"inputSchema":5}`, `{"type":"object","properties":{}}`},
		{`{"inputSchema":{}}`, `{"type":"object","properties":{}}`},
		{`{"inputSchema":{"properties":{"a":{}},"x":1}}`, `{"properties":{"a":{}},"x":1,"type":"object"}`},
		{`{"inputSchema":{"type":"","properties":{}}}`, `{"properties":{},"type":"object"}`},
		{`{"inputSchema":{"type":null,"properties":[]}}`, `{"type":"object","properties":{}}`},
		{`{"inputSchema":{"type":"string"}}`, `{"type":"object","properties":{}}`},
		{`{"inputSchema":{"type":["object","null"],"properties":{}}}`, `{"properties":{},"type":"object"}`},
		{`{"arguments":{"type":"object","properties":{"a":{}}}}`, `{"type":"object","properties":{"a":{}}}`},
		{`{"arguments":{"properties":{"a":{}}},"inputSchema":{"properties":{"b":{}}}}`,
			`{"properties":{"b":{}},"type":"object"}`},
		{`{"parameters":{"required":[{"name":"url","description":"URL to fetch","type":"string"}],
			"optional":[{"name":"limit","description":"Bytes","parameter_type":"integer"},{"name":"x"}]}}`,
			`{"type":"object","properties":{"url":{"type":"string","description":"URL to fetch"},"limit":{"type":"integer",
				"description":"Bytes"},"x":{"type":"string"}},"required":["url"]}`},
		{`{"parameters":{"required":[{"name":"a","required":true,"writeOnly":false}],
			"optional":[{"name":"b","writeOnly":true}]}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","writeOnly":true}},"required":["a"]}`},
		{`{"parameters":{"optional":[]},"inputSchema":{"properties":{"b":{}}}}`, `{"properties":{"b":{}},"type":"object"}`},
		{`{"parameters":{}}`, `{"type":"object","properties":{}}`},
	} {
		b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/a/tool.meta.json": tc.meta})
		if got := string(rawjson.Get(b.tools().Items[0].JSON, "inputSchema")); !jsontest.Same(got, tc.want) {
			t.Errorf("%s:\n%s, want\n%s", tc.meta, got, tc.want)
		}
	}
}

// a discovered tool with faulty parameters loses all of them.
func TestFaultyParameters(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/a/tool.meta.json": `{"parameters":[]}`})
	want(t, string(rawjson.Get(b.tools().Items[0].JSON, "inputSchema")), `{"type":"object","properties":{}}`)
	b.WantLog("warning mcp.tools: tools/a/tool.meta.json: parameters: not an object; parameters ignored")
}

// RES-305: the link of a tool to its page.
func TestUILink(t *testing.T) {
	both := `"visibility":["model","app"]`
	for _, tc := range []struct{ name, ui, meta, want string }{
		{"page", "index.html", `{}`, `{"ui":{"resourceUri":"ui://demo/my%20tool",` + both + `}}`},
		{"description", "ui.meta.json", `{}`, `{"ui":{"resourceUri":"ui://demo/my%20tool",` + both + `}}`},
		{"empty directory", "", `{}`, ``},
		{"another file", "app.js", `{}`, ``},
		{"given", "index.html", `{"_meta":{"ui":{"resourceUri":"ui://other/x","a":1}}}`,
			`{"ui":{"resourceUri":"ui://other/x","a":1}}`},
		{"given empty", "index.html", `{"_meta":{"b":2,"ui":{"resourceUri":"","a":1}}}`,
			`{"b":2,"ui":{"resourceUri":"ui://demo/my%20tool","a":1,` + both + `}}`},
		{"other visibility", "index.html", `{"_meta":{"ui":{"visibility":["app"]}}}`,
			`{"ui":{"visibility":["app"],"resourceUri":"ui://demo/my%20tool"}}`},
		{"null visibility", "index.html", `{"_meta":{"ui":{"visibility":null}}}`,
			`{"ui":{"visibility":["model","app"],"resourceUri":"ui://demo/my%20tool"}}`},
		{"flat", "", `{"_meta":{"ui/resourceUri":"ui://f/x","c":3}}`, `{"c":3,"ui":{"resourceUri":"ui://f/x"}}`},
		{"flat beside page", "index.html", `{"_meta":{"ui/resourceUri":"ui://f/x","ui":{"a":1}}}`,
			`{"ui":{"a":1,"resourceUri":"ui://f/x"}}`},
		{"both given", "", `{"_meta":{"ui/resourceUri":"ui://f/x","ui":{"resourceUri":"ui://g/y"}}}`,
			`{"ui":{"resourceUri":"ui://g/y"}}`},
		{"flat empty", "index.html", `{"_meta":{"ui/resourceUri":""}}`,
			`{"ui":{"resourceUri":"ui://demo/my%20tool",` + both + `}}`},
		{"flat empty without page", "", `{"_meta":{"ui/resourceUri":"","c":3}}`, `{"c":3}`},
		{"no page", "", `{"_meta":{"ui":{"resourceUri":""}}}`, `{"ui":{"resourceUri":""}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t, nil, files{"tools/my tool/tool.sh": "", "tools/my tool/tool.meta.json": tc.meta,
				"tools/my tool/ui/" + tc.ui: ""})
			want(t, string(rawjson.Get(b.tools().Items[0].JSON, "_meta")), tc.want)
		})
	}
	b := newBed(t, nil, files{"server.d/server.meta.json": `{"name":"Ünï co"}`, "tools/a/tool.sh": "",
		"tools/a/ui/index.html": ""})
	b.reopen(project.Env{"MCPBASH_SERVER_NAME": "nobody"}, Options{})
	want(t, string(rawjson.Path(b.tools().Items[0].JSON, "_meta", "ui", "resourceUri")), `"ui://%C3%9Cn%C3%AF%20co/a"`)
}

// a symbolic link does not count as a page.
func TestUILinkNotThroughLinks(t *testing.T) {
	b := newBed(t, nil, files{
		"page/index.html": "", "tools/a/tool.sh": "", "tools/a/ui@": "../../page",
		"tools/b/tool.sh": "", "tools/b/ui/index.html@": "../../../page/index.html",
	})
	for _, item := range b.tools().Items {
		if v := rawjson.Get(item.JSON, "_meta"); v != nil {
			t.Errorf("%s: %s", item.Name, v)
		}
	}
}

// id, version and capabilities of a tool.
func TestRegistrationFields(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "",
		"tools/a/tool.meta.json": `{"id":"-x","version":"1.0","capabilities":["Edit","cook","NETWORK","cook"],
		"securityLevel":"secret","annotations":{"readOnlyHint":true,"openWorldHint":false}}`})
	wantJSON(t, strings.Join(b.items(), ""), `{"name":"a","description":"","path":"a/tool.sh",
		"inputSchema":{"type":"object","properties":{}},"timeoutSecs":null,
		"annotations":{"readOnlyHint":true,"openWorldHint":false},"capabilities":["Network","Edit","cook"],
		"securityLevel":"full"}`)
	b.WantLog(
		`warning mcp.tools: tools/a/tool.meta.json: "id" must be of letters, digits, '_', '.' and '-', at most 128, the `+
			`first a letter or digit; ignored`,
		`warning mcp.tools: tools/a/tool.meta.json: "version" must be a semantic version; ignored`,
		`warning mcp.tools: tools/a/tool.sh: unknown capability "cook"; only level full covers the tool`,
		`warning mcp.tools: tools/a/tool.sh: capability Edit contradicts annotation readOnlyHint: true`,
		`warning mcp.tools: tools/a/tool.sh: capability Network contradicts annotation openWorldHint: false`,
		`warning mcp.tools: tools/a/tool.sh: unknown security level "secret"; taken for full`,
	)
	b = newBed(t, nil, files{"tools/a/tool.sh": "", "tools/a/tool.meta.json": `{"capabilities":[]}`, "tools/b/tool.sh": "",
		"tools/b/tool.meta.json": `{"capabilities":"Edit"}`})
	want(t, string(rawjson.Get(b.tools().Items[0].JSON, "capabilities")), "[]")
	want(t, string(rawjson.Get(b.tools().Items[1].JSON, "capabilities")), "")
	b.WantLog(`warning mcp.tools: tools/b/tool.meta.json: "capabilities" must be an array of strings; ` +
		`the tool does not run`)
}

// icons of a tool.
func TestIcons(t *testing.T) {
	b := newBed(t, nil, files{
		"icons/a.png": "png", "secret@": "/etc/hosts",
		"tools/a/tool.sh": "", "tools/a/tool.meta.json": `{"icons":[{"src":"../../icons/a.png","sizes":["16x16"]},
			{"src":"missing.svg"},{"src":"../../secret"}]}`,
		"tools/b/tool.sh": "", "tools/b/tool.meta.json": `{"icons":[{"src":"../../../outside.svg"}]}`,
		"tools/c/tool.sh": `# mcp: {"icons":[{"src":"c.gif"}]}`, "tools/c/c.gif": "gif",
	})
	var icons []string
	for _, item := range b.tools().Items {
		icons = append(icons, string(rawjson.Get(item.JSON, "icons")))
	}
	want(t, strings.Join(icons, "|"), `[{"src":"data:image/png;base64,cG5n","sizes":["16x16"],"mimeType":"image/png"}]||`+
		`[{"src":"data:image/gif;base64,Z2lm","mimeType":"image/gif"}]`)
	b.WantLog(
		"warning mcp.tools: tools/a/tool.sh: icon missing.svg: no such file",
		"warning mcp.tools: tools/a/tool.sh: icon ../../secret: outside the project: /etc/hosts",
		"warning mcp.tools: tools/b/tool.sh: icon ../../../outside.svg: no such file",
	)
}
