package registry

import (
	"runtime"
	"strings"
	"testing"

	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// portable replaces the root of the project, which differs in each run.
func (b *bed) portable(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, b.Root, "ROOT"), strings.TrimPrefix(item.FileURI(b.Root, ""),
		"file://"), "ROOT")
}

// A finding is a case of discovery: the files, the listed items, and the log.
type finding struct {
	name  string
	files files
	want  string // items, a line each
	log   []string
}

// try runs cases for a kind, each in two processes.
func try(t *testing.T, kind *kinds.Kind, cases []finding) {
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t, nil, tc.files)
			for _, from := range []string{"first process", "second process"} {
				if got := b.portable(b.listing(kind)); !jsontest.Same(got, tc.want) {
					t.Errorf("from the %s:\n%s\nwant\n%s", from, got, tc.want)
				}
				b.WantLog(tc.log...)
				b.reopen(nil, Options{})
			}
		})
	}
}

// The items of resources (registry section 5, RES-14, RES-17).
func TestResources(t *testing.T) {
	derived := func(name, path, mime string) string {
		return `{"name":"` + name + `","description":"","path":"` + path + `","uri":"file://ROOT/resources/` + path +
			`","mimeType":"` + mime +
			`","provider":"file","uriAuto":true}`
	}
	try(t, kinds.Resources, []finding{
		{"anywhere below, by the name", files{"resources/b.txt": "", "resources/d/e/a.json": "", "resources/Makefile": "",
			"resources/.hidden/x": "", "resources/.x": ""},
			derived("Makefile", "Makefile", "text/plain") + "\n" + derived("a", "d/e/a.json",
				"application/json") + "\n" + derived("b", "b.txt", "text/plain"), nil},
		{"all fields, in their order, nothing else", files{"resources/a.txt": "",
			"resources/a.txt.meta.json": `{"_meta":{"x":1e3},"annotations":{"audience":["user"],"priority":0.50},"size":12,
			"provider":"p","mimeType":"m/n","uri":"my://x/ü","description":"d\n","title":"T","name":"n","path":"elsewhere","arguments":5,"other":1,
			"icons":[{"src":"https://x/i.png","sizes":["any"]}]}`},
			`{"name":"n","title":"T","description":"d\n","path":"a.txt","uri":"my://x/ü","mimeType":"m/n","provider":"p",
				"size":12,"icons":[{"src":"https://x/i.png","sizes":["any"]}],"annotations":{"audience":["user"],
				"priority":0.50},"_meta":{"x":1e3},"mimeTypeDeclared":true}`, nil},
		{"wrong types are as nothing", files{"resources/a.md": "", "resources/a.meta.json": `{"name":5,"title":[],
			"description":{},"uri":1,"mimeType":false,"provider":null,"size":-1,"annotations":"x","_meta":[],"icons":{}}`},
			derived("a", "a.md", "text/markdown"),
			[]string{
				`warning mcp.resources: resources/a.meta.json: "name" must be a string; ignored`,
				`warning mcp.resources: resources/a.meta.json: "title" must be a string; ignored`,
				`warning mcp.resources: resources/a.meta.json: "description" must be a string; ignored`,
				`warning mcp.resources: resources/a.meta.json: "uri" must be a string; ignored`,
				`warning mcp.resources: resources/a.meta.json: "mimeType" must be a string; ignored`,
				`warning mcp.resources: resources/a.meta.json: "size" must be a whole number of bytes; ignored`,
				`warning mcp.resources: resources/a.meta.json: "annotations" must be an object; ignored`,
				`warning mcp.resources: resources/a.meta.json: "_meta" must be an object; ignored`,
				`warning mcp.resources: resources/a.meta.json: "icons" must be an array; ignored`,
			}},
		{"header, per field (RES-14)", files{
			"resources/a.txt": "#\n# mcp:{\"name\":\"res.header\",\"uri\":\"custom://header\",\"description\":\"h\"," +
				"\"annotations\":{\"priority\":0.5}}\n",
			"resources/a.txt.meta.json": `{"description":"m"}`},
			`{"name":"res.header","description":"m","path":"a.txt","uri":"custom://header","mimeType":"text/plain",
				"provider":"custom","annotations":{"priority":0.5}}`, nil},
		{"metadata alone (R-51)", files{
			"resources/api.meta.json":      `{"uri":"https://example.com/v1/data.json?x=.png#y.gif"}`,
			"resources/sub/host.meta.json": `{"uri":"https://example.md"}`},
			`{"name":"api","description":"","uri":"https://example.com/v1/data.json?x=.png#y.gif",
				"mimeType":"application/json","provider":"https"}` + "\n" +
				`{"name":"host","description":"","uri":"https://example.md","mimeType":"text/plain","provider":"https"}`, nil},
		{"metadata that a file has taken", files{"resources/a.txt": "",
			"resources/a.meta.json": `{"name":"one","uri":"x://1"}`,
			"resources/b.txt":       "", "resources/b.txt.meta.json": `{"name":"two"}`,
			"resources/b.meta.json": `{"name":"three","uri":"x://3"}`},
			`{"name":"one","description":"","path":"a.txt","uri":"x://1","mimeType":"text/plain","provider":"x"}` + "\n" +
				`{"name":"three","description":"","uri":"x://3","mimeType":"text/plain","provider":"x"}` + "\n" + derived("two",
				"b.txt", "text/plain"), nil},
		{"a malformed first lets the second be tried (R-33)", files{"resources/a.txt": "", "resources/a.txt.meta.json": `{`,
			"resources/a.meta.json": "\xEF\xBB\xBF{\r\n\"name\":\"s\"}"},
			derived("s", "a.txt", "text/plain"),
			[]string{"warning mcp.resources: Malformed metadata resources/a.txt.meta.json: line 1, column 2: unexpected end, " +
				"using defaults"}},
		{"metadata of nothing", files{"resources/a.meta.json": `{"name":"x"}`}, "",
			[]string{`warning mcp.resources: resources/a.meta.json: describes no file: no other file here has its name, ` +
				`and it has no "uri" or "uriTemplate"; ignored`}},
		{"templates and their companions (R-51)", files{"resources/t.txt": "",
			"resources/t.meta.json": `{"name":"t","uriTemplate":"x://{y}"}`,
			"resources/both.txt":    "", "resources/both.meta.json": `{"name":"b","uri":"x://1","uriTemplate":"x://{y}"}`,
			"resources/empty.txt": "", "resources/empty.meta.json": `{"uriTemplate":""}`},
			derived("empty", "empty.txt", "text/plain"), nil},
		{"escaped where it must be (R-52)", files{"resources/a b%/ü~_-.:@!.txt": ""},
			`{"name":"ü~_-.:@!","description":"","path":"a b%/ü~_-.:@!.txt",
				"uri":"file://ROOT/resources/a%20b%25/%C3%BC~_-.:%40%21.txt","mimeType":"text/plain","provider":"file",
				"uriAuto":true}`, nil},
		{"two of a name (R-38)", files{"resources/b/x.txt": "", "resources/a/x.md": ""}, derived("x", "a/x.md",
			"text/markdown"),
			[]string{"warning mcp.resources: Duplicate resource name 'x' in resources/b/x.txt; keeping resources/a/x.md"}},
		{"documentation (R-56)", files{"resources/README.md": "# About", "resources/a.txt": "",
			"resources/a.meta.json": `{"name":"a"}`, "resources/sub/README.md": ""},
			derived("README", "sub/README.md", "text/markdown") + "\n" + derived("a", "a.txt", "text/plain"), nil},
		{"documentation that is described", files{"resources/README.md": "<!-- mcp: {\"name\":\"about\"} -->",
			"resources/sub/README.md": "", "resources/sub/README.meta.json": `{"name":"sub"}`,
			"resources/a.meta.json": `{"uri":"x://y","name":"y"}`},
			derived("about", "README.md", "text/markdown") + "\n" + derived("sub", "sub/README.md", "text/markdown") + "\n" +
				`{"name":"y","description":"","uri":"x://y","mimeType":"text/plain","provider":"x"}`, nil},
		{"completion companions (R-83)", files{"resources/a.txt": "", "resources/a.txt.completion.sh*": "",
			"resources/a.completion*": "", "resources/b.completion": "",
			"resources/c.completion.sh*": "", "resources/c.completion.meta.json": `{"name":"own"}`,
			"resources/a.meta.json": `{"name":"a"}`},
			derived("a", "a.txt", "text/plain") + "\n" + derived("own",
				"c.completion.sh", "text/x-shellscript"), nil},
		{"the only file of its directory (R-33a)", files{
			"resources/a/resource.meta.json": `{"name":"one","description":"d"}`, "resources/a/text.md": "",
			"resources/a/README.md": "", "resources/a/text.completion.sh*": "",
			"resources/b/resource.meta.json": `{"name":"two","uri":"x://2"}`, "resources/b/1.md": "", "resources/b/2.md": "",
			"resources/c/resource.meta.json": `{"name":"three","uri":"x://3"}`, "resources/c/README.md": "",
			"resources/d/resource.meta.json": `{"name":"four","uriTemplate":"x://{y}"}`, "resources/d/d.md": "",
			"resources/e/resource.meta.json": `{"name":"five","uri":"x://5"}`, "resources/e/e.md": "",
			"resources/e/e.meta.json":      `{"description":"own"}`,
			"resources/resource.meta.json": `{"name":"top","uri":"x://top"}`, "resources/sole.md": ""},
			derived("1", "b/1.md", "text/markdown") + "\n" + derived("2", "b/2.md", "text/markdown") + "\n" +
				derived("d", "d/d.md", "text/markdown") + "\n" +
				strings.Replace(derived("e", "e/e.md", "text/markdown"), `"description":""`, `"description":"own"`, 1) + "\n" +
				`{"name":"five","description":"","uri":"x://5","mimeType":"text/plain","provider":"x"}` + "\n" +
				strings.Replace(derived("one", "a/text.md", "text/markdown"), `"description":""`, `"description":"d"`, 1) + "\n" +
				derived("sole", "sole.md", "text/markdown") + "\n" +
				`{"name":"three","description":"","uri":"x://3","mimeType":"text/plain","provider":"x"}` + "\n" +
				`{"name":"top","description":"","uri":"x://top","mimeType":"text/plain","provider":"x"}` + "\n" +
				`{"name":"two","description":"","uri":"x://2","mimeType":"text/plain","provider":"x"}`, nil},
		{"unnameable", files{"resources/ .txt": "", "resources/a.txt": "",
			"resources/a.meta.json": `{"name":"` + strings.Repeat("x", 129) + `"}`}, "",
			[]string{"error mcp.resources: Skipping resource resources/ .txt: its name is empty",
				"error mcp.resources: Skipping resource resources/a.txt: its name is longer than 128 bytes"}},
		{"binary, and more lines than a header is looked for in", files{"resources/a.png": "\x89PNG\r\n\x1a\n\x00\xff",
			"resources/b.txt": strings.Repeat("\n", 10) + `# mcp: {"name":"late"}`},
			derived("a", "a.png", "image/png") + "\n" + derived("b", "b.txt", "text/plain"), nil},
	})
}

// A resources directory may contain hostile files.
func TestHostileResources(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("file names and links of Unix")
		return
	}
	try(t, kinds.Resources, []finding{
		{"links", files{"secret.txt": "", "resources/a.txt@": "../secret.txt", "resources/d@": "..",
			"resources/a.meta.json": `{"name":"m","uri":"x://m"}`},
			`{"name":"m","description":"","uri":"x://m","mimeType":"text/plain","provider":"x"}`, nil},
		{"FIFO", files{"resources/a.txt|": "", "resources/b.meta.json|": ""}, "", nil},
		{"line breaks", files{"resources/a\nb.txt": "", "resources/c\r.meta.json": `{"uri":"x://c"}`}, "",
			[]string{"warning mcp.resources: Resource scan encountered unsupported filename (newline/CR) under resources/"}},
	})
}

// RES-15a: registry files do not depend on the machine.
func TestURI(t *testing.T) {
	b := newBed(t, nil, files{"resources/a b.txt": "",
		"resources/c.meta.json": `{"uri":"file://${MCPBASH_RESOURCES_DIR}/x${MCPBASH_PROJECT_ROOT}$HOME${HOME}"}`})
	list, err := b.List(t.Context(), kinds.Resources)
	if err != nil || len(list.Items) != 2 {
		t.Fatal(err)
	}
	b.Project.Root, b.Project.Resources = "/srv/new place", "/srv/new place/r%"
	want(t, item.URI(b.Project, list.Items[0].JSON), "file:///srv/new%20place/r%25/a%20b.txt")
	want(t, item.URI(b.Project, list.Items[1].JSON), "file:///srv/new%20place/r%25/x/srv/new%20place$HOME${HOME}")
	want(t, item.URI(b.Project, []byte(`{"name":"x"}`)), "")
}

// R-54a: the items whose author gave a type are marked, even if the metadata contains the mark.
func TestDeclaredType(t *testing.T) {
	const uri = `"uri":"x://y"`
	for given, marked := range map[string]bool{
		`"mimeType":"text/plain"`:                          true,
		`"mimeType":"m/n","mimeTypeDeclared":false`:        true,
		`"mimeTypeDeclared":true`:                          false,
		`"mimeType":5,"mimeTypeDeclared":true`:             false,
		`"mimeType":"","mimeTypeDeclared":"true"`:          false,
		`"mimeType":null,"provider":"x","description":"d"`: false,
	} {
		object := `{"name":"a",` + uri + "," + given + `}`
		for from, content := range map[string]files{
			"metadata":      {"resources/a.meta.json": object},
			"a header":      {"resources/a": "# mcp:" + object + "\n"},
			"register.json": {"server.d/register.json": `{"version":1,"resources":[` + object + `]}`},
			"register.sh":   {"server.d/register.sh*": "mcp_register_resource '" + object + "'"},
		} {
			b := newBed(t, project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}, content)
			b.reopen(project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}, b.hooks())
			got := b.listing(kinds.Resources)
			if strings.Contains(got, `"mimeTypeDeclared":true`) != marked || strings.Count(got, "mimeTypeDeclared") > 1 ||
				!strings.HasPrefix(got, `{"name":"a"`) {
				t.Errorf("%s in %s: %s", given, from, got)
			}
			if stored := b.Read(".registry/resources.json"); strings.Contains(stored, `"mimeTypeDeclared": true`) != marked {
				t.Errorf("%s in %s: %s", given, from, stored)
			}
		}
	}
}
