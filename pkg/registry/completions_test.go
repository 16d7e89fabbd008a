package registry

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
)

func parsePath(item []byte) string { return rawjson.TextOf(item, "path") }

// Completions of register.json (registry section 8).
func TestCompletions(t *testing.T) {
	const scripts = "completions/s.sh*"
	declared := func(entries string) string { return `{"version":1,"completions":[` + entries + `]}` }
	try(t, kinds.Completions, []finding{
		{"never discovered", files{scripts: ""}, "", nil},
		{"normalised and sorted", files{scripts: "", "server.d/register.json": declared(`{"name":" b \t  c ",
			"path":"completions//s.sh","kind":"x","timeoutSecs":"7"},{"timeoutSecs":0,"path":"./completions/s.sh","name":"a",
			"extra":[1]},{"name":"d","path":"completions/s.sh","timeoutSecs":-1},
			{"name":"e","path":"completions/s.sh","timeoutSecs":"x"}`)},
			`{"name":"a","path":"completions/s.sh","kind":"shell","timeoutSecs":0,"extra":[1]}` + "\n" + `{"name":"b c",
				"path":"completions/s.sh","kind":"shell","timeoutSecs":7}` + "\n" +
				`{"name":"d","path":"completions/s.sh","kind":"shell"}` + "\n" +
				`{"name":"e","path":"completions/s.sh","kind":"shell"}`,
			[]string{`warning mcp.completion: register.json: completions[2]: ` +
				`"timeoutSecs" must be a positive integer or 0; ignored`, `warning mcp.completion: register.json: ` +
				`completions[3]: "timeoutSecs" must be a positive integer or 0; ignored`}},
		{"a directory that is a link inside", files{scripts: "", "c@": "completions",
			"server.d/register.json": declared(`{"name":"a","path":"c/s.sh"}`)},
			`{"name":"a","path":"completions/s.sh","kind":"shell"}`, nil},
	})
	// an invalid entry is left out, and the others stay.
	b := newBed(t, noTTL, files{scripts: "", "outside@": "../..", "link.sh@": "completions/s.sh", "d/": "",
		"tools/t/tool.sh": ""})
	const good = `{"name":"good","path":"completions/s.sh"}`
	for entry, fault := range map[string]string{
		`{"path":"completions/s.sh"}`:              "Completion entry missing name",
		`{"name":" \n","path":"completions/s.sh"}`: "Completion entry missing name",
		`{"name":5,"path":"completions/s.sh"}`:     "Completion entry missing name",
		`7`:                                        "not an object",
		`{"name":"a"}`:                             "Completion path  invalid or outside server root",
		`{"name":"a","path":""}`:                   "Completion path  invalid or outside server root",
		`{"name":"a","path":"x"}`:                  "Completion path x invalid or outside server root",
		`{"name":"a","path":"d"}`:                  "Completion path d invalid or outside server root",
		`{"name":"a","path":"."}`:                  "Completion path . invalid or outside server root",
		`{"name":"a","path":"link.sh"}`:            "Completion path link.sh invalid or outside server root",
		`{"name":"a","path":"../../etc/passwd"}`: "Completion path ../../etc/passwd invalid or outside server " +
			"root",
		`{"name":"a","path":"/etc/passwd"}`: "Completion path /etc/passwd invalid or outside server root",
		`{"name":"a","path":"outside/demo/completions/.."}`: "Completion path outside/demo/completions/.. invalid or " +
			"outside server root",
		`{"name":"a","path":"x\u0000y"}`: "Completion path x\x00y invalid or outside server root",
	} {
		b.Put(files{"server.d/register.json": declared(good + ",\n " + entry)})
		b.Advance(time.Minute)
		want(t, b.listing(kinds.Completions), `{"name":"good","path":"completions/s.sh","kind":"shell"}`)
		want(t, b.names(), "t")
		report := b.refresh("").Kinds[slices.Index(kinds.All, kinds.Completions)]
		want(t, someOf(report.Dropped), "register.json:2:2: completions[1]: "+fault+"; left out")
		if path := rawjson.TextOf(json.RawMessage(entry), "path"); path != "" { // the file may be created later (CF-14)
			paths, err := b.DeclaredPaths(t.Context(), kinds.Completions)
			want(t, strings.Join(paths, " "), "completions/s.sh "+path)
			want(t, err, nil)
		}
	}
	b.Log()
	b.Put(files{"server.d/register.json": declared(`{"name":"a b","path":"completions/s.sh"},{"name":"a  b",
		"path":"completions/s.sh"}`)})
	b.Advance(time.Minute)
	want(t, b.listing(kinds.Completions), `{"name":"a b","path":"completions/s.sh","kind":"shell"}`)
	b.WantLog("warning mcp.completion: Duplicate completion name 'a b' in completions/s.sh; keeping completions/s.sh")
	b.Put(files{"server.d/register.json": declared(`{"name":"a","path":` +
		string(rawjson.Quote(b.Path("completions/s.sh"))) + `}`)})
	b.Advance(time.Minute)
	want(t, b.listing(kinds.Completions), `{"name":"a","path":"completions/s.sh","kind":"shell"}`)
	b.Remove("completions/s.sh") // the entries are unchanged, but the script is gone
	b.Advance(time.Minute)
	want(t, b.listing(kinds.Completions), "")
	b.Put(files{"completions/s": "text",
		"server.d/register.json": declared(`{"name":"a","path":"completions/s"}`)}) // T-44
	b.Advance(time.Minute)
	b.Log()
	want(t, b.listing(kinds.Completions), `{"name":"a","path":"completions/s","kind":"shell"}`)
	b.WantLog("warning mcp.completion: register.json: completions[0]: completions/s is not runnable; run chmod +x " +
		b.Path("completions/s") + ", or begin it with #!")
	os.Chmod(b.Path("completions/s"), 0o755)
	b.Advance(time.Minute)
	b.listing(kinds.Completions)
	b.WantLog()
	// the message for a kind that fails.
	b.Put(files{"server.d/register.json": `{"version":1,"completions":7}`})
	b.Advance(time.Minute)
	_, err := b.List(t.Context(), kinds.Completions)
	want(t, string(kinds.Completions.Unavailable(err).AppendJSON(nil)),
		`{"code":-32601,"message":"Completion not found","data":{"reason":"Declarative register.json parsing/validation `+
			`failed: register.json completions must be an array or null"}}`)
	want(t, b.names(), "t")
}

// static mode keeps the items that a hook registered.
func TestCompletionsOfHooksInStaticMode(t *testing.T) {
	b := withHook(t, `mcp_completion_register_manual '{"name":"h","path":"s.sh"}'`, nil)
	b.Put(files{"s.sh": ""})
	want(t, b.listing(kinds.Completions), `{"name":"h","path":"s.sh","kind":"shell"}`)
	b.reopen(project.Env{"MCPBASH_STATIC_REGISTRY": "1", "MCPBASH_ALLOW_PROJECT_HOOKS": "true"}, b.hooks())
	b.Remove("server.d/register.sh")
	want(t, b.listing(kinds.Completions), `{"name":"h","path":"s.sh","kind":"shell"}`)
	paths, err := b.DeclaredPaths(t.Context(), kinds.Completions)
	want(t, strings.Join(paths, " "), "s.sh")
	want(t, err, nil)
}
