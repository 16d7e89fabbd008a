package registry

import "testing"

// a tool that lies in no directory of its own is told how to become
// one, unless somebody has named it by hand.
func TestStrays(t *testing.T) {
	b := newBed(t, noTTL, files{
		"tools/run.sh*": "", "tools/described": "# mcp: {}", "tools/meta": "", "tools/meta.meta.json": "{}",
		"tools/named.sh*": "",
		"tools/lib.sh":    "", "tools/README.md": "", "tools/a/tool.sh": "",
		"server.d/register.json": `{"version":1,"merge":["tools"],"tools":[{"name":"n","path":"./named.sh"}]}`,
	})
	const text = " is not offered: a tool lies in a directory of its own; move it to tools/"
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
