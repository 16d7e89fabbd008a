//go:build unix

package serve

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

var somePages = map[string]string{
	"server.d/server.meta.json": `{"name":"srv"}`,
	"tools/clock/tool.sh": `printf '%s:%s:%s' "$MCPBASH_CLIENT_SUPPORTS_UI" "$(cat ` +
		`"$MCPBASH_STATE_DIR/extensions.ui.support")" "$(cat "$MCPBASH_STATE_DIR/extensions.ui.mimetypes")"`,
	"tools/clock/tool.meta.json": `{"name":"clock"}`,
	"tools/clock/ui/index.html":  "<!DOCTYPE html>\n<title>Clock</title>\n",
	"tools/old/tool.sh":          `echo old`,
	"tools/old/tool.meta.json":   `{"name":"old","_meta":{"ui/resourceUri":"ui://srv/dash","x":1}}`,
	"ui/dash/index.html":         "<!DOCTYPE html>D",
	"ui/dash/ui.meta.json": `{"description":"D","title":"Dash",` +
		`"meta":{"csp":{"connectDomains":["https://a.example","https://b.example; script-src *"],` +
		`"frameDomains":["https://f.example"]},"permissions":{"camera":{}},"prefersBorder":false,"domain":"d.example"}}`,
	"ui/board/ui.meta.json":        `{"template":"kanban","config":{"title":"Board"}}`,
	"ui/deep/er/index.html":        "deep",
	"ui/big/index.html":            strings.Repeat("x", 3000),
	"ui/latin/index.html":          "caf\xe9",
	"ui/wrong/ui.meta.json":        `{"template":"form","config":{"title":[]}}`,
	"resources/a.txt":              "a",
	"resources/a.txt.meta.json":    `{"name":"a"}`,
	"resources/dash.txt":           "the resource",
	"resources/dash.txt.meta.json": `{"name":"dash"}`,
}

const (
	clockPage = `{"name":"clock","uri":"ui://srv/clock","description":"UI resource for clock","mimeType":"text/html;` +
		`profile=mcp-app","_meta":{"ui":{"csp":{},"permissions":{},"prefersBorder":true}}}`
	dashMeta = `{"ui":{"csp":{"connectDomains":["https://a.example"],"frameDomains":["https://f.example"]},` +
		`"permissions":{"camera":{}},"domain":"d.example","prefersBorder":false}}`
	dashPage = `{"name":"dash","title":"Dash","uri":"ui://srv/dash","description":"D","mimeType":"text/html;` +
		`profile=mcp-app","_meta":` + dashMeta + `}`
)

// RES-340: pages follow the resources for every client, and share their
// cursors.
func TestPagesAreListed(t *testing.T) {
	c := ready(t, somePages, project.Env{"MCP_UI_TTL": "0"})
	all := c.request("resources/list", "")
	var names []string
	for item := range rawjson.Elements(rawjson.Path(json.RawMessage("{"+all+"}"), "result", "resources")) {
		names = append(names, rawjson.TextOf(item, "name"))
	}
	if got := strings.Join(names, " "); got != "a dash big board clock dash latin wrong" {
		t.Errorf("R-173: %s", got)
	}
	for _, want := range []string{clockPage, dashPage, `"_meta":{"mcpbash/total":8}`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
	c.await("the warning of a bad origin", func(line string) bool {
		return strings.Contains(line,
			`"level":"warning","logger":"mcp.ui","data":"ui/dash/ui.meta.json: meta.csp.connectDomains: \"https://b.example; `+
				`script-src *\" is not an origin: dropped"`)
	})
	cursor := func(page string) string {
		return string(rawjson.Path(json.RawMessage("{"+page+"}"), "result", "nextCursor"))
	}
	second := c.request("resources/list", `{"limit":3,"cursor":`+cursor(c.request("resources/list", `{"limit":1}`))+`}`)
	if !strings.Contains(second, `"ui://srv/big"`) || strings.Contains(second, clockPage) {
		t.Errorf("a page across both: %s", second)
	}
	// A cursor does not outlive a change of the pages.
	old := cursor(second)
	if err := os.Rename(filepath.Join(c.root, "ui/board"), filepath.Join(c.root, "ui/plank")); err != nil {
		t.Fatal(err)
	}
	if got := c.request("resources/list",
		`{"cursor":`+old+`}`); got != `"error":{"code":-32602,"message":"Invalid cursor"}` {
		t.Errorf("R-118: %s", got)
	}
	for deadline := time.After(patience); ; {
		select {
		case line := <-c.changed: // of the resources, or of what else was first seen
			if strings.Contains(line, `"notifications/resources/list_changed"`) {
				return
			}
		case <-deadline:
			t.Fatal("R-115: no list_changed")
		}
	}
}

// resources section 17.
func TestPagesAreRead(t *testing.T) {
	c := ready(t, somePages, project.Env{"MCPBASH_MAX_UI_RESOURCE_BYTES": "30000"})
	plain := `{"ui":{"csp":{},"permissions":{},"prefersBorder":true}}`
	content := func(uri, text, meta string) string {
		return `"result":{"contents":[{"uri":"` + uri + `","mimeType":"text/html;profile=mcp-app",` + text +
			`,"_meta":` + meta + `}]}`
	}
	notFound := func(uri string) string {
		return `"error":{"code":-32002,"message":"Resource not found","data":{"uri":"` + uri + `"}}`
	}
	outside := `"error":{"code":-32603,"message":"Resource outside allowed roots"}`
	for _, r := range []struct{ clause, params, want string }{
		{"RES-324", `{"uri":"ui://srv/clock"}`, content("ui://srv/clock",
			`"text":"<!DOCTYPE html>\n<title>Clock</title>\n"`, plain)},
		{"RES-324", `{"uri":"ui://srv/dash"}`, content("ui://srv/dash", `"text":"<!DOCTYPE html>D"`, dashMeta)},
		{"RES-320", `{"uri":"ui://other/dash"}`, content("ui://other/dash", `"text":"<!DOCTYPE html>D"`, dashMeta)},
		{"RES-320", `{"uri":"UI://clock?x"}`, content("UI://clock?x",
			`"text":"<!DOCTYPE html>\n<title>Clock</title>\n"`, plain)},
		{"RES-324", `{"uri":"ui://srv/deep/er"}`, content("ui://srv/deep/er", `"text":"deep"`, `{"ui":{}}`)},
		{"RES-324", `{"uri":"ui://srv/latin"}`, content("ui://srv/latin", `"blob":"Y2Fm6Q=="`, plain)},
		{"RES-33", `{"name":"clock"}`, content("ui://srv/clock", `"text":"<!DOCTYPE html>\n<title>Clock</title>\n"`,
			plain)},
		{"RES-36", `{"uri":"ui://srv/none"}`, notFound("ui://srv/none")},
		{"RES-320", `{"uri":"ui://"}`, notFound("ui://")},
		{"RES-320", `{"uri":"ui://srv/../../x"}`, outside},
		{"RES-320", `{"uri":"ui://srv/%2e%2e/x"}`, outside},
		{"RES-380", `{"uri":"ui://srv/wrong"}`,
			`"error":{"code":-32602,"message":"UI template form: config.title must be text"}`},
	} {
		if got := c.request("resources/read", r.params); got != r.want {
			t.Errorf("%s: %s\n got %s\nwant %s", r.clause, r.params, got, r.want)
		}
	}
	if got := c.request("resources/read", `{"name":"dash"}`); !strings.Contains(got, `"text":"the resource"`) {
		t.Errorf("RES-33: a resource comes before a page of its name: %s", got)
	}
	if got := c.request("resources/read", `{"uri":"ui://srv/board"}`); !strings.Contains(got, `<h2>Board</h2>`) ||
		!strings.Contains(got, `"_meta":`+plain) {
		t.Errorf("RES-321: a template: %.300s", got)
	}
	c = ready(t, somePages, project.Env{"MCPBASH_MAX_UI_RESOURCE_BYTES": "2999"})
	if got := c.request("resources/read",
		`{"uri":"ui://srv/big"}`); got != `"error":{"code":-32603,"message":"UI `+
		`resource too large: 3000 bytes (max: 2999)"}` {
		t.Errorf("RES-323: %s", got)
	}
}

// R-54, RES-31: a resource with a ui:// URI and no provider is the page of that name, also by its own name.
func TestPageOfAResource(t *testing.T) {
	list := map[string]string{"resources/front.meta.json": `{"name":"front","uri":"ui://srv/dash"}`}
	maps.Copy(list, somePages)
	c := ready(t, list, nil)
	for _, params := range []string{`{"name":"front"}`, `{"uri":"ui://srv/dash"}`} {
		if got := c.request("resources/read", params); !strings.Contains(got, `"mimeType":"text/html;profile=mcp-app",`+
			`"text":"<!DOCTYPE html>D"`) {
			t.Errorf("%s: %s", params, got)
		}
	}
}

// RES-325: a provider of the project takes over; type and _meta are still ours.
func TestPagesOfAProjectProvider(t *testing.T) {
	list := map[string]string{"providers/ui.sh": `printf '%s from %s' "$1" "${MCPBASH_UI_DIR##*/}"`}
	for name, text := range somePages {
		list[name] = text
	}
	c := ready(t, list, nil)
	for uri, meta := range map[string]string{"ui://srv/dash": dashMeta, "ui://srv/unknown": `{"ui":{}}`} {
		want := `"result":{"contents":[{"uri":"` + uri + `","mimeType":"text/html;profile=mcp-app","text":"` + uri +
			` from ui","_meta":` + meta + `}]}`
		if got := c.request("resources/read", `{"uri":"`+uri+`"}`); got != want {
			t.Errorf("RES-325:\n got %s\nwant %s", got, want)
		}
	}
}

// R-43, RES-361: tools/list links pages.
func TestToolsLinkPages(t *testing.T) {
	c := ready(t, somePages, nil)
	list := c.request("tools/list", "")
	for _, want := range []string{
		`"_meta":{"ui":{"resourceUri":"ui://srv/clock","visibility":["model","app"]}}`,
		`"_meta":{"x":1,"ui":{"resourceUri":"ui://srv/dash"}}`,
	} {
		if !strings.Contains(list, want) {
			t.Errorf("no %s in %s", want, list)
		}
	}
}

// RES-302, RES-303: scripts can read the capabilities of the client.
func TestScriptsLearnOfPages(t *testing.T) {
	for capabilities, want := range map[string]string{
		`{}`: `0:0:[]`,
		`{"extensions":{"io.modelcontextprotocol/ui":{}}}`: `1:1:["text/html;profile=mcp-app"]`,
		`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;` +
			`profile=mcp-app","x/y"]}}}`: `1:1:["text/html;profile=mcp-app","x/y"]`,
		`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/plain"]},"other":{}},` +
			`"io.modelcontextprotocol/ui":{}}`: `0:0:["text/plain"]`,
	} {
		c := start(t, files(t, somePages), nil)
		c.handshake("2025-11-25", capabilities)
		if got := c.call("clock", "{}"); !strings.Contains(got, `"text":`+string(rawjson.Quote(want))) {
			t.Errorf("%s: %s, want %s", capabilities, got, want)
		}
	}
}
