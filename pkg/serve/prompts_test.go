//go:build unix

package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

var somePrompts = map[string]string{
	"prompts/greet.txt": "Hello {{name}}! {{missing}} {{count}}\n",
	"prompts/greet.meta.json": `{"name":"greet","description":"Greet d","arguments":{"type":"object",` +
		`"required":["name"],"properties":{"name":{"type":"string","description":"who"},"count":{"type":"integer"}}},` +
		`"metadata":{"x":1}}`,
	"prompts/plain.md": "Plain ${text}, {{not}} touched.\n\n",
	"prompts/sub/talk.json": `[{"role":"user","content":"Look, {{who}}:"},{"role":"user","content":{"type":"image",` +
		`"path":"sub/dot.png"}},{"role":"assistant","content":{"type":"resource","resource":{"uri":"x://note",` +
		`"path":"sub/note.txt"}}}]`,
	"prompts/sub/talk.meta.json": `{"name":"talk","title":"Talk","description":"","format":"messages","elicit":true,"role":"assistant",
		"arguments":[{"name":"who","description":"whom","required":true}]}`,
	"prompts/sub/dot.png":            "\x89PNG\r\n\x1a\n\x00",
	"prompts/sub/note.txt":           "note\n",
	"prompts/sub/note.txt.meta.json": `{"name":"note"}`,
}

// T-820, R-172, P-2000 to P-2003.
func TestPromptsList(t *testing.T) {
	c := ready(t, somePrompts, nil)
	const greet = `{"name":"greet","description":"Greet d","path":"greet.txt","arguments":[{"name":"name",` +
		`"description":"who","required":true},{"name":"count","description":"","required":false}],"role":"user",` +
		`"metadata":{"x":1}}`
	const note = `{"name":"note","description":"","path":"sub/note.txt","arguments":[],"role":"user"}`
	const plain = `{"name":"plain","description":"","path":"plain.md","arguments":[],"role":"user"}`
	const talk = `{"name":"talk","title":"Talk","description":"","path":"sub/talk.json","arguments":[{"name":"who",` +
		`"description":"whom","required":true}],"role":"assistant","format":"messages"}`
	want := `"result":{"prompts":[` + greet + `,` + note + `,` + plain + `,` + talk + `],"_meta":{"mcpbash/total":4}}`
	if got := c.request("prompts/list", ""); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	first := c.request("prompts/list", `{"limit":3}`)
	if !strings.HasPrefix(first,
		`"result":{"prompts":[`+greet+`,`+note+`,`+plain+`],"_meta":{"mcpbash/total":4},"nextCursor":"`) {
		t.Error(first)
	}
	cursor := string(rawjson.Path(json.RawMessage("{"+first+"}"), "result", "nextCursor"))
	if got := c.request("prompts/list",
		`{"limit":3,"cursor":`+cursor+`}`); got != `"result":{"prompts":[`+talk+`],"_meta":{"mcpbash/total":4}}` {
		t.Error(got)
	}
	for _, bad := range []string{`"x"`, `7`, `{}`} {
		if got := c.request("prompts/list",
			`{"cursor":`+bad+`}`); got != `"error":{"code":-32602,"message":"Invalid cursor"}` {
			t.Errorf("%s: %s", bad, got)
		}
	}
	if got := c.request("tools/list",
		`{"cursor":`+cursor+`}`); got != `"error":{"code":-32602,"message":"Invalid cursor"}` {
		t.Error(got)
	}
}

// T-801 to T-808, T-830, in each revision.
func TestPromptsGet(t *testing.T) {
	const image = `{"role":"user","content":{"type":"image","data":"iVBORw0KGgoA","mimeType":"image/png"}}`
	for _, revision := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		c := start(t, files(t, somePrompts), nil)
		c.handshake(revision, "{}")
		for _, tc := range []struct{ params, want string }{
			{`{"name":"greet","arguments":{"name":"Ada","count":3}}`,
				`"result":{"text":"Hello Ada! {{missing}} 3","arguments":{"name":"Ada","count":3},"messages":[{"role":"user",` +
					`"content":{"type":"text","text":"Hello Ada! {{missing}} 3"}}],"description":"Greet d","metadata":{"x":1}}`},
			{`{"name":"plain","arguments":null}`,
				`"result":{"text":"Plain ${text}, {{not}} touched.","arguments":{},"messages":[{"role":"user",` +
					`"content":{"type":"text","text":"Plain ${text}, {{not}} touched."}}]}`},
			{`{"name":"talk","arguments":{"who":"\"Ada\\"}}`,
				`"result":{"text":"Look, \"Ada\\:","arguments":{"who":"\"Ada\\"},"messages":[{"role":"user",` +
					`"content":{"type":"text","text":"Look, \"Ada\\:"}},` + image + `,{"role":"assistant",` +
					`"content":{"type":"resource","resource":{"uri":"x://note","mimeType":"text/plain","text":"note\n"}}}]}`},
			{``, `"error":{"code":-32602,"message":"Prompt name is required"}`},
			{`{"name":""}`, `"error":{"code":-32602,"message":"Prompt name is required"}`},
			{`{"name":7}`, `"error":{"code":-32602,"message":"Prompt name is required"}`},
			{`{"name":"nope"}`, `"error":{"code":-32602,"message":"Prompt not found"}`},
			{`{"name":"greet"}`, `"error":{"code":-32602,"message":"Missing required argument: name"}`},
			{`{"name":"greet","arguments":["x"]}`,
				`"error":{"code":-32602,"message":"Missing required argument: name"}`},
			// the client cannot be asked
			{`{"name":"talk"}`, `"error":{"code":-32602,"message":"Missing required argument: who"}`},
		} {
			if got := c.request("prompts/get", tc.params); got != tc.want {
				t.Errorf("%s %s:\n got %s\nwant %s", revision, tc.params, got, tc.want)
			}
		}
	}
}

// T-801, T-804, T-709, R-117: errors of the server.
func TestPromptFailures(t *testing.T) {
	c := ready(t, map[string]string{
		"prompts/a.txt": "a", "prompts/big.txt": strings.Repeat("x", 4000),
		"prompts/huge.txt": strings.Repeat("x", 6000),
		"prompts/bad.json": `{"role":"user"}`, "prompts/bad.meta.json": `{"name":"bad","format":"messages"}`,
	}, project.Env{"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "5000", "MCP_PROMPTS_TTL": "600"})
	const unable = `"error":{"code":-32603,"message":"Unable to render prompt"}`
	const large = `"error":{"code":-32603,"message":"Response exceeded response size limit"}`
	c.request("prompts/list", "")
	os.Remove(filepath.Join(c.root, "prompts", "a.txt"))
	for name, want := range map[string]string{"a": unable, "bad": unable, "big": large, "huge": large} {
		if got := c.request("prompts/get", `{"name":"`+name+`"}`); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	broken := ready(t, map[string]string{"server.d/register.json": `{"version":2}`, "prompts/a.txt": "a"}, nil)
	const refusal = `"error":{"code":-32603,"message":"Unable to load prompts registry","data":{"reason":"`
	for method, params := range map[string]string{"prompts/list": "", "prompts/get": `{"name":"a"}`} {
		if got := broken.request(method, params); !strings.HasPrefix(got, refusal) ||
			!strings.Contains(got, "register.json version must be 1") {
			t.Errorf("%s: %s", method, got)
		}
	}
}

// T-831, M-58, P-1604, P-1703: the client is asked for what is
// missing.
func TestPromptElicitation(t *testing.T) {
	c := start(t, files(t, somePrompts), nil)
	c.handshake("2025-11-25", `{"elicitation":{}}`)
	question := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id +
			`,"method":"elicitation/create","params":{"mode":"form","message":"Arguments for prompt talk",` +
			`"requestedSchema":{"type":"object","properties":{"who":{"type":"string","description":"whom"}},` +
			`"required":["who"]}}}`
	}
	ask := func(id, params string) {
		t.Helper()
		c.send(message(`"`+id+`"`, "prompts/get", params))
	}
	ask("a", `{"name":"talk","arguments":{"extra":1}}`)
	c.expect(question("1"))
	c.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"who":"Ada"}}}`)
	if got := c.response(`"a"`); !strings.HasPrefix(got,
		`"result":{"text":"Look, Ada:","arguments":{"extra":1,"who":"Ada"},`) {
		t.Error(got)
	}
	ask("b", `{"name":"talk"}`)
	c.expect(question("2"))
	c.send(`{"jsonrpc":"2.0","id":2,"result":{"action":"decline"}}`)
	if got := c.response(`"b"`); got != `"error":{"code":-32602,"message":"Missing required argument: who"}` {
		t.Error(got)
	}
	ask("c", `{"name":"talk"}`)
	c.expect(question("3"))
	c.send(message("", "notifications/cancelled", `{"requestId":"c"}`))
	c.expect(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"no longer needed"}}`)
	ask("d", `{"name":"talk","timeoutSecs":1}`)
	c.expect(question("4"))
	c.expect(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4,"reason":"no longer needed"}}`)
	if got := c.response(`"d"`); got != `"error":{"code":-32603,"message":"Request timed out","data":{"timeoutSecs":1}}` {
		t.Error(got)
	}
	c.end()
	c.quiet()
}
