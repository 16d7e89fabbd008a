package registry

import (
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

func parsePath(item []byte) string { return rawjson.TextOf(item, "path") }

// registry section 8.
func TestCompletions(t *testing.T) {
	const scripts = "completions/s.sh*"
	declared := func(entries string) string { return `{"version":1,"completions":[` + entries + `]}` }
	try(t, Completions, []finding{
		{"never discovered", files{scripts: ""}, "", nil},
		{"normalised and sorted", files{scripts: "", "server.d/register.json": declared(`{"name":" b \t  c ","path":"completions//s.sh","kind":"x","timeoutSecs":"7"},{"timeoutSecs":0,"path":"./completions/s.sh","name":"a","extra":[1]}`)},
			`{"name":"a","path":"completions/s.sh","kind":"shell","extra":[1]}` + "\n" + `{"name":"b c","path":"completions/s.sh","kind":"shell","timeoutSecs":7}`,
			[]string{`warning mcp.completion: register.json: completions[1]: "timeoutSecs" must be a positive integer; ignored`}},
		{"a directory that is a link inside", files{scripts: "", "c@": "completions", "server.d/register.json": declared(`{"name":"a","path":"c/s.sh"}`)},
			`{"name":"a","path":"completions/s.sh","kind":"shell"}`, nil},
	})
	b := newBed(t, noTTL, files{scripts: "", "outside@": "../..", "link.sh@": "completions/s.sh", "d/": ""})
	for entries, fault := range map[string]string{
		`{"path":"completions/s.sh"}`:              "completions[0]: Completion entry missing name",
		`{"name":" \n","path":"completions/s.sh"}`: "completions[0]: Completion entry missing name",
		`{"name":5,"path":"completions/s.sh"}`:     "completions[0]: Completion entry missing name",
		`7`:                                        "completions[0]: Completion entry missing name",
		`{"name":"a b","path":"completions/s.sh"},{"name":"a  b","path":"completions/s.sh"}`: "completions[1]: Duplicate completion name a b",
		`{"name":"a"}`:                                      "completions[0]: Completion path  invalid or outside server root",
		`{"name":"a","path":""}`:                            "completions[0]: Completion path  invalid or outside server root",
		`{"name":"a","path":"x"}`:                           "completions[0]: Completion path x invalid or outside server root",
		`{"name":"a","path":"d"}`:                           "completions[0]: Completion path d invalid or outside server root",
		`{"name":"a","path":"."}`:                           "completions[0]: Completion path . invalid or outside server root",
		`{"name":"a","path":"link.sh"}`:                     "completions[0]: Completion path link.sh invalid or outside server root",
		`{"name":"a","path":"../../etc/passwd"}`:            "completions[0]: Completion path ../../etc/passwd invalid or outside server root",
		`{"name":"a","path":"/etc/passwd"}`:                 "completions[0]: Completion path /etc/passwd invalid or outside server root",
		`{"name":"a","path":"outside/demo/completions/.."}`: "completions[0]: Completion path outside/demo/completions/.. invalid or outside server root",
		`{"name":"a","path":"x\u0000y"}`:                    "completions[0]: Completion path x\x00y invalid or outside server root",
	} {
		b.put(files{"server.d/register.json": declared(entries)})
		b.advance(time.Minute)
		_, err := b.List(t.Context(), Completions)
		if err == nil || err.Error() != "Declarative register.json validation failed for completions: "+fault {
			t.Errorf("%s: %v", entries, err)
			continue
		}
		want(t, string(Completions.Unavailable(err).AppendJSON(nil)),
			`{"code":-32601,"message":"Completion not found","data":{"reason":`+string(rawjson.Quote(err.Error()))+`}}`)
		want(t, b.reason(), err.Error()) // all kinds
	}
	b.log()
	b.put(files{"server.d/register.json": declared(`{"name":"a","path":` + string(rawjson.Quote(b.path("completions/s.sh"))) + `}`)})
	b.advance(time.Minute)
	want(t, b.listing(Completions), `{"name":"a","path":"completions/s.sh","kind":"shell"}`)
	b.remove("completions/s.sh") // the text is the same, what it names is gone
	b.advance(time.Minute)
	if _, err := b.List(t.Context(), Completions); err == nil || !strings.Contains(err.Error(), "outside server root") {
		t.Error(err)
	}
	b.put(files{scripts: ""})
	b.advance(time.Minute)
	want(t, b.listing(Completions), `{"name":"a","path":"completions/s.sh","kind":"shell"}`)
}

// registry R-85: what hooks registered outlives them in static mode.
func TestCompletionsOfHooksInStaticMode(t *testing.T) {
	b := withHook(t, `mcp_completion_register_manual '{"name":"h","path":"s.sh"}'`, nil)
	b.put(files{"s.sh": ""})
	want(t, b.listing(Completions), `{"name":"h","path":"s.sh","kind":"shell"}`)
	b.reopen(project.Env{"MCPBASH_STATIC_REGISTRY": "1", "MCPBASH_ALLOW_PROJECT_HOOKS": "true"}, b.hooks())
	b.remove("server.d/register.sh")
	want(t, b.listing(Completions), `{"name":"h","path":"s.sh","kind":"shell"}`)
}
