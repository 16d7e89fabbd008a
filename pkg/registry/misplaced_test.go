package registry

import "testing"

// a warning explains how to move a tool that is not in a separate directory, unless
// register.json names the tool.
func TestMisplacedTools(t *testing.T) {
	b := newBed(t, noTTL, files{
		"tools/run.sh*": "", "tools/described": "# mcp: {}", "tools/meta": "", "tools/meta.meta.json": "{}",
		"tools/named.sh*": "",
		"tools/lib.sh":    "", "tools/README.md": "", "tools/a/tool.sh": "",
		"server.d/register.json": `{"version":1,"merge":["tools"],"tools":[{"name":"n","path":"./named.sh"}]}`,
	})
	const text = " is not offered: each tool needs a separate directory; move it to tools/"
	const last = "/, or name it in server.d/register.json"
	lines := []string{
		"warning mcp.tools: tools/run.sh" + text + "run" + last,
		"warning mcp.tools: tools/described" + text + "described" + last,
		"warning mcp.tools: tools/meta" + text + "meta" + last,
	}
	want(t, b.names(), "a n")
	b.WantLog(lines...)
	b.reopen(noTTL, Options{}) // another process
	want(t, b.names(), "a n")
	b.WantLog(lines...)
	b.Remove("server.d/register.json")
	want(t, b.names(), "a")
	b.WantLog("warning mcp.tools: tools/named.sh" + text + "named" + last)
}
