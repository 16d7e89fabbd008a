//go:build unix

package serve

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// levelTools are a tool for each level, and one that declares nothing.
var levelTools = map[string]string{
	"tools/look/tool.sh": `# mcp: {"name":"look","capabilities":["Search"]}` + "\necho looked",
	"tools/edit/tool.sh": `# mcp: {"name":"edit","capabilities":["Edit"]}`,
	"tools/net/tool.sh":  `# mcp: {"name":"net","capabilities":["Network","Search"]}` + "\ntouch \"$PWD/ran\"",
	"tools/open/tool.sh": `touch "$PWD/ran"`,
}

// withLevels adds files to a project of these tools.
func withLevels(more map[string]string) map[string]string {
	all := maps.Clone(levelTools)
	maps.Copy(all, more)
	return all
}

func listedNames(response string) string {
	result, _ := rawjson.Check([]byte("{" + response + "}"))
	var names []string
	for item := range rawjson.Elements(rawjson.Path(result, "result", "tools")) {
		names = append(names, rawjson.TextOf(item, "name"))
	}
	return strings.Join(names, " ") + " " + string(rawjson.Path(result, "result", "_meta", "mcpbash/total"))
}

// T-4, R-213: an error names the most similar tool that is offered. A long name costs nothing.
func TestNearestTool(t *testing.T) {
	c := ready(t, levelTools, project.Env{"MCPBASH_SECURITY_LEVEL": "standard"})
	for name, reason := range map[string]string{
		"lok": `: no tool has this name; did you mean 'look'?",` +
			`"data":{"reason":"no tool has this name; did you mean 'look'?"}}`, "opne": `"}`, "other": `"}`,
		strings.Repeat("look", 100_000): `"}`,
	} {
		if got := c.call(name, "{}"); got != `"error":{"code":-32602,"message":"Tool '`+name+`' not found`+reason {
			t.Errorf("%.300s", got)
		}
	}
}

// the items of each level, and the total in lists.
func TestLevels(t *testing.T) {
	for _, tc := range []struct{ operator, project, want string }{
		{"", "", "edit look net open 4"},
		{"full", "FULL", "edit look net open 4"},
		{"elevated", "", "edit look net 3"},
		{"Standard", "elevated", "edit look 2"},
		{"elevated", "standard", "edit look 2"}, // neither loosens the other
		{"full", "restricted", "look 1"},
		{"restricted", "full", "look 1"},
		{"none", "", "look 1"}, // misspelt
	} {
		c := ready(t, withLevels(map[string]string{"server.d/server.meta.json": fmt.Sprintf(`{"securityLevel":%q}`,
			tc.project)}),
			project.Env{"MCPBASH_SECURITY_LEVEL": tc.operator})
		if got := listedNames(c.request("tools/list", "")); got != tc.want {
			t.Errorf("%q and %q: %s, want %s", tc.operator, tc.project, got, tc.want)
		}
		// The file does not depend on the level.
		file, err := os.ReadFile(c.root + "/.registry/tools.json")
		if n := strings.Count(string(file), `"path": `); err != nil || n != len(levelTools) {
			t.Errorf("%d tools in the file, %v", n, err)
		}
		c.end()
	}
}

// R-213, T-5a: refused before policy.sh and before anything
// starts; an allow list does not lift it.
func TestLevelRefusal(t *testing.T) {
	c := ready(t, withLevels(map[string]string{
		"server.d/policy.sh": `touch "$MCPBASH_PROJECT_ROOT/asked"; mcp_tools_policy_check() { return 0; }`,
	}), project.Env{"MCPBASH_SECURITY_LEVEL": "standard", "MCPBASH_TOOL_ALLOWLIST": "*"})
	want := `"error":{"code":-32602,"message":"Tool 'net' requires security level 'elevated' (current level: ` +
		`'standard')",` +
		`"data":{"tool":"net","requiredLevel":"elevated","level":"standard","capabilities":["Network","Search"]}}`
	if got := c.call("net", "{}"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want = `"error":{"code":-32602,"message":"Tool 'open' requires security level 'full' (current level: 'standard')",` +
		`"data":{"tool":"open","requiredLevel":"full","level":"standard","capabilities":null}}`
	if got := c.call("open", "{}"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if exists(c.root+"/asked") || exists(c.root+"/ran") {
		t.Error("something started")
	}
	if got := c.call("look", "{}"); !strings.Contains(got, "looked") || !exists(c.root+"/asked") {
		t.Error(got)
	}
}

// a cursor belongs to the level it was made at.
func TestLevelCursors(t *testing.T) {
	open := func(level string) *testClient {
		return ready(t, levelTools, project.Env{"MCPBASH_SECURITY_LEVEL": level})
	}
	cursor := func(c *testClient) string {
		page := c.request("tools/list", `{"limit":1}`)
		_, rest, _ := strings.Cut(page, `"nextCursor":"`)
		cursor, _, _ := strings.Cut(rest, `"`)
		return cursor
	}
	full, standard := open(""), open("standard")
	of := cursor(standard)
	if got := listedNames(standard.request("tools/list", `{"cursor":"`+of+`"}`)); got != "look 2" {
		t.Error(got)
	}
	if got := full.request("tools/list", `{"cursor":"`+of+`"}`); !strings.Contains(got, "Invalid cursor") {
		t.Error(got)
	}
	if got := standard.request("tools/list", `{"cursor":"`+cursor(full)+`"}`); !strings.Contains(got,
		"Invalid cursor") {
		t.Error(got)
	}
}

// an unknown level is logged once, and counts as the lowest.
func TestUnknownLevels(t *testing.T) {
	c := ready(t, withLevels(map[string]string{"server.d/server.meta.json": `{"securityLevel":["full"]}`}),
		project.Env{"MCPBASH_SECURITY_LEVEL": "hihg"})
	c.end()
	for _, line := range []string{
		"mcp-bash: error: mcp.registry: Invalid security level 'hihg' in MCPBASH_SECURITY_LEVEL; using restricted\n",
		"mcp-bash: error: mcp.registry: Invalid security level '[\"full\"]' in server.d/server.meta.json; using restricted\n",
	} {
		if n := strings.Count(c.stderr.String(), line); n != 1 {
			t.Errorf("%q: %d times in\n%s", line, n, c.stderr.String())
		}
	}
}

// env.sh of the project cannot change the operator's level.
func TestServerEnvKeepsLevel(t *testing.T) {
	c := ready(t, withLevels(map[string]string{"server.d/env.sh": "export MCPBASH_SECURITY_LEVEL=full"}),
		project.Env{"MCPBASH_SECURITY_LEVEL": "restricted", "MCPBASH_SERVER_SOURCE_ENV": "true"})
	if got := listedNames(c.request("tools/list", "")); got != "look 1" {
		t.Error(got)
	}
}

// P-120: the getting-started tool is ours, whatever the level.
func TestBootstrapLevel(t *testing.T) {
	elsewhere := t.TempDir()
	c := startWith(t, "", project.Env{"MCPBASH_PROJECT_ROOT": "", "MCPBASH_TOOL_ALLOWLIST": "",
		"MCPBASH_SECURITY_LEVEL": "restricted"},
		func(o *Options) { o.Dir = elsewhere }, nil)
	c.handshake("2025-11-25", "{}")
	if got := listedNames(c.request("tools/list", "")); got != "getting_started 1" {
		t.Error(got)
	}
}
