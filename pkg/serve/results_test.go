//go:build unix

package serve

import (
	"encoding/json"
	"maps"
	"runtime"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// largeTools is a project whose tools print much.
var largeTools = map[string]string{
	"server.d/server.meta.json":  `{"largeResultBytes":4096}`,
	"tools/lines/tool.sh":        "#!/bin/bash\nseq 1 20000\n",
	"tools/lines/tool.meta.json": `{"name":"lines","description":"d","inputSchema":{"type":"object"}}`,
	"tools/json/tool.sh":         "#!/bin/bash\nprintf '{\"a\":\"%09000d\"}' 1\n",
	"tools/json/tool.meta.json":  `{"name":"json","description":"d","inputSchema":{"type":"object"}}`,
	"tools/own/tool.sh": "#!/bin/bash\nprintf '{\"content\":[{\"type\":\"text\",\"text\":\"%070000d\"}]," +
		"\"isError\":false}' 1\n",
	"tools/own/tool.meta.json": `{"name":"own","description":"d","inputSchema":{"type":"object"}}`,
	"tools/plain/tool.sh":      "#!/bin/bash\nseq 1 20000\n",
	"tools/plain/tool.meta.json": `{"name":"plain","description":"d","inputSchema":{"type":"object"},` +
		`"largeResultBytes":0}`,
	"tools/huge/tool.sh":        "#!/bin/bash\nyes 'a line of a very long result' | head -c 100000000\n",
	"tools/huge/tool.meta.json": `{"name":"huge","description":"d","inputSchema":{"type":"object"}}`,
}

// link returns the URI of the link in a result.
func link(t *testing.T, response string) string {
	t.Helper()
	result := rawjson.Get(json.RawMessage("{"+trimResponse(response)+"}"), "result")
	for item := range rawjson.Elements(rawjson.Get(result, "content")) {
		if rawjson.TextOf(item, "type") == "resource_link" {
			return rawjson.TextOf(item, "uri")
		}
	}
	t.Fatalf("no link in %.2000s", response)
	return ""
}

func trimResponse(response string) string {
	return strings.TrimSuffix(strings.TrimPrefix(response, "{"), "}")
}

// LR-1 to LR-5, LR-10 to LR-12.
func TestLargeResults(t *testing.T) {
	c := ready(t, largeTools, nil)
	got := c.call("lines", "{}")
	uri := link(t, got)
	if len(got) > 4500 || !strings.Contains(got, `1\n2\n3\n`) || !strings.Contains(got, `19999\n20000\n`) {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	for query, want := range map[string]string{
		"?offset=9999&limit=2":              `"text":"10000\n10001\n"`,
		"?unit=bytes&offset=0&limit=3":      `"text":"1\n2"`,
		"?unit=bytes&offset=108888&limit=9": `"text":"20000\n"`,
		"?offset=30000":                     `"text":""`,
		"?limit=0":                          "Invalid range",
		"?offset=-1":                        "Invalid range",
		"?offset=1&offset=2":                "Invalid range",
		"?other=1":                          "Invalid range",
	} {
		if got := c.request("resources/read", `{"uri":"`+uri+query+`"}`); !strings.Contains(got, want) {
			t.Errorf("%s: %s", query, got)
		}
	}
	if got := c.request("resources/read", `{"uri":"`+uri+`"}`); len(got) > 90000 ||
		!strings.Contains(got, "mcpbash/next") {
		t.Errorf("an answer of %d bytes", len(got))
	}
	if got := c.call("json", "{}"); !strings.Contains(got, "bytes of JSON") || strings.Contains(got, "structuredContent") {
		t.Error(got)
	} else {
		link(t, got)
	}
	for _, name := range []string{"own", "plain"} {
		if got := c.call(name, "{}"); len(got) < 70000 || strings.Contains(got, "resource_link") {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
	other := ready(t, largeTools, nil)
	if got := other.request("resources/read", `{"uri":"`+uri+`"}`); !strings.Contains(got, "Resource not found") {
		t.Error(got)
	}
}

// T-138: stored results have no colors, whether the output was in memory or in a file.
func TestLargeResultWithoutColors(t *testing.T) {
	for lines, size := range map[string]string{"1000": `"size":8893`, "20000": `"size":208894`} {
		c := ready(t, map[string]string{
			"server.d/server.meta.json": `{"largeResultBytes":4096}`,
			"tools/red/tool.sh":         "#!/bin/bash\nseq -f $'\\e[31mline %g\\e[0m' " + lines + "\n",
		}, nil)
		got := c.call("red", "{}")
		part := c.request("resources/read", `{"uri":"`+link(t, got)+`?offset=500&limit=1"}`)
		if strings.Contains(got+part, "u001b") || !strings.Contains(got, size) ||
			!strings.Contains(part, `"text":"line 501\n"`) {
			t.Errorf("%s lines: %s\n%s", lines, got, part)
		}
	}
}

// LR-7, LR-20: 100 MB cost the client 4 KB, and the server little memory.
func TestHugeResult(t *testing.T) {
	c := ready(t, largeTools, nil)
	c.call("lines", "{}")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := c.call("huge", "{}")
	runtime.ReadMemStats(&after)
	link(t, got)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("the call allocated %d bytes", grown)
	}
	if len(got) > 4500 || !strings.Contains(got, `"size":100000000`) {
		t.Errorf("%d bytes", len(got))
	}
}

// LR-21: a result that is too large ends the script; older results leave; old revisions get no link.
func TestLargeResultLimits(t *testing.T) {
	c := ready(t, largeTools, project.Env{"MCPBASH_LARGE_RESULT_SESSION_BYTES": "200000",
		"MCPBASH_LARGE_RESULT_MAX_BYTES": "11000000"})
	first := link(t, c.call("lines", "{}"))
	second := link(t, c.call("lines", "{}"))
	if got := c.request("resources/read", `{"uri":"`+first+`"}`); !strings.Contains(got, "Resource not found") {
		t.Error("the oldest result is still there")
	}
	if got := c.request("resources/read", `{"uri":"`+second+`?limit=1"}`); !strings.Contains(got, `"text":"1\n"`) {
		t.Error(got)
	}
	if got := c.call("huge", "{}"); !strings.Contains(got, "output exceeded 11000000 bytes") {
		t.Errorf("%.300s", got)
	}
	old := start(t, files(t, largeTools), nil)
	old.handshake("2024-11-05", "{}")
	if got := old.call("lines", "{}"); strings.Contains(got, "resource_link") ||
		!strings.Contains(got, "mcpbash-result://") {
		t.Errorf("%.300s", got)
	}
}

// LR-30, LR-31: a tool searches results, only where it is switched on, for the client that has them and
// that may call it.
func TestResultSearch(t *testing.T) {
	search := func(c *testClient, uri, members string) string {
		return c.call("result_search", `{"uri":"`+uri+`"`+members+`}`)
	}
	off := ready(t, largeTools, nil)
	uri := link(t, off.call("lines", "{}"))
	if got := off.request("tools/list", "{}"); strings.Contains(got, "result_search") {
		t.Error("the tool is listed although it is switched off")
	}
	if got := search(off, uri, `,"pattern":"x"`); !strings.Contains(got, "Tool 'result_search' not found") {
		t.Error(got)
	}
	on := project.Env{"MCPBASH_LARGE_RESULT_SEARCH": "true"}
	c := ready(t, largeTools, on)
	got := c.call("lines", "{}")
	if uri = link(t, got); !strings.Contains(got, "Search it with the tool result_search") {
		t.Error(got)
	}
	if got := c.request("tools/list", "{}"); !strings.Contains(got, `"name":"result_search"`) ||
		!strings.Contains(got, `"mcpbash/total":6`) {
		t.Error(got)
	}
	for members, want := range map[string]string{
		`,"pattern":"1999","limit":2`:                    `"text":"1998:8883:1999\n11998:60882:11999\n[2 matches. The`,
		`,"pattern":"^1.{3}9$","regex":true,"limit":1`:   `"text":"10008:48942:10009\n[1 match. The answer is full.`,
		`,"pattern":"20000","offset":108000.0`:           `"text":"19999:108888:20000\n[1 match, to the end of 108894`,
		`,"offset":108888`:                               `"text":"20000\n"`,
		`,"pattern":"(","regex":true`:                    `Invalid pattern: error parsing regexp`,
		`,"pattern":"x{600}y{600}","regex":true`:         `Invalid pattern: it is too complex`,
		`,"pattern":"` + strings.Repeat("x", 1025) + `"`: `Invalid arguments`,
		`,"limit":501`:                                   `Invalid arguments`,
		`,"more":1`:                                      `Invalid arguments`,
	} {
		if got := search(c, uri, members); !strings.Contains(got, want) ||
			strings.HasPrefix(want, "Invalid") != strings.Contains(got, `"isError":true`) {
			t.Errorf("%s: %s", members, got)
		}
	}
	if got := search(ready(t, largeTools, on), uri, `,"pattern":"1"`); !strings.Contains(got, "No such result") {
		t.Errorf("another session: %s", got)
	}
	if got := c.call("result_search", `{}`); !strings.Contains(got, "Invalid arguments") {
		t.Error(got)
	}
	named := ready(t, largeTools, project.Env{"MCPBASH_LARGE_RESULT_SEARCH": "true", "MCPBASH_TOOL_ALLOWLIST": "lines"})
	if got := search(named, link(t, named.call("lines", "{}")), ""); !strings.Contains(got, "blocked by policy") {
		t.Error(got)
	}
	own := maps.Clone(largeTools)
	own["server.d/server.meta.json"] = `{"largeResultBytes":4096,"largeResultSearch":true}`
	own["tools/result_search/tool.sh"] = "#!/bin/bash\necho the project has its own\n"
	own["tools/result_search/tool.meta.json"] = `{"name":"result_search","description":"d",` +
		`"inputSchema":{"type":"object"}}`
	replaced := ready(t, own, nil)
	if got := search(replaced, uri, ""); !strings.Contains(got, "the project has its own") {
		t.Error(got)
	}
	if got := replaced.request("tools/list", "{}"); strings.Count(got, `"name":"result_search"`) != 1 {
		t.Error(got)
	}
}
