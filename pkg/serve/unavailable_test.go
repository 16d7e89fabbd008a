//go:build unix

package serve

import (
	"os"
	"testing"

	"mcp-bash/pkg/project"
)

// each request fails while a list is not available, and works as soon as it is.
func TestUnavailable(t *testing.T) {
	always := project.Env{"MCP_TOOLS_TTL": "0", "MCP_RESOURCES_TTL": "0", "MCP_RESOURCES_TEMPLATES_TTL": "0",
		"MCP_PROMPTS_TTL": "0", "MCP_UI_TTL": "0"}
	root := files(t, map[string]string{"tools/hello/tool.sh": "echo hello", "prompts/p.txt": "text",
		"resources/r.txt": "text", "server.d/register.json": `{"version":2}`})
	c := start(t, root, always)
	c.handshake("2025-11-25", "{}")
	const data = `,"data":{"reason":"Declarative register.json parsing/validation failed: register.json version must be ` +
		`1"}}`
	for _, tc := range []struct{ method, params, want string }{
		{"tools/list", `{}`, `{"code":-32603,"message":"Unable to load tool registry"`},
		{"resources/list", `{}`, `{"code":-32603,"message":"Unable to load resources registry"`},
		{"resources/read", `{"uri":"file:///x"}`, `{"code":-32603,"message":"Unable to load resources registry"`},
		{"resources/templates/list", `{}`, `{"code":-32603,"message":"Unable to load resource templates registry"`},
		{"prompts/list", `{}`, `{"code":-32603,"message":"Unable to load prompts registry"`},
		{"prompts/get", `{"name":"p"}`, `{"code":-32603,"message":"Unable to load prompts registry"`},
		{"tools/call", `{"name":"hello","arguments":{}}`, `{"code":-32602,"message":"Tool 'hello' not found"`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}`,
			`{"code":-32601,"message":"Completion not found"`},
	} {
		if got := c.request(tc.method, tc.params); got != `"error":`+tc.want+data {
			t.Errorf("%s: %s", tc.method, got)
		}
	}
	os.Remove(root + "/server.d/register.json")
	if got := c.request("prompts/list",
		""); got != `"result":{"prompts":[{"name":"p","description":"","path":"p.txt","arguments":[],"role":"user"}],`+
		`"_meta":{"mcpbash/total":1}}` {
		t.Error(got)
	}
}
