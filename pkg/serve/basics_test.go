//go:build unix

package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

var hello = map[string]string{
	"server.d/server.meta.json":  `{"name":"proj-one","version":"9.1.0"}`,
	"tools/hello/tool.sh":        `printf 'Hello %s' "$MCP_TOOL_ARGS_JSON"`,
	"tools/hello/tool.meta.json": `{"name":"hello","description":"Say hello"}`,
}

// P-800 to P-807: the greeting in each revision.
func TestInitialize(t *testing.T) {
	full := map[string]string{
		"server.d/server.meta.json": `{"name":"proj-one","version":"9.1.0","title":"T","description":"d",` +
			`"websiteUrl":"https://example.com","icons":[{"src":"https://example.com/x.svg"}]}`,
		"server.d/server.instructions.md": "Use me \"well\".\n\n\tLine2\n",
	}
	const info = `"serverInfo":{"name":"proj-one","version":"9.1.0","title":"T","description":"d",` +
		`"websiteUrl":"https://example.com","icons":[{"src":"https://example.com/x.svg"}]}`
	const instructions = `,"instructions":"Use me \"well\".\n\n\tLine2"`
	const families = `,"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{}`
	for _, tc := range []struct{ asked, capabilities, want string }{
		{`"2025-11-25"`, `{"extensions":{"io.modelcontextprotocol/ui":{}}}`,
			`"2025-11-25","capabilities":{"logging":{},"tools":{"listChanged":true}` + families +
				`,"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}},` + info +
				instructions},
		{`"2025-06-18"`, `{}`, `"2025-06-18","capabilities":{"logging":{},"tools":{"listChanged":true}` + families +
			`},` + info + instructions},
		{`"2025-03-26"`, `{}`, `"2025-03-26","capabilities":{"logging":{},"tools":{},"resources":{"subscribe":true},` +
			`"prompts":{}},` + info + instructions},
		{`"2024-11-05"`, `{}`, `"2024-11-05","capabilities":{"logging":{},"tools":{},"resources":{"subscribe":true},` +
			`"prompts":{}},` + info},
		{`""`, `{}`, `"2025-11-25","capabilities":{"logging":{},"tools":{"listChanged":true}` + families + `},` + info +
			instructions},
		{`"2026-07-28"`, `null`, `"2025-11-25","capabilities":{"logging":{},"tools":{"listChanged":true}` + families +
			`},` + info + instructions},
	} {
		c := start(t, files(t, full), nil)
		if got := c.request("initialize",
			`{"protocolVersion":`+tc.asked+`,"capabilities":`+tc.capabilities+`}`); got != `"result":{"protocolVersion":`+
			tc.want+`}` {
			t.Errorf("%s:\n got %s\nwant %s", tc.asked, got, tc.want)
		}
		c.end()
		future := strings.Contains(c.stderr.String(),
			"mcp-bash: unsupported protocol version 2026-07-28; answering with 2025-11-25\n")
		if future != (tc.asked == `"2026-07-28"`) {
			t.Errorf("%s: stderr %q", tc.asked, c.stderr)
		}
	}
	c := start(t, files(t, full), nil)
	// P-800: the error for a version of another type repeats the value.
	for _, bad := range []string{`7`, `42.0`, `false`, `["2025-11-25"]`, `{"a":"b"}`} {
		want := `"error":{"code":-32602,"message":` + string(rawjson.Quote("Unsupported protocol version: "+bad+
			`. Supported: 2025-11-25,2025-06-18,2025-03-26,2024-11-05`)) + `,"data":{"supported":["2025-11-25","2025-06-18",` +
			`"2025-03-26","2024-11-05"],"requested":` + bad + `}}`
		if got := c.request("initialize", `{"protocolVersion":`+bad+`}`); got != want {
			t.Errorf("P-800: %s: %s", bad, got)
		}
	}
	if got := c.request("initialize", "{\"protocolVersion\":[1,\r2]}"); !strings.HasSuffix(got, `"requested":[1,2]}}`) {
		t.Errorf("P-405: %q", got)
	}
	// P-700: it may be retried
	if got := c.request("initialize", ""); !strings.HasPrefix(got, `"result":{"protocolVersion":"2025-11-25"`) {
		t.Error(got)
	}
	if got := c.request("initialize", `{}`); got != `"error":{"code":-32600,"message":"Server already initialized"}` {
		t.Error(got)
	}
}

// P-800: a client of a revision that is not supported, older or newer, is offered ours. In minimal mode too.
func TestUnsupportedVersion(t *testing.T) {
	for _, env := range []project.Env{nil, {"MCPBASH_FORCE_MINIMAL": "true"}} {
		for asked, shown := range map[string]string{"2024-10-07": "2024-10-07", "2026-07-28": "2026-07-28",
			"2025-11-5": "2025-11-5",
			"yesterday": "yesterday", `1\n\u001b[31m2`: "", strings.Repeat("9", 200): strings.Repeat("9", 64) + ";"} {
			c := start(t, files(t, hello), env)
			if got := c.request("initialize", `{"protocolVersion":"`+asked+`"}`); !strings.HasPrefix(got,
				`"result":{"protocolVersion":"2025-11-25"`) {
				t.Errorf("P-800: %s: %s", asked, got)
			}
			c.end()
			said := c.stderr.String()
			if !strings.Contains(said, "mcp-bash: unsupported protocol version "+shown) || strings.Contains(said, "\x1b") ||
				strings.Contains(said, "\n2") {
				t.Errorf("P-800: %s: stderr %q", asked, said)
			}
		}
	}
	c := start(t, files(t, hello), nil)
	if got := c.request("initialize", `{"protocolVersion":null}`); !strings.HasPrefix(got,
		`"result":{"protocolVersion":"2025-11-25"`) {
		t.Errorf("P-800: null: %s", got)
	}
	c.end()
	if said := c.stderr.String(); strings.Contains(said, "unsupported") {
		t.Errorf("P-800: null: stderr %q", said)
	}
}

// protocol section 7: what is answered in which state.
func TestLifecycle(t *testing.T) {
	c := start(t, files(t, hello), nil)
	expect := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	const notInitialized = `"error":{"code":-32000,"message":"Server not initialized"}`
	const shuttingDown = `"error":{"code":-32003,"message":"Server shutting down"}`
	c.send(message("", "notifications/initialized", "")) // ignored: no handshake
	expect(c.request("ping", ""), `"result":{}`)
	expect(c.request("tools/list", ""), notInitialized)
	expect(c.request("nonsense", ""), `"error":{"code":-32601,"message":"Method not found"}`) // P-701
	expect(c.request("logging/setLevel", `{"level":"debug"}`), notInitialized)
	expect(c.request("exit", ""), `"error":{"code":-32005,"message":"Shutdown not requested"}`)
	c.request("initialize", "{}")
	expect(c.request("ping", ""), `"result":{}`)
	expect(c.request("tools/list", ""), notInitialized)
	expect(c.request("logging/setLevel", `{"level":"debug"}`), notInitialized)
	c.send(message(`"as request"`, "initialized", "")) // P-505: acts, no response
	c.send(message("", "notifications/initialized", ""))
	c.send(message("", "exit", "")) // ignored
	if got := c.request("tools/list", ""); !strings.HasPrefix(got, `"result":{"tools":[{"name":"hello"`) {
		t.Error(got)
	}
	expect(c.request("exit", ""), `"error":{"code":-32005,"message":"Shutdown not requested"}`)
	expect(c.request("shutdown", ""), `"result":{}`)
	expect(c.request("shutdown", ""), `"result":{}`)
	expect(c.request("ping", ""), shuttingDown)
	expect(c.request("tools/list", ""), shuttingDown)
	expect(c.request("initialize", "{}"), shuttingDown)
	expect(c.request("nonsense", ""), shuttingDown)
	expect(c.request("exit", ""), `"result":{}`)
	if code := c.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// P-503, P-504, P-2402.
func TestMethods(t *testing.T) {
	c := ready(t, hello, nil)
	for method, want := range map[string]string{
		"logging/x": "Unknown logging method", "tools/x": "Unknown tools method",
		"resources/x": "Unknown resources method",
		"prompts/x":   "Unknown prompts method", "completion/x": "Unknown completion method",
		"roots/list":            "Unknown roots method",
		"notifications/roots/x": "Unknown roots method", "notifications/roots/list_changed": "Unknown roots method",
		"x": "Method not found", "toolsx": "Method not found",
	} {
		if got := c.request(method, ""); got != `"error":{"code":-32601,"message":"`+want+`"}` {
			t.Errorf("%s: %s", method, got)
		}
	}
	if got := c.request("notifications/message",
		""); got != `"error":{"code":-32601,"message":"Invalid Request",`+
		`"data":"notifications/message is server-originated"}` {
		t.Error(got)
	}
	for _, notification := range []string{"ping", "tools/list", "tools/call", "logging/setLevel", "x", "tools/x",
		"notifications/message", "initialize"} {
		c.send(message("", notification, "")) // P-502: never answered
	}
	if got := c.request("tools/call", `[1]`); got != `"error":{"code":-32602,"message":"Invalid params"}` {
		t.Error(got)
	}
	c.end()
	c.quiet()
}

// P-401 to P-404, P-500: every malformed input is answered, and the
// server goes on.
func TestMalformedInput(t *testing.T) {
	c := start(t, files(t, hello), project.Env{"MCPBASH_MAX_LINE_BYTES": "1000"})
	const parse = `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error","data":"Failed to normalize input"}}`
	invalid := func(id, data string) string {
		if id != "" {
			id = `"id":` + id + `,`
		}
		return `{"jsonrpc":"2.0",` + id + `"error":{"code":-32600,"message":"Invalid Request","data":"` + data + `"}}`
	}
	for _, tc := range []struct{ line, want string }{
		{`{`, parse}, {`{} x`, parse}, {"{\"a\":\"\x00\"}", parse}, {`nonsense`, parse}, {`{"a":01}`, parse},
		{"{\"method\":\"\xff\"}",
			`{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error","data":"Invalid UTF-8"}}`},
		{strings.Repeat("x", 1001),
			`{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error","data":"Message exceeds 1000 bytes"}}`},
		{`7`, invalid("", "Missing method")}, {`"x"`, invalid("", "Missing method")},
		{`{}`, invalid("", "Missing method")},
		{`{"id":5}`, invalid("5", "Missing method")}, {`{"id":5,"method":7}`, invalid("5", "Missing method")},
		{`{"id":"x","method":""}`, invalid(`"x"`, "Missing method")},
		{`{"jsonrpc":"1.0","id":5,"method":"ping"}`, invalid("5", `jsonrpc must be \"2.0\"`)},
		{`{"id":null,"method":"ping"}`, invalid("", "Invalid id")}, {`{"id":[1],"method":"ping"}`,
			invalid("", "Invalid id")},
		{`{"id":5,"method":"ping","params":"x"}`,
			`{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"Invalid params"}}`},
		{`[]`, invalid("", "Batch arrays are not allowed for protocol 2025-11-25")},
		{"\xEF\xBB\xBF {\"id\":6,\"method\":\"ping\"}\r", `{"jsonrpc":"2.0","id":6,"result":{}}`},
		{`{"id":7,"method":"ping","params":null}`, `{"jsonrpc":"2.0","id":7,"result":{}}`},
	} {
		c.checker.Sent([]byte(`{"id":6,"method":"ping"}`))
		c.send(tc.line)
		c.expect(tc.want)
	}
	c.awaitStderr("JSON normalization failed", 2)
	if got := c.stderr.String(); !strings.Contains(got,
		`JSON normalization failed bytes=1 sha256=021fb596db81e6d0 truncated=false`+"\n") ||
		strings.Contains(got, "excerpt") {
		t.Error(got)
	}
	c.checker.Sent([]byte(`{"id":8,"method":"ping"}`))
	c.in.Write([]byte(`{"id":8,"method":"ping"}`)) // P-400: the last line needs no end
	c.end()
	c.expect(`{"jsonrpc":"2.0","id":8,"result":{}}`)
	c.quiet()
}

// P-403.
func TestExcerpts(t *testing.T) {
	c := start(t, files(t, hello), project.Env{"MCPBASH_LOG_VERBOSE": "true"})
	c.send("{\t\"a\\\" \xffé" + strings.Repeat("z", 2000))
	c.next()
	c.awaitStderr("excerpt", 1)
	if got := c.stderr.String(); !strings.Contains(got, `truncated=true excerpt="{\t\"a\\\" ???zzz`) ||
		strings.Count(got, "z") < 900 || strings.Count(got, "z") > 1024 {
		t.Error(got)
	}
	c.send(`{"params":{"apiKey":"hush"},`)
	c.next()
	c.awaitStderr("**redacted**", 1)
	if got := c.stderr.String(); strings.Contains(got, "hush") {
		t.Error(got)
	}
}

// P-501, P-506.
func TestIDs(t *testing.T) {
	c := ready(t, hello, nil)
	for _, id := range []string{`7`, `7.0`, `1.50`, `-0`, `12345678901234567890123`, `""`, `"aé\u0041"`, `"x\"y"`} {
		c.send(message(id, "ping", ""))
		c.expect(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	}
	c2 := ready(t, map[string]string{"tools/wait/tool.sh": waitToGo + "echo done"}, nil)
	c2.send(message(`1`, "tools/call", `{"name":"wait"}`))
	for _, same := range []string{`1`, `1.0`} {
		c2.send(message(same, "ping", ""))
		if got := c2.response(same); got != `"error":{"code":-32600,"message":"Invalid Request","data":"Duplicate request `+
			`id"}` {
			t.Error(got)
		}
	}
	c2.send(message(`"1"`, "ping", ""))
	if got := c2.response(`"1"`); got != `"result":{}` {
		t.Error(got)
	}
	c2.release()
	if got := text(t, c2.response(`1`)); got != "done\n" {
		t.Error(got)
	}
	c2.send(message(`1`, "ping", "")) // free again
	if got := c2.response(`1`); got != `"result":{}` {
		t.Error(got)
	}
}

// protocol section 6.
func TestBatches(t *testing.T) {
	c := start(t, files(t, hello), nil)
	c.handshake("2025-03-26", "{}")
	c.send(`[{"id":1,"method":"ping"},7,{"id":2,"method":"nonsense"},[],{"method":"ping"},{"id":3,` +
		`"method":"initialize"},{"id":4,"method":"tools/call","params":{"name":"hello","arguments":{"a":1}}},{"id":5,` +
		`"method":"ping"}]`)
	for _, want := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request","data":"Missing method"}}`,
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`,
		`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request","data":"Nested batch"}}`,
		`{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"Server already initialized"}}`,
		`{"jsonrpc":"2.0","id":5,"result":{}}`,
		`{"jsonrpc":"2.0","id":4,"result":{"name":"hello","content":[{"type":"text","text":"Hello {\"a\":1}"}],` +
			`"isError":false,"_meta":{"exitCode":0}}}`,
	} {
		c.await(want, func(line string) bool { return line == want })
	}
	c.send(`[]`)
	c.expect(`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request","data":"Empty batch"}}`)
	c.send(`[{"id":6,"method":"subscriptions/listen","params":{` + meta("{}") + `,"notifications":{}}}]`) // P-603
	c.expect(`{"jsonrpc":"2.0","id":6,"error":{"code":-32600,"message":"Invalid Request","data":"a request of ` +
		`2026-07-28 must not be batched"}}`)

	for revision, refusal := range map[string]string{
		"2024-11-05": "Batch arrays are disabled", "2025-06-18": "Batch arrays are not allowed for protocol 2025-06-18",
	} {
		c := start(t, files(t, hello), nil)
		c.handshake(revision, "{}")
		c.send(`[{"id":1,"method":"ping"}]`)
		c.expect(`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request","data":"` + refusal + `"}}`)
	}
	c = start(t, files(t, hello), project.Env{"MCPBASH_COMPAT_BATCHES": "true"})
	c.send(`[{"id":9,"method":"initialize"},{"id":1,"method":"ping"}]`)
	c.expect(`{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"Invalid Request","data":"initialize must not be ` +
		`batched"}}`)
	c.expect(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	c.awaitStderr("Legacy batch compatibility enabled (MCPBASH_COMPAT_BATCHES=true); requests framed as arrays will be "+
		"processed as independent items.\n", 1)
}

// tools section 2, P-406.
func TestCall(t *testing.T) {
	c := ready(t, hello, nil)
	if got := c.call("hello",
		`{ "b" : 1.50, "a": 12345678901234567890 }`); got != `"result":{"name":"hello","content":[{"type":"text",`+
		`"text":"Hello {\"b\":1.50,\"a\":12345678901234567890}"}],"isError":false,"_meta":{"exitCode":0}}` {
		t.Error(got)
	}
	for params, want := range map[string]string{
		`{}`:                                `{"code":-32602,"message":"Tool name is required"}`,
		`{"name":""}`:                       `{"code":-32602,"message":"Tool name is required"}`,
		`{"name":5}`:                        `{"code":-32602,"message":"Tool name is required"}`,
		`{"name":"hello","arguments":[]}`:   `{"code":-32602,"message":"Invalid arguments JSON"}`,
		`{"name":"hello","arguments":"{}"}`: `{"code":-32602,"message":"Invalid arguments JSON"}`,
		`{"name":"nope","arguments":{}}`:    `{"code":-32602,"message":"Tool 'nope' not found"}`,
	} {
		if got := c.request("tools/call", params); got != `"error":`+want {
			t.Errorf("%s: %s", params, got)
		}
	}
	for _, params := range []string{`{"name":"hello"}`, `{"name":"hello","arguments":null}`,
		`{"name":"hello","_meta":7}`, `{"name":"hello","timeoutSecs":"0"}`} {
		if got := text(t, c.request("tools/call", params)); got != "Hello {}" {
			t.Errorf("%s: %s", params, got)
		}
	}
}

// P-2000: some clients read only the first page, whose size is a setting.
func TestPageSize(t *testing.T) {
	for _, tc := range []struct {
		meta, env string
		want      int
	}{
		{`{}`, "", 50}, {`{"pageSize":200}`, "", 200}, {`{"pageSize":999}`, "", 200}, {`{"pageSize":3}`, "", 3},
		{`{"pageSize":0}`, "", 50}, {`{"pageSize":"all"}`, "", 50}, {`{"pageSize":3}`, "4", 4}, {`{}`, "999", 200},
		{`{"pageSize":3}`, "x", 3},
	} {
		list := map[string]string{"server.d/server.meta.json": tc.meta}
		for i := range 210 {
			list[fmt.Sprintf("tools/t%03d/tool.sh", i)] = ":"
		}
		c := ready(t, list, project.Env{"MCPBASH_PAGE_SIZE": tc.env})
		if got := strings.Count(c.request("tools/list", ""), `{"name":"t`); got != tc.want {
			t.Errorf("%s, MCPBASH_PAGE_SIZE=%q: %d tools", tc.meta, tc.env, got)
		}
		if got := strings.Count(c.request("tools/list", `{"limit":7}`), `{"name":"t`); got != 7 {
			t.Errorf("%s: %d tools with a limit of 7", tc.meta, got)
		}
	}
}

// protocol section 20, R-117.
func TestListing(t *testing.T) {
	list := map[string]string{}
	for i := range 120 {
		list[fmt.Sprintf("tools/t%03d/tool.sh", i)] = ":"
	}
	c := ready(t, list, nil)
	count := func(response string) int { return strings.Count(response, `{"name":"t`) }
	first := c.request("tools/list", "")
	if count(first) != 50 || !strings.Contains(first, `"_meta":{"mcpbash/total":120},"nextCursor":"`) {
		t.Errorf("%d %.100s", count(first), first)
	}
	seen, params := 0, `{"limit":"40"}`
	for {
		page := c.request("tools/list", params)
		seen += count(page)
		_, rest, more := strings.Cut(page, `"nextCursor":"`)
		if !more {
			break
		}
		cursor, _, _ := strings.Cut(rest, `"`)
		params = `{"limit":40,"nextCursor":"` + cursor + `=="}` // the alias, with padding
	}
	if seen != 120 {
		t.Errorf("%d tools on all pages", seen)
	}
	for limit, want := range map[string]int{`0`: 50, `-3`: 50, `"x"`: 50, `1.5`: 50, `999`: 120, `1`: 1, `null`: 50} {
		if got := count(c.request("tools/list", `{"limit":`+limit+`}`)); got != want {
			t.Errorf("limit %s: %d", limit, got)
		}
	}
	if got := c.request("tools/list", `{"cursor":null}`); count(got) != 50 {
		t.Error(got)
	}
	for _, bad := range []string{`"%%%"`, `"bm8"`, `7`, `"e30"`, `{}`} {
		if got := c.request("tools/list",
			`{"cursor":`+bad+`}`); got != `"error":{"code":-32602,"message":"Invalid cursor"}` {
			t.Errorf("%s: %s", bad, got)
		}
	}
	empty := ready(t, nil, nil)
	if got := empty.request("tools/list", ""); got != `"result":{"tools":[],"_meta":{"mcpbash/total":0}}` {
		t.Error(got)
	}
	broken := ready(t, map[string]string{"server.d/register.json": `{"version":2}`}, nil)
	if got := broken.request("tools/list", ""); !strings.HasPrefix(got,
		`"error":{"code":-32603,"message":"Unable to load tool registry","data":{"reason":"Declarative register.json `+
			`parsing/validation failed: register.json version must be 1"}}`) {
		t.Error(got)
	}
	if got := broken.call("x", "{}"); !strings.HasPrefix(got,
		`"error":{"code":-32602,"message":"Tool 'x' not found","data":{"reason":`) {
		t.Error(got)
	}
}

// P-1100, T-709.
func TestResponseLimit(t *testing.T) {
	c := ready(t, map[string]string{"tools/big/tool.sh": `head -c 900 /dev/zero | tr '\0' '"'`,
		"tools/ok/tool.sh": `head -c 700 /dev/zero | tr '\0' x`}, project.Env{"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "1000"})
	if got := c.call("ok", "{}"); !strings.HasPrefix(got, `"result":`) {
		t.Error(got)
	}
	if got := c.call("big", "{}"); got != `"error":{"code":-32603,"message":"Response exceeded response size limit"}` {
		t.Error(got)
	}
	c.awaitStderr(`mcp-bash: response exceeded 1000 bytes for id "r3"`+"\n", 1)
	list := ready(t, hello, project.Env{"MCPBASH_REGISTRY_MAX_BYTES": "700"})
	if got := list.request("tools/list", ""); !strings.HasPrefix(got, `"result"`) {
		t.Error(got)
	}
}

// protocol section 24.
func TestMinimalMode(t *testing.T) {
	for name, env := range map[string]project.Env{"forced": {"MCPBASH_FORCE_MINIMAL": "true"},
		"none": {"MCPBASH_JSON_TOOL": "none"}} {
		c := start(t, files(t, hello), env)
		want := `"result":{"protocolVersion":"2025-11-25","capabilities":{"logging":{}},` +
			`"serverInfo":{"name":"proj-one","version":"9.1.0","title":"` + project.Title(baseName(c.root)) + `"}}`
		if got := c.handshake("2025-11-25",
			`{"roots":{},"elicitation":{},"extensions":{"io.modelcontextprotocol/ui":{}}}`); got != want {
			t.Error(got)
		}
		for method, group := range map[string]string{"tools/list": "Tools", "tools/call": "Tools",
			"resources/read": "Resources", "prompts/list": "Prompts", "completion/complete": "Completion"} {
			if got := c.request(method,
				""); got != `"error":{"code":-32601,"message":"`+group+` capability unavailable in minimal mode"}` {
				t.Errorf("%s: %s", method, got)
			}
		}
		if got := c.request("logging/setLevel", `{"level":"error"}`); got != `"result":{}` {
			t.Error(got)
		}
		c.end()
		forced := strings.Contains(c.stderr.String(),
			"Minimal mode forced via MCPBASH_FORCE_MINIMAL=true; JSON tooling disabled.\n")
		if forced != (name == "forced") || !strings.Contains(c.stderr.String(),
			"Operating in minimal mode: only lifecycle, ping, and logging handlers are exposed until JSON tooling becomes "+
				"available (JSON tooling needed).\n") {
			t.Error(c.stderr)
		}
		c.quiet()
	}
}

// P-120, CLI-306.
func TestBootstrap(t *testing.T) {
	elsewhere := t.TempDir()
	c := startWith(t, "", project.Env{"MCPBASH_PROJECT_ROOT": "", "MCPBASH_TOOL_ALLOWLIST": "",
		"MCPBASH_TOOLS_DIR": elsewhere + "/absent"}, func(o *Options) { o.Dir = elsewhere }, nil)
	got := c.handshake("2025-11-25", "{}")
	if !strings.Contains(got,
		`"serverInfo":{"name":"mcp-bash","version":"`+cli.Version+`","title":"MCP Bash Framework","description":"Getting `+
			`started helper - configure MCPBASH_PROJECT_ROOT to build your own server"}`) {
		t.Error(got)
	}
	if got := c.request("tools/list",
		""); got != `"result":{"tools":[{"name":"getting_started","description":"Show setup steps when `+
		`MCPBASH_PROJECT_ROOT is unset.","path":"getting-started/tool.sh","inputSchema":{"type":"object","properties":{}},`+
		`"timeoutSecs":5}],"_meta":{"mcpbash/total":1}}` {
		t.Error(got)
	}
	shown := text(t, c.call("getting_started", "{}"))
	for _, part := range []string{"MCPBASH_PROJECT_ROOT", "scaffold tool", "README.md#quick-start",
		"docs/PROJECT-STRUCTURE.md", "docs/ROOTS.md"} {
		if !strings.Contains(shown, part) {
			t.Errorf("%q is not in %s", part, shown)
		}
	}
	c.awaitStderr("temporary workspace", 1)
	_, rest, found := strings.Cut(c.stderr.String(),
		"mcp-bash: no project configured; starting getting-started helper (temporary workspace ")
	workspace, _, _ := strings.Cut(rest, ")")
	if _, err := os.Stat(workspace); !found || err != nil {
		t.Error(c.stderr, err)
	}
	c.end()
	if _, err := os.Stat(workspace); err == nil {
		t.Error("the workspace is still there")
	}
	if left, _ := os.ReadDir(c.tmp); len(left) > 1 { // the unpacked installation tree stays
		t.Errorf("left behind: %v", left)
	}
}

// P-101 to P-106, P-2300: what keeps the server from starting.
func TestStartFailures(t *testing.T) {
	absent := t.TempDir() + "/absent"
	link := t.TempDir() + "/link"
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	const linked = " is a symlink; set it to the directory that the link leads to\n"
	for _, tc := range []struct {
		name string
		env  project.Env
		want string
	}{
		{"no project", project.Env{"MCPBASH_PROJECT_ROOT": absent},
			"mcp-bash: MCPBASH_PROJECT_ROOT directory does not exist: " + absent +
				"\nSet MCPBASH_PROJECT_ROOT to an existing project directory or create it first.\n"},
		{"weak token", project.Env{"MCPBASH_REMOTE_TOKEN": "short"},
			"mcp-bash: MCPBASH_REMOTE_TOKEN must be at least 32 characters; refusing weak shared secret\n"},
		{"no state directory", project.Env{"MCPBASH_STATE_DIR": "/dev/null/x"},
			"mcp-bash: unable to create state directory: /dev/null/x\nmcp-bash: set MCPBASH_TMP_ROOT to a short, writable " +
				"directory (Windows path length limits may apply)\n"},
		{"P-309", project.Env{"MCPBASH_STATE_DIR": link}, "mcp-bash: unable to create state directory: " + link +
			"\nmcp-bash: MCPBASH_STATE_DIR" + linked},
		{"P-309", project.Env{"MCPBASH_LOG_DIR": link}, "mcp-bash: unable to create state directory: " + link +
			"\nmcp-bash: MCPBASH_LOG_DIR" + linked},
		{"P-309", project.Env{"MCPBASH_LOCK_ROOT": link + "/"}, "mcp-bash: unable to create state directory: " + link +
			"\nmcp-bash: MCPBASH_LOCK_ROOT" + linked},
	} {
		c := start(t, files(t, hello), tc.env)
		if code := c.exit(); code != 1 || c.stderr.String() != tc.want {
			t.Errorf("%s: %d, %q", tc.name, code, c.stderr)
		}
		c.quiet()
	}
}

// P-113.
func TestServerEnv(t *testing.T) {
	list := map[string]string{
		"server.d/env.sh": "export GREETING=hi MCPBASH_LOG_LEVEL=warning MCPBASH_TOOL_ENV_MODE=allowlist " +
			"MCPBASH_TOOL_ENV_ALLOWLIST=GREETING,PLAIN MCPBASH_TOOLS_DIR=/evil; PLAIN=plain; echo noise",
		"tools/env/tool.sh": `printf '%s %s %s' "${GREETING-}" "${PLAIN-}" "${MCPBASH_LOG_LEVEL-}"`,
	}
	c := ready(t, list, nil)
	if got := text(t, c.call("env", "{}")); got != "  " {
		t.Errorf("env.sh was run without leave: %q", got)
	}
	c = ready(t, list, project.Env{"MCPBASH_SERVER_SOURCE_ENV": "true"})
	if got := text(t, c.call("env", "{}")); got != "hi plain warning" {
		t.Errorf("%q", got)
	}
	for _, tc := range []struct {
		content string
		mode    os.FileMode
		limit   string
		want    string
	}{
		{"exit 3", 0o644, "", "mcp-bash: server.d/env.sh failed (exit 3)\n"},
		{"", 0o646, "", "mcp-bash: refusing insecure server.d/env.sh: {} (mode 0646, others can write to it; run chmod o-w " +
			"{})\n"},
		{"sleep 600", 0o644, "1", "mcp-bash: server.d/env.sh: not done after 1s, so it was ended; " +
			"leave out what waits, or set MCPBASH_ENV_TIMEOUT to more seconds (0: no limit)\n"},
	} {
		root := files(t, map[string]string{"server.d/env.sh": tc.content})
		file := root + "/server.d/env.sh"
		os.Chmod(file, tc.mode)
		c := start(t, root, project.Env{"MCPBASH_SERVER_SOURCE_ENV": "true", "MCPBASH_ENV_TIMEOUT": tc.limit})
		if code := c.exit(); code != 1 || c.stderr.String() != strings.ReplaceAll(tc.want, "{}", file) {
			t.Errorf("%+v: %d %q", tc, code, c.stderr)
		}
	}
}

// E-7 to E-9, P-207: env of server.meta.json names variables of the environment that tools, providers and
// completion scripts get.
func TestMetaEnv(t *testing.T) {
	const meta = `{"name":"x","env":{"MCPBASH_TOOL_ENV_MODE":"allowlist",` +
		`"MCPBASH_TOOL_ENV_ALLOWLIST":"API_KEY MCP_REGISTRY_TOKEN","MCPBASH_PROVIDER_ENV_MODE":"allowlist",` +
		`"MCPBASH_PROVIDER_ENV_ALLOWLIST":"DB_KEY","MCPBASH_ALLOW_PROJECT_HOOKS":"hidden"}}`
	const shown = `printf '%s|%s|%s|%s|%s|%s' "${API_KEY-}" "${DB_KEY-}" "${MCP_REGISTRY_TOKEN-}" "${MCP_UI_X-}" ` +
		`"${MCPBASH_REMOTE_TOKEN-}" "${MCPBASH_TOOL_ENV_ALLOWLIST-}"`
	list := map[string]string{
		"server.d/server.meta.json": meta,
		"server.d/env.sh":           "API_KEY=sourced; export MCPBASH_PROVIDER_ENV_ALLOWLIST=API_KEY",
		"other/server.meta.json": `{"env":{"MCPBASH_TOOL_ENV_MODE":"allowlist",` +
			`"MCPBASH_TOOL_ENV_ALLOWLIST":"DB_KEY"}}`,
		"tools/env/tool.sh":               shown,
		"providers/db.sh":                 shown,
		"resources/row.meta.json":         `{"name":"row","uri":"db://row","provider":"db"}`,
		"prompts/greet.txt":               "Hello",
		"prompts/greet.txt.completion.sh": `printf '["%s"]' "${API_KEY-}|${DB_KEY-}"`,
		"config.d/server.meta.json":       `{"env":{"MCPBASH_TOOL_ENV_MODE":"inherit"}}`,
		"policy.d/server.meta.json":       `{}`,
		"policy.d/policy.sh": `export MCPBASH_TOOL_ENV_MODE=allowlist MCPBASH_TOOL_ENV_ALLOWLIST=DB_KEY; ` +
			`mcp_tools_policy_check() { :; }`,
		"demanding.d/policy.sh": `export MCPBASH_TOOL_ENV_MODE=inherit MCPBASH_TOOL_ENV_INHERIT_ALLOW=true; ` +
			`mcp_tools_policy_check() { :; }`,
		"resources/plain.txt": "x",
	}
	const refused = `"error":{"code":-32602,"message":` +
		`"MCPBASH_TOOL_ENV_MODE=inherit requires MCPBASH_TOOL_ENV_INHERIT_ALLOW=true"}`
	const tools = "key||pub|||API_KEY MCP_REGISTRY_TOKEN"
	for _, tc := range []struct {
		env                      project.Env
		tool, resource, complete string
	}{
		{nil, tools, "|db||||", "|db"},
		{project.Env{"MCPBASH_TOOL_ENV_ALLOWLIST": "DB_KEY"}, "|||||DB_KEY", "|db||||", "|db"},
		{project.Env{"MCPBASH_TOOL_ENV_MODE": "${user_config.mode}x"}, tools, "|db||||", "|db"},
		{project.Env{"MCPBASH_PROVIDER_ENV_MODE": "isolate"}, tools, "|||||", "|"},
		{project.Env{"MCPBASH_IGNORE_META_ENV": "on"}, "|||||", "|||||", "|"},
		{project.Env{"MCPBASH_SERVER_SOURCE_ENV": "true"}, "sourced" + tools[len("key"):], "|||||", "|"},
		{project.Env{"MCPBASH_SERVER_DIR": "{}/other"}, "|db||||DB_KEY", "|||||", "|"},
		{project.Env{"MCPBASH_SERVER_DIR": "{}/config.d"}, refused, "|||||", "|"},
		{project.Env{"MCPBASH_SERVER_DIR": "{}/config.d", "MCPBASH_TOOL_ENV_INHERIT_ALLOW": "true"},
			"key|db||ui||", "|||||", "|"},
		{project.Env{"MCPBASH_SERVER_DIR": "{}/policy.d"}, "|db||||", "|||||", "|"}, // T-61a
		{project.Env{"MCPBASH_SERVER_DIR": "{}/demanding.d"}, refused, "|||||", "|"},
		{project.Env{"MCPBASH_SERVER_DIR": "{}/demanding.d", "MCPBASH_TOOL_ENV_INHERIT_ALLOW": "true"},
			"key|db||ui||", "|||||", "|"},
	} {
		root := files(t, list)
		env := project.Env{"API_KEY": "key", "DB_KEY": "db", "MCP_REGISTRY_TOKEN": "pub", "MCP_UI_X": "ui"}
		for name, value := range tc.env {
			env[name] = strings.ReplaceAll(value, "{}", root)
		}
		c := start(t, root, env)
		c.handshake("2025-11-25", "{}")
		got := c.call("env", "{}")
		if tc.tool != refused {
			got = text(t, got)
		}
		if got != tc.tool {
			t.Errorf("%v: tool %s", tc.env, got)
		}
		if got := c.request("resources/read", `{"uri":"db://row"}`); !strings.Contains(got,
			`"text":"`+tc.resource+`"`) {
			t.Errorf("%v: provider %s", tc.env, got)
		}
		if got := c.request("completion/complete", completing(ofPrompt("greet"), "")); !strings.Contains(got,
			`"values":["`+tc.complete+`"]`) {
			t.Errorf("%v: completion %s", tc.env, got)
		}
		c.end()
		const complaint = "mcp-bash: server.meta.json env: ignoring MCPBASH_ALLOW_PROJECT_HOOKS " +
			"(only MCPBASH_TOOL_ENV_MODE, " +
			"MCPBASH_TOOL_ENV_ALLOWLIST, MCPBASH_PROVIDER_ENV_MODE, MCPBASH_PROVIDER_ENV_ALLOWLIST may be set there; " +
			"set others in the launch environment)\n"
		want := 1
		if tc.env["MCPBASH_SERVER_DIR"] != "" || tc.env["MCPBASH_IGNORE_META_ENV"] != "" {
			want = 0
		}
		if n := strings.Count(c.stderr.String(), complaint); n != want || strings.Contains(c.stderr.String(), "hidden") {
			t.Errorf("%v: %s", tc.env, c.stderr)
		}
	}
}

// E-2: the server names the variables whose placeholder the client left, at level debug.
func TestPlaceholders(t *testing.T) {
	for level, want := range map[string]int{"debug": 1, "info": 0} {
		c := startWith(t, files(t, nil), project.Env{"MCPBASH_LOG_LEVEL": level}, func(o *Options) {
			o.Placeholders = []string{"API_KEY", "DB_KEY"}
		}, nil)
		c.end()
		if n := strings.Count(c.stderr.String(), "mcp-bash: left out of the environment, since the client left a "+
			"placeholder: API_KEY, DB_KEY\n"); n != want {
			t.Errorf("%s: %s", level, c.stderr)
		}
	}
}

// CLI-1109: the start reports what requirements.json asks for and this machine lacks.
func TestRequirements(t *testing.T) {
	for text, want := range map[string]string{
		`{"framework":{"minVersion":"99.0"}}`: "mcp-bash: mcp-bash has version " + cli.Version +
			", and 99.0 is required (server.d/requirements.json)\n",
		`{"dependencies":[{"name":"no-such","installHint":"apt install x"},{"name":"bash","minVersion":"99"}]}`: "" +
			"mcp-bash: no-such is not installed (server.d/requirements.json); apt install x\n",
		`{"dependencies":5}`: "" +
			"mcp-bash: ignoring server.d/requirements.json: dependencies must be an array\n",
		`{"dependencies":[{"name":"bash"}]}`: "",
	} {
		c := start(t, files(t, map[string]string{"server.d/requirements.json": text}), nil)
		c.end()
		if got := c.stderr.String(); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// E-13: the start reports variables that nobody reads.
func TestUnknownVariables(t *testing.T) {
	c := start(t, files(t, nil), project.Env{"MCPBASH_LOG_LEVLE": "debug", "MCPBASH_LOG_LEVEL": "info"})
	c.end()
	const want = "mcp-bash: MCPBASH_LOG_LEVLE is not a variable of mcp-bash, so only scripts see it " +
		"(did you mean MCPBASH_LOG_LEVEL?)\n"
	if got := c.stderr.String(); got != want {
		t.Errorf("%s", got)
	}
}

// P-200, P-113: the project is read again after env.sh, and what is wrong
// with it logged once.
func TestWarningsWithServerEnv(t *testing.T) {
	c := start(t, files(t, map[string]string{"server.d/server.meta.json": "[", "server.d/env.sh": "export X=1"}),
		project.Env{"MCPBASH_SERVER_SOURCE_ENV": "true"})
	c.end()
	if got := strings.Count(c.stderr.String(), "mcp-bash: ignoring server.d/server.meta.json: "); got != 1 {
		t.Errorf("%d times: %s", got, c.stderr)
	}
}

// P-905, P-113: a signal during the start ends the server, even while the start waits for a script.
func TestSignalDuringStart(t *testing.T) {
	marks := t.TempDir()
	path, await := mark(t, marks, "running")
	for _, waits := range []string{"sleep 600 & wait", "trap '' TERM; while :; do sleep 0.1; done"} {
		root := files(t, map[string]string{"server.d/env.sh": "echo $$ >'" + path + ".new'; mv '" + path + ".new' '" +
			path + "'; " + waits})
		c := start(t, root, project.Env{"MCPBASH_SERVER_SOURCE_ENV": "true"})
		await()
		c.signals <- syscall.SIGTERM
		if code := c.exit(); code != 143 || c.stderr.String() != "" {
			t.Errorf("%s: %d %q", waits, code, c.stderr)
		}
		pid, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
		if err != nil || syscall.Kill(n, 0) != syscall.ESRCH {
			t.Errorf("%s: env.sh, process %s, still runs (%v)", waits, pid, err)
		}
		c.quiet()
		os.Remove(path)
	}
	// So it is in a start that nothing keeps.
	c := start(t, files(t, hello), nil)
	c.signals <- syscall.SIGTERM
	if code := c.exit(); code != 143 {
		t.Error(code)
	}
	if left, _ := filepath.Glob(c.tmp + "/mcpbash.*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// P-104, P-109, P-110, P-112.
func TestAnnouncements(t *testing.T) {
	c := start(t, files(t, map[string]string{"server.d/.debug": "", "tools/x/tool.sh": ":"}),
		project.Env{"MCPBASH_TRANSPORT": "http", "MCPBASH_LOG_STARTUP": "true", "MCPBASH_LOG_JSON_TOOL": "log"})
	c.request("ping", "")
	c.end()
	for _, want := range []string{
		"mcp-bash: unsupported transport 'http'; defaulting to stdio.\n", "mcp-bash: Resolved paths:\n  MCPBASH_HOME=",
		"\n  MCPBASH_TOOLS_DIR=" + c.root + "/tools\n", "\n  (debug enabled via server.d/.debug file)\n",
		"mcp-bash startup: transport=stdio command=", " cwd=" + c.root + " project_root=" + c.root + " json_tool=",
		"mcp-bash: JSON tool for scripts: ",
	} {
		if !strings.Contains(c.stderr.String(), want) {
			t.Errorf("%q is not in %s", want, c.stderr)
		}
	}
	c.quiet() // P-1304: nothing but responses before the handshake
	loud := start(t, files(t, nil), project.Env{"MCPBASH_TRANSPORT": "http", "MCPBASH_LOG_LEVEL": "error",
		"MCPBASH_COMPAT_BATCHES": "true"})
	loud.request("ping", "")
	loud.end()
	if got := loud.stderr.String(); got != "" { // P-1306
		t.Errorf("%q", got)
	}
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
