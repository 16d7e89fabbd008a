package registry

import (
	"strings"
	"testing"

	"mcp-bash/pkg/registry/kinds"
)

// The items of prompts (registry section 7).
func TestPrompts(t *testing.T) {
	item := func(name, path string) string {
		return `{"name":"` + name + `","description":"","path":"` + path + `","arguments":{"type":"object","properties":{}` +
			`},"role":"user","metadata":null}`
	}
	const notUsed = `describes no file: no other file here has its name, and it has no "path" to another file; ignored`
	badPath := func(file string) string {
		return `warning mcp.prompts: prompts/` + file + `: "path" must be the path of a file in prompts/; ignored`
	}
	try(t, kinds.Prompts, []finding{
		{"anywhere below, any extension", files{"prompts/b.txt": "", "prompts/x/y/a.md": "ü", "prompts/c": "",
			"prompts/.d": ""},
			item("a", "x/y/a.md") + "\n" + item("b", "b.txt") + "\n" + item("c", "c"), nil},
		{"all fields, in their order, nothing else", files{"prompts/a.txt": "",
			"prompts/a.txt.meta.json": `{"_meta":{"x":1e3},"icons":[{"src":"https://x/i.png"}],"elicit":true,"format":"messages",
			"metadata":{"b":1.0,"a":2},"role":"assistant","arguments":[{"name":"q","required":true,"odd":1}],"description":"d","title":"T","name":"n","other":1}`},
			`{"name":"n","title":"T","description":"d","path":"a.txt","arguments":[{"name":"q","required":true,"odd":1}],` +
				`"role":"assistant","metadata":{"b":1.0,"a":2},"format":"messages","elicit":true,` +
				`"icons":[{"src":"https://x/i.png"}],"_meta":{"x":1e3}}`, nil},
		{"wrong types are as nothing", files{"prompts/a.txt": "", "prompts/a.meta.json": `{"name":1,"arguments":"x",` +
			`"role":5,"format":"lines","elicit":"yes","metadata":0,"path":7}`},
			strings.Replace(item("a", "a.txt"), "null", "0", 1),
			[]string{
				`warning mcp.prompts: prompts/a.meta.json: "name" must be a string; ignored`,
				`warning mcp.prompts: prompts/a.meta.json: "path" must be a string; ignored`,
				`warning mcp.prompts: prompts/a.meta.json: "arguments" must be a schema or an array of arguments; ignored`,
				`warning mcp.prompts: prompts/a.meta.json: "role" must be a string; ignored`,
				`warning mcp.prompts: prompts/a.meta.json: "elicit" must be true or false; ignored`,
			}},
		{"arguments without a name", files{"prompts/a.txt": "", "prompts/a.meta.json": `{"arguments":[{"name":"q"},` +
			`{"description":"x"},7,{"name":"r","required":"yes","description":7,"title":[],"x":1}]}`},
			`{"name":"a","description":"","path":"a.txt","arguments":[{"name":"q"},{"name":"r","x":1}],"role":"user",` +
				`"metadata":null}`,
			[]string{
				`warning mcp.prompts: prompts/a.meta.json:1:28: arguments[1]: must be an object with a name; left out`,
				`warning mcp.prompts: prompts/a.meta.json:1:48: arguments[2]: must be an object with a name; left out`,
				`warning mcp.prompts: prompts/a.meta.json:1:73: arguments[3].required: must be true or false; left out`,
				`warning mcp.prompts: prompts/a.meta.json:1:93: arguments[3].description: must be a string; left out`,
				`warning mcp.prompts: prompts/a.meta.json:1:103: arguments[3].title: must be a string; left out`,
			}},
		{"no header is read", files{"prompts/a.txt": `# mcp: {"name":"b"}`}, item("a", "a.txt"), nil},
		{"pictures are none", files{"prompts/a.txt": "", "prompts/a.meta.json": `{}`, "prompts/a.png": "\x89PNG\xff",
			"prompts/b.png": "\x00", "prompts/c.bin": "\xff", "prompts/c.bin.meta.json": `{}`},
			item("a", "a.txt") + "\n" + item("c", "c.bin"), nil},
		{"text may break off where no more is looked at", files{"prompts/a.txt": strings.Repeat("x", 64<<10-1) + "ü",
			"prompts/b.txt": strings.Repeat("x", 64<<10-2) + "\xff\xffx"}, item("a", "a.txt"), nil},
		{"documentation (R-56)", files{"prompts/README.md": "", "prompts/a.txt": "", "prompts/a.meta.json": `{}`,
			"prompts/sub/README.md": ""}, item("README", "sub/README.md") + "\n" + item("a", "a.txt"), nil},
		{"the only text of its directory (R-33a)", files{
			"prompts/a/prompt.meta.json": `{"name":"one","role":"assistant"}`, "prompts/a/text.txt": "",
			"prompts/a/pic.png":   "\x00",
			"prompts/a/README.md": "", "prompts/a/text.completion.sh*": "",
			"prompts/b/prompt.meta.json": `{"name":"two"}`, "prompts/b/1.txt": "", "prompts/b/2.txt": "",
			"prompts/c/prompt.meta.json": `{"name":"three"}`, "prompts/c/pic.png": "\x00",
			"prompts/d/prompt.meta.json": `{"name":"four","path":"d/text.txt"}`, "prompts/d/text.txt": "",
			"prompts/e/prompt.meta.json": `{`, "prompts/e/5.txt": "",
			"prompts/prompt.meta.json": `{"name":"top"}`, "prompts/sole.txt": ""},
			item("1", "b/1.txt") + "\n" + item("2", "b/2.txt") + "\n" + item("5", "e/5.txt") + "\n" +
				item("four", "d/text.txt") + "\n" +
				strings.Replace(item("one", "a/text.txt"), `"user"`, `"assistant"`, 1) + "\n" + item("sole", "sole.txt"),
			[]string{
				"warning mcp.prompts: Malformed metadata prompts/e/prompt.meta.json: line 1, column 2: unexpected end, " +
					"using defaults",
				"warning mcp.prompts: prompts/b/prompt.meta.json: " + notUsed,
				"warning mcp.prompts: prompts/c/prompt.meta.json: " + notUsed,
				"warning mcp.prompts: prompts/prompt.meta.json: " + notUsed,
			}},
		{"completion companions (R-83)", files{"prompts/a.txt": "", "prompts/a.meta.json": `{}`,
			"prompts/a.txt.completion*": "", "prompts/a.completion.sh*": "", "prompts/b.completion.sh": ""},
			item("a", "a.txt"), nil},
		{"another file", files{"prompts/a.txt": "", "prompts/a.meta.json": `{"path":"shared/text.txt"}`,
			"prompts/shared/text.txt": ""}, item("a", "shared/text.txt"), nil},
		{"from the project, as old scaffolds write it", files{"prompts/a.meta.json": `{"path":"prompts/x/a.txt"}`,
			"prompts/x/a.txt": ""}, item("a", "x/a.txt"), nil},
		{"from the metadata file", files{"prompts/x/a.meta.json": `{"path":"b.txt"}`, "prompts/x/b.txt": "",
			"prompts/c.txt.meta.json": `{"path":"x/../c.md"}`, "prompts/c.md": "", "prompts/c.txt": ""},
			item("a", "x/b.txt") + "\n" + item("c", "c.md"), nil},
		{"described itself, but taken", files{"prompts/a.meta.json": `{"name":"mine","path":"b.txt"}`, "prompts/b.txt": "",
			"prompts/b.meta.json": `{"name":"yours"}`}, item("mine", "b.txt"), nil},
		{"two take the same", files{"prompts/a.meta.json": `{"path":"t.txt"}`, "prompts/b.meta.json": `{"path":"t.txt"}`,
			"prompts/t.txt": ""}, item("a", "t.txt") + "\n" + item("b", "t.txt"), nil},
		{"absolute", files{"prompts/a.meta.json": `{"path":"/etc/passwd"}`}, "", []string{badPath("a.meta.json"),
			"warning mcp.prompts: prompts/a.meta.json: " + notUsed}},
		{"outside", files{"prompts/a.txt": "", "prompts/a.meta.json": `{"path":"../server.d/policy.sh"}`,
			"server.d/policy.sh": ""}, item("a", "a.txt"), []string{badPath("a.meta.json")}},
		{"missing", files{"prompts/a.txt": "", "prompts/a.meta.json": `{"path":"gone.txt"}`,
			"prompts/b.meta.json": `{"path":"gone.txt"}`}, item("a", "a.txt"),
			[]string{badPath("a.meta.json"), badPath("b.meta.json"), "warning mcp.prompts: prompts/b.meta.json: " + notUsed}},
		{"a directory", files{"prompts/a.txt": "", "prompts/a.meta.json": `{"path":"d"}`, "prompts/d/": ""}, item("a",
			"a.txt"), []string{badPath("a.meta.json")}},
		{"a link out", files{"prompts/a.txt": "", "prompts/a.meta.json": `{"path":"l.txt"}`, "secret": "",
			"prompts/l.txt@": "../secret"}, item("a", "a.txt"), []string{badPath("a.meta.json")}},
		{"metadata of nothing", files{"prompts/a.meta.json": `{"name":"x"}`}, "",
			[]string{"warning mcp.prompts: prompts/a.meta.json: " + notUsed}},
		{"two of a name", files{"prompts/a.txt": "", "prompts/x/a.txt": ""}, item("a", "a.txt"),
			[]string{"warning mcp.prompts: Duplicate prompt name 'a' in prompts/x/a.txt; keeping prompts/a.txt"}},
		{"register.json (R-142)", files{"prompts/old.txt": "", "server.d/register.json": `{"version":1,` +
			`"prompts":[{"name":"b","path":"prompts/old.txt","role":null,"odd":1},{"name":"a","path":"not/there.txt"}]}`},
			strings.Replace(item("b", "old.txt"), "null}", `null,"odd":1}`, 1) + "\n" + item("a", "not/there.txt"), nil},
	})
}

// a file in another directory is checked for changes, too.
func TestPromptElsewhereComesAndGoes(t *testing.T) {
	b := newBed(t, noTTL, files{"prompts/a.txt": "", "prompts/a.meta.json": `{"path":"x/t.txt"}`, "prompts/x/": ""})
	paths := func() string {
		list, err := b.List(t.Context(), kinds.Prompts)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, item := range list.Items {
			paths = append(paths, parsePath(item.JSON))
		}
		return strings.Join(paths, " ")
	}
	want(t, paths(), "a.txt")
	b.Put(files{"prompts/x/t.txt": ""})
	want(t, paths(), "x/t.txt")
	b.reopen(noTTL, Options{})
	want(t, paths(), "x/t.txt")
	b.Remove("prompts/x/t.txt")
	want(t, paths(), "a.txt")
	b.reopen(noTTL, Options{})
	b.Put(files{"prompts/a.meta.json": `{}`, "prompts/x/t.txt": ""})
	want(t, paths(), "a.txt x/t.txt")
}
