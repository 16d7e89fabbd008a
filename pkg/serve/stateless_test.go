//go:build unix

package serve

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
)

// meta returns a _meta of the stateless revision. capabilities and its other members are JSON text.
func meta(capabilities string, more ...string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":` + capabilities + strings.Join(more, "") + `}`
}

// ask sends a stateless request and returns its response without the envelope. params are
// members, "" for none.
func (c *testClient) ask(method, params string, more ...string) string {
	c.t.Helper()
	if params != "" {
		params += ","
	}
	return c.request(method, `{`+params+meta("{}", more...)+`}`)
}

const answers = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"proj-one","version":"9.1.0","title":"Proj One"}`

// titled is the project hello with a title.
func titled(t *testing.T) string {
	list := maps.Clone(hello)
	list["server.d/server.meta.json"] = `{"name":"proj-one","version":"9.1.0","title":"Proj One"}`
	return files(t, list)
}

// M-1 to M-3, M-5, M-10 to M-12: the requirements of stateless requests.
func TestStatelessRequests(t *testing.T) {
	c := start(t, titled(t), nil)
	defer c.finish()
	expect := func(got, want string) {
		t.Helper()
		if !strings.HasPrefix(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	const complete = `"result":{"resultType":"complete",`
	call := `"name":"hello","arguments":{"a":1}`
	// M-5: the first message may be a call.
	expect(c.ask("tools/call", call), complete+`"name":"hello","content":[{"type":"text","text":"Hello {\"a\":1}"}],`+
		`"isError":false,`+answers+`,"exitCode":0}}`)
	// M-1: some encoders escape each slash.
	expect(c.request("tools/call", `{`+call+`,`+strings.ReplaceAll(meta("{}"), "/", `\/`)+`}`), complete)
	expect(c.request("tools/call", `{`+call+`}`), `"error":{"code":-32000,"message":"Server not initialized"}`)
	invalid := func(data string) string {
		return `"error":{"code":-32602,"message":"Invalid params","data":"` + data + `"}`
	}
	const prefix = "io.modelcontextprotocol/"
	for _, tc := range []struct{ meta, want string }{
		{`{"` + prefix + `clientCapabilities":{}}`, invalid("_meta must have " + prefix + "protocolVersion, a string")},
		{`{"` + prefix + `clientInfo":{}}`, invalid("_meta must have " + prefix + "protocolVersion, a string")},
		{`{"` + prefix + `logLevel":"info"}`, invalid("_meta must have " + prefix + "protocolVersion, a string")},
		{`{"` + prefix + `protocolVersion":7}`, invalid("_meta must have " + prefix + "protocolVersion, a string")},
		{`{"` + prefix + `protocolVersion":"2026-07-28"}`,
			invalid("_meta must have " + prefix + "clientCapabilities, an object")},
		{`{"` + prefix + `protocolVersion":"2026-07-28","` + prefix + `clientCapabilities":null}`,
			invalid("_meta must have " + prefix + "clientCapabilities, an object")},
		{`{"` + prefix + `protocolVersion":"2026-07-28","` + prefix + `clientCapabilities":{},"` + prefix +
			`logLevel":"loud"}`,
			invalid(prefix + "logLevel must be one of the eight names of RFC 5424, in lower case")},
		{`{"` + prefix + `protocolVersion":"1900-01-01","` + prefix + `clientCapabilities":{}}`,
			`"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28","2025-11-25",` +
				`"2025-06-18","2025-03-26","2024-11-05"],"requested":"1900-01-01"}}`},
		{`{"` + prefix + `protocolVersion":"2025-11-25","` + prefix + `clientCapabilities":{}}`,
			`"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28",`},
	} {
		expect(c.request("tools/list", `{"_meta":`+tc.meta+`}`), tc.want)
	}
	expect(c.request("server/discover", `{}`), invalid("_meta must have "+prefix+"protocolVersion, a string"))
	// M-2: both protocols on one stream.
	c.handshake("2025-11-25", "{}")
	expect(c.request("tools/call", `{`+call+`}`), `"result":{"name":"hello"`)
	expect(c.ask("tools/call", call), complete+`"name":"hello"`)
	expect(c.request("shutdown", ""), `"result":{}`)
	expect(c.ask("tools/list", ""), `"error":{"code":-32603,"message":"Server shutting down"}`)
}

// M-20, M-21.
func TestDiscover(t *testing.T) {
	project := map[string]string{
		"server.d/server.meta.json":       `{"name":"proj-one","version":"9.1.0","title":"T","description":"d"}`,
		"server.d/server.instructions.md": "Use me.\n",
	}
	root := files(t, project)
	c := start(t, root, nil)
	const supported = `"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18",` +
		`"2025-03-26","2024-11-05"],"capabilities":{"logging":{},`
	const families = `"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},` +
		`"prompts":{"listChanged":true},"completions":{},"extensions":{`
	const rest = `"io.modelcontextprotocol/tasks":{}}},"instructions":"Use me.","ttlMs":5000,"cacheScope":"public",` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"proj-one","version":"9.1.0","title":"T","description":"d"}}}`
	if got := c.ask("server/discover", ""); got != supported+families+rest {
		t.Error(got)
	}
	got := c.request("server/discover", `{`+meta(`{"extensions":{"io.modelcontextprotocol/ui":{}}}`)+`}`)
	if want := supported + families +
		`"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]},` + rest; got != want {
		t.Error(got)
	}
	c.end()
	c.quiet()
	if left, _ := os.ReadDir(filepath.Join(root, ".registry")); len(left) > 0 { // M-5
		t.Errorf("discovery has left %v", left)
	}
}

// M-22, M-90, modern section 6: the methods of the stateless protocol.
func TestStatelessMethods(t *testing.T) {
	c := start(t, titled(t), nil)
	defer c.finish()
	for _, method := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe",
		"resources/unsubscribe", "shutdown", "exit", "tasks/list", "notifications/message", "x"} {
		if got := c.ask(method, ""); !strings.HasPrefix(got, `"error":{"code":-32601,`) {
			t.Errorf("%s: %s", method, got)
		}
	}
	for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
		got := c.ask(method, "")
		if !strings.HasPrefix(got, `"result":{"resultType":"complete","ttlMs":5000,"cacheScope":"public","`) ||
			!strings.Contains(got, `"_meta":{"mcpbash/total":`) || !strings.Contains(got, answers[len(`"_meta":{`):]) {
			t.Errorf("%s: %s", method, got)
		}
	}
	minimal := start(t, files(t, hello), project.Env{"MCPBASH_FORCE_MINIMAL": "true"})
	if got := minimal.ask("tools/list", ""); !strings.HasPrefix(got, `"error":{"code":-32601,`) {
		t.Error(got)
	}
	if got := minimal.ask("server/discover", ""); !strings.Contains(got, `"capabilities":{"logging":{}},`) {
		t.Error(got)
	}
}

// M-30, M-31, M-34, M-40: results and errors of the kinds.
func TestStatelessResults(t *testing.T) {
	c := start(t, files(t, map[string]string{
		"server.d/server.meta.json": `{"name":"proj-one","version":"9.1.0","title":"Proj One"}`,
		"tools/own/tool.sh": `echo '{"content":[{"type":"text","text":"x"}],"isError":false,"resultType":"task","x":1,` +
			`"_meta":{"io.modelcontextprotocol/serverInfo":{},"io.modelcontextprotocol/other":1,"mine":2}}'`,
		"tools/list/tool.sh":         `echo '[1,2]'`,
		"tools/list/tool.meta.json":  `{"name":"list","outputSchema":{"type":"array"}}`,
		"tools/null/tool.sh":         `echo null`,
		"tools/null/tool.meta.json":  `{"name":"null","outputSchema":{"type":["null","object"]}}`,
		"tools/none/tool.sh":         `echo null`,
		"tools/wrong/tool.sh":        `echo 7`,
		"tools/wrong/tool.meta.json": `{"name":"wrong","outputSchema":{"type":"array"}}`,
		"tools/code/tool.sh": `echo '{"code":-32002,"message":"mine","data":{"a":1}}' ` +
			`>"$MCP_TOOL_ERROR_FILE"; exit 1`,
		"tools/needs/tool.sh":        `echo ran`,
		"tools/needs/tool.meta.json": `{"name":"needs","requires":["elicitation.url","sampling"]}`,
		"resources/a.txt":            "A",
		"resources/a.meta.json":      `{"name":"a","uri":"file:///a.txt","path":"a.txt"}`,
		"completions/city.sh":        `echo '["Bern"]'`,
	}), nil)
	defer c.finish()
	const complete = `"result":{"resultType":"complete",`
	for _, tc := range []struct{ tool, want string }{
		{"own", complete + `"name":"own","x":1,"content":[{"type":"text","text":"x"}],"isError":false,` + answers +
			`,"mine":2,"exitCode":0}}`},
		{"list", complete + `"name":"list","content":[{"type":"text","text":"[1,2]\n"}],"isError":false,` +
			`"structuredContent":[1,2],`},
		{"null", complete + `"name":"null","content":[{"type":"text","text":"null\n"}],"isError":false,` +
			`"structuredContent":null,`},
		{"none", complete + `"name":"none","content":[{"type":"text","text":"null\n"}],"isError":false,"_meta"`},
		{"wrong", complete + `"name":"wrong","content":[{"type":"text","text":"Tool output does not satisfy outputSchema"}`},
		{"code", `"error":{"code":-32603,"message":"mine","data":{"a":1}}`},
		{"needs", `"error":{"code":-32021,"message":"Tool 'needs' requires a capability that the client does not declare",` +
			`"data":{"requiredCapabilities":{"elicitation":{"url":{}},"sampling":{}}}}`},
		{"nobody", `"error":{"code":-32602,"message":"Tool 'nobody' not found"`},
	} {
		if got := c.ask("tools/call", `"name":"`+tc.tool+`"`); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %s\nwant %s", tc.tool, got, tc.want)
		}
	}
	if got := c.ask("tools/list", ""); strings.Count(got, `"outputSchema"`) != 3 {
		t.Error(got)
	}
	uri := "file://" + c.root + "/resources/nobody.txt"
	if got := c.ask("resources/read", `"uri":"`+uri+`"`); !strings.HasPrefix(got,
		`"error":{"code":-32602,"message":"`) || !strings.Contains(got, `"data":{"uri":"`+uri+`"}`) {
		t.Error(got)
	}
}

// M-13: a trace goes on in scripts.
func TestStatelessTrace(t *testing.T) {
	c := start(t, files(t, map[string]string{
		"tools/trace/tool.sh": `echo "$TRACEPARENT $MCP_ROOTS_COUNT $MCP_ELICIT_SUPPORTED"`,
	}), project.Env{"MCPBASH_ROOTS": t.TempDir()})
	defer c.finish()
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	if got := text(t, c.ask("tools/call", `"name":"trace"`, `,"traceparent":"`+parent+`"`)); got != parent+" 1 0\n" {
		t.Errorf("%q", got)
	}
}

// M-35: a page of a list ends before it is too long for a client, and the next one goes on.
func TestPagesByBytes(t *testing.T) {
	list := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		list["tools/"+name+"/tool.sh"] = "echo " + name
		list["tools/"+name+"/tool.meta.json"] = `{"name":"` + name + `","description":"` + strings.Repeat("x", 9000) + `"}`
	}
	c := start(t, files(t, list), project.Env{"MCPBASH_REGISTRY_MAX_BYTES": "30000"})
	defer c.finish()
	c.handshake("2025-11-25", "{}")
	first := c.request("tools/list", "{}")
	_, cursor, more := strings.Cut(first, `"nextCursor":`)
	if !more || strings.Count(first, `"description"`) != 2 {
		t.Fatalf("%.300s", first)
	}
	second := c.request("tools/list", `{"cursor":`+cursor)
	if strings.Count(second, `"description"`) != 1 || strings.Contains(second, "nextCursor") {
		t.Errorf("%.300s", second)
	}
}

// M-73: a request that runs at the end of input gets a moment. Then its script is ended.
func TestStatelessEndOfInput(t *testing.T) {
	held := files(t, nil)
	begun, hasBegun := mark(t, held, "begun")
	ended, hasEnded := mark(t, held, "ended")
	soon := filepath.Join(held, "soon")
	c := start(t, files(t, map[string]string{
		"tools/soon/tool.sh": waitAt(soon) + "echo done",
		"tools/long/tool.sh": `trap 'echo >"` + ended + `"; exit' TERM; echo >"` + begun +
			`"; sleep 600 & wait`,
	}), nil)
	c.send(message("1", "tools/call", `{"name":"long",`+meta("{}")+`}`))
	c.send(message("2", "tools/call", `{"name":"soon",`+meta("{}")+`}`))
	hasBegun()
	c.in.Close()
	openGate(t, soon)
	if code := c.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	hasEnded()
	if got := text(t, c.response("2")); got != "done\n" {
		t.Errorf("%q", got)
	}
	c.quiet()
}

// M-14: the stateless protocol requires the shared secret too, and no script sees it.
func TestStatelessToken(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef"
	c := start(t, files(t, map[string]string{"tools/meta/tool.sh": `echo "$MCP_TOOL_META_JSON"`}),
		project.Env{"MCPBASH_REMOTE_TOKEN": secret})
	defer c.finish()
	refused := `"error":{"code":-32602,"message":"Remote token missing or invalid"}`
	for _, got := range []string{c.ask("server/discover", ""), c.ask("tools/list", ""),
		c.ask("tools/call", `"name":"meta"`, `,"mcpbash/remoteToken":"wrong"`)} {
		if got != refused {
			t.Error(got)
		}
	}
	got := c.ask("tools/call", `"name":"meta"`, `,"mcpbash/remoteToken":"`+secret+`"`)
	if strings.Contains(got, secret) || !strings.Contains(got, "clientCapabilities") {
		t.Error(got)
	}
}

// M-35: no line is longer than clients accept, in both protocols, unless the operator allows it.
func TestLongestLine(t *testing.T) {
	list := map[string]string{"tools/long/tool.sh": `head -c 9500000 /dev/zero | tr '\0' x`}
	const refused = `"error":{"code":-32603,"message":"Response exceeded response size limit"}`
	c := start(t, files(t, list), nil)
	if got := c.ask("tools/call", `"name":"long"`); got != refused {
		t.Errorf("%.200s", got)
	}
	c.handshake("2025-11-25", "{}")
	if got := c.call("long", "{}"); got != refused {
		t.Errorf("%.200s", got)
	}
	c.finish()
	c = start(t, files(t, list), project.Env{"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "10000000"})
	defer c.finish()
	if got := c.ask("tools/call", `"name":"long"`); len(got) < 9500000 {
		t.Errorf("%.200s", got)
	}
}

// T-238: both protocols know the name of the client.
func TestNamedClients(t *testing.T) {
	const (
		info = `{"name":"claude-code","version":"1"}`
		text = `{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}],` +
			`"structuredContent":{"a":1},"isError":false}`
	)
	list := map[string]string{"tools/x/tool.sh": "#!/bin/bash\necho '" + text + "'\n"}
	c := start(t, files(t, list), nil)
	if got := c.ask("tools/call", `"name":"x"`); !strings.Contains(got, "structuredContent") {
		t.Errorf("stateless, another client: %s", got)
	}
	got := c.ask("tools/call", `"name":"x"`, `,"io.modelcontextprotocol/clientInfo":`+info)
	if strings.Contains(got, "structuredContent") || !strings.Contains(got, "image/png") {
		t.Errorf("stateless: %s", got)
	}
	c = start(t, files(t, list), nil)
	c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":`+info+`}`)
	c.send(message("", "notifications/initialized", ""))
	if got := c.call("x", "{}"); strings.Contains(got, "structuredContent") || !strings.Contains(got, "image/png") {
		t.Errorf("handshake: %s", got)
	}
}
