package registry

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// listing returns the JSON of all items of a kind.
func (b *bed) listing(k *kinds.Kind) string {
	b.T.Helper()
	list, err := b.List(b.T.Context(), k)
	if err != nil {
		b.T.Fatal(err)
	}
	var items []string
	for _, item := range list.Items {
		items = append(items, string(item.JSON))
	}
	return strings.Join(items, "\n")
}

// The examples of registry sections 5 to 9: project files, the items that are made from them, and the registry files.
func TestExamplesOfTheContract(t *testing.T) {
	b := newBed(t, nil, files{
		"resources/docs/readme.md": "# Hi",
		"resources/logs.meta.json": `{"name":"logs-by-date","uriTemplate":"file:///var/log/{service}/{date}.log","title":"Logs by Date",
			"description":"Log files by service and date","mimeType":"text/plain","annotations":{"audience":["user"]}}`,
		"prompts/summarise/summarise.txt": "{{notes}}",
		"prompts/summarise/summarise.meta.json": `{"name":"summarise-notes","description":"Summarise meeting notes",
			"arguments":{"type":"object","required":["notes"],"properties":{"notes":{"type":"string"}}}}`,
		"completions/suggest.sh*": "",
		"server.d/register.json": `{"version":1,"completions":[{"name":"demo.completion",
			"path":"completions/suggest.sh","timeoutSecs":5}]}`,
		"server.d/server.meta.json":   `{"name":"my-server"}`,
		"tools/weather/tool.sh":       "",
		"tools/weather/ui/index.html": "<p>",
		"tools/weather/ui/ui.meta.json": `{"description":"Weather card",
			"meta":{"csp":{"connectDomains":["https://cdn.example.com"]}}}`,
	})
	for _, tc := range []struct {
		kind *kinds.Kind
		want string
	}{
		{kinds.Resources, `{"name":"readme","description":"","path":"docs/readme.md","uri":"file://` + b.Root +
			`/resources/docs/readme.md","mimeType":"text/markdown","provider":"file","uriAuto":true}`},
		{kinds.Templates, `{"name":"logs-by-date","uriTemplate":"file:///var/log/{service}/{date}.log","title":"Logs by ` +
			`Date","description":"Log files by service and date","mimeType":"text/plain","annotations":{"audience":["user"]}}`},
		{kinds.Prompts, `{"name":"summarise-notes","description":"Summarise meeting notes",
			"path":"summarise/summarise.txt","arguments":{"type":"object","required":["notes"],
			"properties":{"notes":{"type":"string"}}},"role":"user","metadata":null}`},
		{kinds.Completions, `{"name":"demo.completion","path":"completions/suggest.sh","kind":"shell","timeoutSecs":5}`},
		{kinds.UIResources, `{"name":"weather","uri":"ui://my-server/weather","path":"tools/weather/ui",
			"entrypoint":"index.html","hasHtml":true,"template":null,"description":"Weather card","mimeType":"text/html;` +
			`profile=mcp-app","csp":{"connectDomains":["https://cdn.example.com"]},"permissions":{},"prefersBorder":true}`},
	} {
		wantJSON(t, b.listing(tc.kind), tc.want)
		e, err := parseEnvelope([]byte(b.Read(".registry/" + tc.kind.File)))
		if err != nil || len(e.items) != 1 || !jsontest.Same(string(e.items[0]), tc.want) || e.hash != hashOf(e.items) {
			t.Errorf("%s: %v %+v", tc.kind.File, err, e)
		}
	}
	readme := b.listing(kinds.Resources)
	list, _ := b.List(t.Context(), kinds.Resources)
	want(t, list.Hash, "f1195d711a718a2e623da67fa8dee483629543ed6e1608f9f1fa8faa1164e259") // R-21, independent of the path
	want(t, item.URI(b.Project, []byte(readme)), "file://"+b.Root+"/resources/docs/readme.md")
	b.WantLog()
}

// named returns the names of the items of a kind.
func (b *bed) named(k *kinds.Kind) string {
	b.T.Helper()
	list, err := b.List(b.T.Context(), k)
	if err != nil {
		return "error: " + err.Error()
	}
	return namesOf(list)
}

// mixed is a project with two discovered items of each kind that can be discovered.
var mixed = files{
	"tools/t1/tool.sh": "", "tools/t2/tool.sh": "", "resources/r1.txt": "", "resources/sub/r2.txt": "",
	"prompts/p1.txt": "", "prompts/sub/p2.txt": "",
	"resources/m1.meta.json":     `{"name":"m1","uriTemplate":"x://{y}"}`,
	"resources/sub/m2.meta.json": `{"name":"m2","uriTemplate":"x://{y}"}`,
	"ui/u1/index.html":           "", "tools/t1/ui/index.html": "", "s.sh": "",
}

// all returns the names of the items of every kind.
func (b *bed) all() string {
	b.T.Helper()
	var lines []string
	for _, k := range kinds.All {
		lines = append(lines, k.Key+": "+b.named(k))
	}
	return strings.Join(lines, "\n")
}

// after returns the result of all if some kinds differ from the discovered items.
func after(changed ...string) string {
	lines := []string{"tools: t1 t2", "resources: r1 r2", "resourceTemplates: m1 m2", "prompts: p1 p2", "completions: ",
		"ui: t1 u1"}
	for _, c := range changed {
		for i := range lines {
			if key, _, _ := strings.Cut(c, ":"); strings.HasPrefix(lines[i], key+":") {
				lines[i] = c
			}
		}
	}
	return strings.Join(lines, "\n")
}

// each kind has its own source.
func TestSourceOfEachKind(t *testing.T) {
	const (
		resources   = `[{"name":"z","uri":"x://z"},{"name":"r1","uri":"x://1"},{"name":"z","uri":"x://zz"}]`
		prompts     = `[{"name":"z","path":"z.txt"},{"name":"other","path":"p1.txt"}]`
		templates   = `[{"name":"m1","uriTemplate":"mine://{y}"}]`
		completions = `[{"name":"c","path":"s.sh"}]`
	)
	for _, tc := range []struct {
		name, json, script string
		want               string
	}{
		{"nobody", "", "", after()},
		{"null", `{"version":1,"tools":null,"resources":null,"resourceTemplates":null,"prompts":null,"completions":null}`, "",
			after()},
		{"empty", `{"version":1,"tools":[],"resources":[],"resourceTemplates":[],"prompts":[],"completions":[]}`, "",
			after("tools: ", "resources: ", "resourceTemplates: ", "prompts: ")},
		{"in place of what is found, in their order",
			`{"version":1,"resources":` + resources + `,"prompts":` + prompts + `,"resourceTemplates":` + templates +
				`,"completions":` + completions + `}`, "",
			after("resources: z r1", "prompts: z other", "completions: c")},
		{"laid over, by name and by path",
			`{"version":1,"merge":["resources","prompts"],"resources":` + resources + `,"prompts":` + prompts + `}`, "",
			after("resources: r1 r2 z", "prompts: other p2 z")},
		{"merged and empty", `{"version":1,"merge":["tools","resources","prompts"],"tools":[],"resources":[],"prompts":[]}`,
			"", after()},
		{"exclude is for tools", `{"version":1,"exclude":["t1","r1","p1","m1"]}`, "", after("tools: t2")},
		{"register.json keeps register.sh from running", `{"version":1}`, `mcp_prompts_manual_finalize`, after()},
		{"hooks register", "", `mcp_register_resource '{"name":"z","uri":"x://z"}'; mcp_register_resource '{"name":"a","uri":"x://a"}'
			mcp_register_prompt '{"name":"z","path":"z.txt"}'; mcp_register_prompt '{"name":"a","path":"p1.txt"}'
			mcp_resources_templates_register_manual '{"name":"m3","uriTemplate":"x://{y}"}'; mcp_completion_register_manual '{"name":"c","path":"s.sh"}'`,
			after("resources: a z", "prompts: a z", "resourceTemplates: m1 m2 m3", "completions: c")},
		{"hooks by their long names", "", `mcp_resources_register_manual '{"name":"z","uri":"x://z"}'; ` +
			`mcp_prompts_register_manual '{"name":"z","path":"z.txt"}'`,
			after("resources: z", "prompts: z")},
		{"hooks finalize", "", `mcp_resources_manual_finalize; mcp_resources_templates_manual_finalize; ` +
			`mcp_prompts_manual_finalize; mcp_completion_manual_finalize`,
			after("resources: ", "resourceTemplates: ", "prompts: ")},
		{"hooks abort and begin again", "",
			`for k in resources resources_templates prompts completion; do "mcp_${k}_register_manual" '{'; "mcp_${k}_manual_abort"; done
			mcp_prompts_manual_begin; mcp_prompts_register_manual '{"name":"z","path":"z.txt"}'`, after("prompts: z")},
		{"hooks print", "", `echo '{"resources":` + resources + `,"prompts":` + prompts + `,"resourceTemplates":` +
			templates + `,"completions":` + completions + `}'`,
			after("resources: z r1", "prompts: z other", "completions: c")},
		{"hooks print an empty list of templates", "", `echo '{"resourceTemplates":[]}'`, after("resourceTemplates: ")},
		{"hooks fail, each for itself", "",
			`mcp_register_resource '{'; mcp_resources_templates_register_manual '{'; mcp_register_prompt '{"path":"x"}'; mcp_register_prompt '{"name":"z","path":"x"}'
			mcp_completion_register_manual '{"name":"c","path":"gone.sh"}'`,
			after("resources: error: manual resources registration finalize failed: resources[0]: line 1, column 2: "+
				"unexpected end",
				"resourceTemplates: error: manual resourceTemplates registration finalize failed: resourceTemplates[0]: line 1, "+
					"column 2: unexpected end", "prompts: z", "completions: ")},
		{"what hooks print of bad templates is left out", "", `echo '{"resourceTemplates":[{"name":"x"},{"name":"m3",` +
			`"uriTemplate":"x://{y}"}],"completions":[]}'`, after("resourceTemplates: m1 m2 m3")},
		{"a hook that ends badly fails all but the pages", "", "exit 3", after(
			"tools: error: Manual registration script failed", "resources: error: Manual registration script failed",
			"resourceTemplates: error: Manual registration script failed",
			"prompts: error: Manual registration script failed", "completions: error: Manual registration script failed")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t, nil, mixed)
			if tc.json != "" {
				b.Put(files{"server.d/register.json": tc.json})
			}
			if tc.script != "" {
				b.Put(files{"server.d/register.sh*": tc.script})
			}
			b.reopen(project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}, b.hooks())
			want(t, b.all(), tc.want)
			if !strings.Contains(tc.want, "error") { // another process gets the same list and writes nothing
				before := b.files()
				b.reopen(project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}, b.hooks())
				want(t, b.all(), tc.want)
				want(t, b.files(), before)
			}
		})
	}
}

// of two entries with the same name, the first in the file stays. Paths and merging do not matter.
func TestFirstEntryStays(t *testing.T) {
	for _, merge := range []string{``, `"merge":["prompts"],`} {
		b := newBed(t, nil, files{"server.d/register.json": `{"version":1,` + merge + `"prompts":[{"name":"d",
			"path":"z.txt"},{"name":"d","path":"b.txt"}]}`})
		if got := b.listing(kinds.Prompts); !strings.Contains(got, `"path":"z.txt"`) || strings.Contains(got, "\n") {
			t.Error(got)
		}
		b.WantLog("warning mcp.prompts: Duplicate prompt name 'd' in prompts/b.txt; keeping prompts/z.txt")
	}
}

// files returns the six registry files.
func (b *bed) files() string {
	b.T.Helper()
	var text strings.Builder
	for _, k := range kinds.All {
		text.WriteString(b.Read(".registry/" + k.File))
	}
	return text.String()
}

// items of handwritten lists get the same fields as discovered items.
func TestHandwrittenItems(t *testing.T) {
	const (
		resource = `{"title":"T","uri":"https://x/a.json","odd":[1.0],"name":"r","annotations":null,"path":""}`
		prompt   = `{"odd":1,"path":"p.txt","name":"p","arguments":[{"name":"q"}],"_meta":{"k":1},"title":"T"}`
		template = `{"odd":1,"uriTemplate":"x://{y}\n","name":"t","icons":[{"src":"i.svg"}]}`
	)
	icon := `{"src":"data:image/svg+xml;base64,PHN2Zy8+","mimeType":"image/svg+xml"}`
	items := func(b *bed) string {
		return b.listing(kinds.Resources) + "\n" + b.listing(kinds.Prompts) + "\n" + b.listing(kinds.Templates)
	}
	const (
		known = `{"name":"r","title":"T","description":"","uri":"https://x/a.json","mimeType":"application/json",
			"provider":"https"`
		said = `{"name":"p","title":"T","description":"","path":"p.txt","arguments":[{"name":"q"}],"role":"user",
			"metadata":null,"_meta":{"k":1}`
	)
	filled := `{"name":"t","uriTemplate":"x://{y}","icons":[` + icon + `]}`
	b := newBed(t, nil, files{"resources/i.svg": "<svg/>",
		"server.d/register.json": `{"version":1,"resources":[` + resource + `],"prompts":[` + prompt +
			`],"resourceTemplates":[` + template + `]}`})
	wantJSON(t, items(b), known+`,"odd":[1.0]}`+"\n"+said+`,"odd":1}`+"\n"+filled)
	b = withHook(t, "mcp_register_resource '"+resource+"'; mcp_register_prompt '"+prompt+
		"'; mcp_resources_templates_register_manual '"+strings.ReplaceAll(template, `\n`, "")+"'", nil)
	b.Put(files{"resources/i.svg": "<svg/>"})
	wantJSON(t, items(b), known+"}\n"+said+"}\n"+filled)
}

// in static mode, all six files are served unchanged, and no directory is scanned.
func TestStaticModeOfAllKinds(t *testing.T) {
	env := project.Env{"MCPBASH_STATIC_REGISTRY": "1"}
	b := newBed(t, nil, mixed)
	b.Put(files{"server.d/register.json": `{"version":1,"completions":[{"name":"c","path":"s.sh"}],
		"resourceTemplates":[{"name":"m3","uriTemplate":"x://{y}"}]}`})
	there := after("completions: c", "resourceTemplates: m1 m2 m3")
	want(t, b.all(), there)
	b.Log()
	for name := range mixed {
		b.Remove(name)
	}
	b.Remove("server.d/register.json")
	b.reopen(env, Options{})
	want(t, b.all(), there)
	b.Advance(time.Hour)
	want(t, b.all(), there)
	want(t, b.changed(Poll{Fresh: true}), "")
	b.WantLog(staticNotice)
	// The entries of register.json have precedence.
	b.Put(files{"server.d/register.json": `{"version":1,"prompts":[{"name":"z","path":"z"}],"resourceTemplates":[]}`})
	b.reopen(env, Options{})
	want(t, b.all(), after("completions: c", "prompts: z", "resourceTemplates: "))
	// A refresh scans the directories.
	b.Remove("server.d/register.json")
	if r := b.refresh(""); !strings.HasPrefix(string(r.AppendJSON(nil)),
		"{\n  \"tools\": {\"status\":\"ok\",\"count\":0") {
		t.Errorf("%s", r.AppendJSON(nil))
	}
}

// a filter limits the scan of the kinds whose directory contains the filter's path. The others are refreshed
// completely.
func TestFilterOfOtherKinds(t *testing.T) {
	b := newBed(t, nil, mixed)
	b.refresh("")
	b.Put(files{"resources/r3.txt": "", "resources/sub/r4.txt": "",
		"resources/m3.meta.json":     `{"name":"m3","uriTemplate":"x://{y}"}`,
		"resources/sub/m4.meta.json": `{"name":"m4","uriTemplate":"x://{y}"}`,
		"prompts/p3.txt":             "", "tools/t3/tool.sh": "", "ui/u3/index.html": "", "tools/t3/ui/index.html": ""})
	b.Remove("resources/sub/r2.txt")
	b.refresh("resources/sub")
	var names []string
	for _, k := range kinds.All {
		file, err := b.store.read(k)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, k.Key+": "+namesOf(file.list(k)))
	}
	want(t, strings.Join(names, "\n"), after("tools: t1 t2 t3", "resources: r1 r4", "resourceTemplates: m1 m2 m4",
		"prompts: p1 p2 p3", "ui: t1 t3 u1 u3"))
	b.WantLog()
	b.refresh("server.d")
	b.WantLog("warning mcp.registry: registry filter 'server.d' matches no content directory; ignoring")
	want(t, b.all(), after("tools: t1 t2 t3", "resources: r1 r3 r4", "resourceTemplates: m1 m2 m3 m4", "prompts: p1 p2 p3",
		"ui: t1 t3 u1 u3"))
}

// each kind has its own TTL.
func TestChangesOfOtherKinds(t *testing.T) {
	b := newBed(t, project.Env{"MCP_PROMPTS_TTL": "60", "MCP_UI_TTL": "0"}, mixed)
	want(t, b.changed(Poll{}), allKinds)
	b.Put(files{"prompts/p3.txt": "", "ui/u2/index.html": "", "resources/r3.txt": "",
		"resources/m3.meta.json": `{"name":"m3","uriTemplate":"x://{y}"}`})
	b.Advance(2 * time.Second)
	want(t, b.changed(Poll{}), "ui")
	b.Advance(4 * time.Second)
	want(t, b.changed(Poll{}), "resources resourceTemplates")
	b.Advance(time.Minute)
	want(t, b.changed(Poll{}), "prompts")
	b.Put(files{"server.d/register.json": `{"version":1,"completions":[{"name":"c","path":"s.sh"}]}`})
	b.Advance(time.Minute)
	want(t, b.changed(Poll{}), "completions")
	b.Put(files{"prompts/p3.txt": "other", "ui/u2/index.html": "other", "resources/r3.txt": "other"})
	b.Advance(time.Minute)
	want(t, b.changed(Poll{}), "")
}

// limits on the registry files of other kinds.
func TestLimitsOfOtherKinds(t *testing.T) {
	many := files{}
	for i := range 501 {
		many[fmt.Sprintf("prompts/%03d.txt", i)] = ""
		many[fmt.Sprintf("resources/%03d.txt", i)] = ""
		many[fmt.Sprintf("resources/t%03d.meta.json", i)] = fmt.Sprintf(`{"name":"t%03d","uriTemplate":"x://{y}"}`, i)
		many[fmt.Sprintf("ui/%03d/index.html", i)] = ""
	}
	b := newBed(t, nil, many)
	for _, k := range b.refresh("").Kinds {
		if want := map[string]int{"prompts": 501, "resources": 501, "resourceTemplates": 501,
			"ui": 501}[k.Kind.Key]; k.Count != want {
			t.Errorf("%s: %d", k.Kind.Key, k.Count)
		}
	}
	b.WantLog("warning mcp.prompts: Prompts registry contains 501 entries; consider manual registration",
		"warning mcp.resources: Resources registry contains 501 entries; consider manual registration",
		"warning mcp.resources.templates: Resource templates registry contains 501 entries; consider manual registration")
	b.Put(files{"s.sh": "", "server.d/register.json": `{"version":1,"completions":[{"name":"` + strings.Repeat("c",
		100) + `","path":"s.sh"}]}`})
	b.reopen(project.Env{"MCPBASH_REGISTRY_MAX_BYTES": "200"}, Options{})
	for kind, text := range map[*kinds.Kind]string{
		kinds.Resources: "Resources registry exceeds 200 byte cap", kinds.Templates: "Resource templates registry exceeds " +
			"200 byte cap", kinds.Prompts: "Prompts registry exceeds 200 byte cap",
		kinds.UIResources: "UI registry exceeds 200 byte cap", kinds.Completions: "Declarative register.json apply failed " +
			"for completions",
	} {
		want(t, b.named(kind), "error: "+text)
	}
}

// icon paths are relative to the metadata file.
func TestIconsOfOtherKinds(t *testing.T) {
	const svg = `{"src":"data:image/svg+xml;base64,PHN2Zy8+","mimeType":"image/svg+xml"}`
	b := newBed(t, noTTL, files{"resources/d/a.txt": "", "resources/d/a.meta.json": `{"icons":[{"src":"i.svg"},
		{"src":"gone.png"}]}`, "resources/d/i.svg": "<svg/>", "resources/d/i.svg.meta.json": "{}",
		"resources/d/b.txt": "# mcp: {\"icons\":[{\"src\":\"./i.svg\"}]}", "prompts/p.txt": "",
		"prompts/p.meta.json": `{"icons":[{"src":"../resources/d/i.svg","sizes":["any"]}]}`})
	for _, tc := range []struct {
		kind *kinds.Kind
		want string
	}{
		{kinds.Resources, `"icons":[` + svg + `]`},
		{kinds.Prompts, `"icons":[{"src":"data:image/svg+xml;base64,PHN2Zy8+","sizes":["any"],"mimeType":"image/svg+xml"}]`},
	} {
		if got := b.listing(tc.kind); !strings.Contains(got, tc.want) {
			t.Error(got)
		}
	}
	b.WantLog("warning mcp.resources: resources/d/a.txt: icon gone.png: no such file")
	b.Put(files{"resources/d/i.svg": "<SVG/>"}) // the item depends on the file
	if got := b.listing(kinds.Resources) + b.listing(kinds.Prompts); strings.Contains(got,
		"PHN2Zy8+") || strings.Count(got, "PFNWRy8+") != 3 {
		t.Error(got)
	}
}

// Metadata never causes more than a warning. The result is a JSON item with a name, or no
// item.
func FuzzMetadata(f *testing.F) {
	for _, seed := range []string{
		`{"name":"n","uri":"x://y","mimeType":"","size":1e3,"icons":[{"src":"i.svg"}],"_meta":{"a":1,"a":2}}`,
		`{"uriTemplate":"x://{y}\r\n","name":"\ud800"}`, `{"path":"../x","arguments":[{"name":"q"}],"metadata":[1]}`,
		`{"path":"other.txt","role":5}`, `{"entrypoint":"../x","meta":{"csp":{},"domain":"d"}}`,
		"\xEF\xBB\xBF{\r\"name\":\r\"x\"}", `{"name":"a","path":"s.sh","timeoutSecs":"5"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := newBed(t, nil, files{"resources/a.txt": "", "resources/a.meta.json": text, "resources/b.meta.json": text,
			"resources/c.txt": "# mcp: " + text, "prompts/a.txt": "", "prompts/other.txt": "",
			"prompts/a.meta.json": text, "prompts/b.meta.json": text, "ui/a/ui.meta.json": text, "tools/a/ui/ui.meta.json": text,
			"s.sh": ""})
		b.reopen(nil, Options{ReadOnly: true})
		for _, k := range kinds.All {
			list, err := b.List(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range list.Items {
				if v, err := rawjson.Check(item.JSON); err != nil || rawjson.TextOf(v,
					"name") != item.Name || item.Name == "" || !rawjson.IsCompact(v) {
					t.Errorf("%s: %v: %q", k.Key, err, item.JSON)
				}
			}
		}
	})
}

// A project with every possible fault still offers the one valid item of each kind and
// reports the faults. A second check reads only changed files.
func TestEverythingWrongAtOnce(t *testing.T) {
	wrong := []string{
		``, `{`, `[]`, `null`, `"x"`, `{"name":5}`, `{"name":""}`, `{"name":"\u0000"}`, `{"name":"` + strings.Repeat("n",
			129) + `"}`, `{"uri":""}`, `{"uri":5,"name":"u"}`,
		`{"uriTemplate":"{","name":"x"}`, `{"uriTemplate":"x","uri":"y","name":"x"}`, `{"uriTemplate":["x"],"name":"x"}`,
		`{"path":"../../../etc/passwd","name":"x"}`, `{"path":"\u0000","name":"x"}`,
		`{"name":"x","icons":[{"src":"/etc/passwd"},{"src":"../../../../etc/hostname"},{"src":""},{},5,{"src":5}]}`,
		layers(101), "\xff", `{"name":"x"}{`, `{"name":"x",}`, "{\"name\":\"x\ny\"}",
		`{"entrypoint":"../../../../etc/passwd","meta":{"csp":[]}}`,
		`{"arguments":{"required":5},"metadata":` + strings.Repeat("[", 90) + strings.Repeat("]", 90) + `}`,
	}
	content := files{}
	for name, text := range mixed {
		content[name] = text
	}
	for i, text := range wrong {
		for _, name := range []string{"tools/w%02d/tool.meta.json", "resources/w/%02d.meta.json", "prompts/w/%02d.meta.json",
			"ui/w%02d/ui.meta.json", "tools/x%02d/ui/ui.meta.json"} {
			content[fmt.Sprintf(name, i)] = text
		}
		content[fmt.Sprintf("resources/h/%02d.txt", i)] = "# mcp: " + text
	}
	b := newBed(t, nil, content)
	r := b.refresh("")
	if r.Failed() {
		t.Fatalf("%s", r.AppendJSON(nil))
	}
	for _, k := range kinds.All {
		list, err := b.List(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		_, good, _ := strings.Cut(strings.Split(after(), "\n")[slices.Index(kinds.All, k)], ":")
		for name := range strings.FieldsSeq(good) {
			if _, ok := list.Find(name); !ok {
				t.Errorf("%s: %s is gone", k.Key, name)
			}
		}
		if text := b.listing(k); strings.Contains(text, "root:") || strings.Contains(text,
			"/etc/passwd\"") && k != kinds.UIResources {
			t.Error(text)
		}
	}
	log := b.Log()
	if len(log) < len(wrong) {
		t.Errorf("%d lines for %d faults", len(log), 5*len(wrong))
	}
	before := b.files()
	b.reopen(nil, Options{})
	b.refresh("")
	want(t, len(b.Log()), len(log)) // the same messages as before
	want(t, b.files(), before)
}
