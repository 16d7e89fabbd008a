package registry

import (
	"net/url"
	"strings"
	"testing"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
)

// The items of pages (registry section 9, RES-305, RES-306).
func TestUIResources(t *testing.T) {
	item := func(name, path string) string {
		return `{"name":"` + name + `","uri":"ui://demo/` + url.PathEscape(name) + `","path":"` + path +
			`","entrypoint":"index.html","hasHtml":true,"template":null,"description":"UI resource for ` + name +
			`","mimeType":"text/html;profile=mcp-app","csp":{},"permissions":{},"prefersBorder":true}`
	}
	entry := func(name, entrypoint, hasHTML string) string {
		return strings.NewReplacer(`"entrypoint":"index.html"`, `"entrypoint":"`+entrypoint+`"`, `"hasHtml":true`,
			`"hasHtml":`+hasHTML).Replace(item(name, "ui/"+name))
	}
	const html = "<p>"
	try(t, kinds.UIResources, []finding{
		{"in both places, at any depth of tools", files{"tools/b/ui/index.html": html, "tools/x/y/c/ui/index.html": html,
			"ui/a/index.html": html},
			item("a", "ui/a") + "\n" + item("b", "tools/b/ui") + "\n" + item("c", "tools/x/y/c/ui"), nil},
		{"nowhere else", files{"tools/ui/index.html": html, "tools/a/ui/sub/ui/index.html": html,
			"tools/a/web/index.html": html, "ui/index.html": html, "ui/a/b/index.html": html,
			"ui/.a/index.html": html, "tools/b/ui/other.html": html, "tools/.c/ui/index.html": html}, "", nil},
		{"all fields, the optional ones last",
			files{"ui/a/ui.meta.json": `{"title":"T","name":"other","description":"d","entrypoint":"main.html","template":"form","config":{},"meta":{"domain":"x.example","prefersBorder":false,
			"permissions":{"camera":{}},"csp":{"connectDomains":["https://a.example"]},"other":1}}`, "ui/a/main.html": html},
			`{"name":"a","uri":"ui://demo/a","path":"ui/a","entrypoint":"main.html","hasHtml":true,"template":"form",
				"description":"d","mimeType":"text/html;profile=mcp-app","csp":{"connectDomains":["https://a.example"]},
				"permissions":{"camera":{}},"prefersBorder":false,"title":"T","domain":"x.example"}`, nil},
		{"wrong types", files{"ui/a/index.html": html, "ui/a/ui.meta.json": `{"description":1,"entrypoint":[],
			"template":{},"title":5,"meta":{"csp":"x","permissions":[],"prefersBorder":"no","domain":1}}`}, item("a", "ui/a"),
			[]string{
				`warning mcp.ui: ui/a/ui.meta.json: "description" must be a string; ignored`,
				`warning mcp.ui: ui/a/ui.meta.json: "entrypoint" must be a string; ignored`,
				`warning mcp.ui: ui/a/ui.meta.json: "template" must be a string; ignored`,
				`warning mcp.ui: ui/a/ui.meta.json: "title" must be a string; ignored`,
				`warning mcp.ui: ui/a/ui.meta.json: meta: "csp" must be an object; ignored`,
				`warning mcp.ui: ui/a/ui.meta.json: meta: "permissions" must be an object; ignored`,
				`warning mcp.ui: ui/a/ui.meta.json: meta: "prefersBorder" must be true or false; ignored`,
				`warning mcp.ui: ui/a/ui.meta.json: meta: "domain" must be a string; ignored`,
			}},
		{"malformed", files{"ui/a/index.html": html, "ui/a/ui.meta.json": `{`, "ui/b/ui.meta.json": `{"meta":[]}`}, item("a",
			"ui/a") + "\n" + entry("b", "index.html", "false"),
			[]string{"warning mcp.ui: Malformed metadata ui/a/ui.meta.json: line 1, column 2: unexpected end, using defaults",
				`warning mcp.ui: ui/b/ui.meta.json: "meta" must be an object; ignored`}},
		{"entry points", files{
			"ui/a/ui.meta.json": `{"entrypoint":"dist/app.html"}`, "ui/a/dist/app.html": html,
			"ui/b/ui.meta.json": `{"entrypoint":"../a/dist/app.html"}`, "ui/b/index.html": html,
			"ui/c/ui.meta.json": `{"entrypoint":"dist/gone.html"}`, "ui/d/ui.meta.json": `{"entrypoint":"/etc/hostname"}`,
			"ui/e/ui.meta.json": `{"entrypoint":"out/app.html"}`, "ui/e/out@": "../a/dist",
			"ui/f/ui.meta.json": `{"entrypoint":"link.html"}`, "ui/f/link.html@": "../a/dist/app.html",
			"ui/g/ui.meta.json": `{"entrypoint":"dir"}`, "ui/g/dir/": ""},
			strings.Join([]string{entry("a", "dist/app.html", "true"), entry("b", "../a/dist/app.html", "false"), entry("c",
				"dist/gone.html", "false"), entry("d", "/etc/hostname", "false"),
				entry("e", "out/app.html", "false"), entry("f", "link.html", "false"), entry("g", "dir", "false")}, "\n"), nil},
		{"the tool's wins", files{"tools/z/a/ui/index.html": html, "tools/a/ui/index.html": html, "ui/a/index.html": html},
			item("a", "tools/a/ui"),
			[]string{"warning mcp.ui: Duplicate UI resource name 'a' in tools/z/a/ui; keeping tools/a/ui",
				"warning mcp.ui: Duplicate UI resource name 'a' in ui/a; keeping tools/a/ui"}},
		{"links", files{"real/index.html": html, "ui/a@": "../real", "tools/t/ui@": "../../real",
			"ui/b/index.html@": "../../real/index.html"}, "", nil},
		{"names", files{"ui/a b/index.html": html, "ui/ü/index.html": html}, item("a b", "ui/a b") + "\n" + item("ü",
			"ui/ü"), nil},
		{"whatever register.json says", files{"ui/a/index.html": html,
			"server.d/register.json": `{"version":1,"resources":[],"tools":[]}`}, item("a", "ui/a"), nil},
		{"even if it is wrong", files{"ui/a/index.html": html, "server.d/register.json": `[`}, item("a", "ui/a"), nil},
	})
}

// each link of a tool is the URI of a page in the list.
func TestLinksHaveTargets(t *testing.T) {
	b := newBed(t, nil, files{"server.d/server.meta.json": `{"name":"My Server/1"}`, "tools/a b/tool.sh": "",
		"tools/a b/ui/index.html": "", "tools/x/y/z/run.sh": "# mcp: {}", "tools/x/y/z/ui/ui.meta.json": "{}"})
	pages := b.listing(kinds.UIResources)
	for _, uri := range []string{`"ui://My%20Server%2F1/a%20b"`, `"ui://My%20Server%2F1/z"`} {
		if tools := b.listing(kinds.Tools); !strings.Contains(tools, `"resourceUri":`+uri) || !strings.Contains(pages,
			`"uri":`+uri) {
			t.Errorf("%s:\n%s\n%s", uri, tools, pages)
		}
	}
}

// a configured directory for pages, and a registry file that another program wrote.
func TestUIElsewhere(t *testing.T) {
	b := newBed(t, nil, files{"pages/a/index.html": "", ".registry/ui-resources.json": `{"timestamp":1,"uiResources":[]}`})
	b.reopen(project.Env{"MCPBASH_UI_DIR": b.Path("pages")}, Options{})
	if got := b.listing(kinds.UIResources); !strings.Contains(got, `"path":"pages/a"`) {
		t.Error(got)
	}
	if got := b.Read(".registry/ui-resources.json"); !strings.Contains(got, `"format_version": 1`) {
		t.Error(got)
	}
	want(t, folder.StampOfPath(b.Path("ui")).Exists(), false)
}
