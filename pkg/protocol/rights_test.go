//go:build unix

package protocol

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
)

// runs makes a script record that it ran.
const runs = `echo "$0 $*" >>"$MCPBASH_PROJECT_ROOT/ran"; `

// guarded is a project with items of all kinds.
var guarded = map[string]string{
	"server.d/server.meta.json": `{"name":"demo","scopes":{"rows":{"resources":["row","rows"]},"show":["show"],
		"words":{"prompts":["greet"],"tools":[]},"all":{"tools":["*"],"resources":["*"],"prompts":["*"]}}}`,
	"tools/show/tool.sh":              "echo shown",
	"tools/show/ui/index.html":        "<!DOCTYPE html>of a tool",
	"ui/board/index.html":             "<!DOCTYPE html>of the project",
	"providers/db.sh":                 runs + `printf '%s' "$1"`,
	"resources/row.txt":               "row",
	"resources/row.txt.meta.json":     `{"name":"row","uri":"db://row","provider":"db"}`,
	"resources/row.txt.completion.sh": runs + `printf '["one"]'`,
	"resources/rows.meta.json":        `{"name":"rows","uriTemplate":"db://rows/{id}"}`,
	"resources/rows.completion.sh":    runs + `printf '["two"]'`,
	"resources/plain.txt":             "plain",
	"prompts/greet.txt":               "Hello",
	"prompts/greet.txt.completion.sh": runs + `printf '["three"]'`,
	"prompts/bye.txt":                 "Bye",
	"skills/tea/SKILL.md":             "---\nname: tea\ndescription: Makes tea.\n---\nTea",
}

// A use is a request for an item, and a text in its answer if the caller may use the item.
type use struct{ method, params, answer string }

func completes(ref, name string) string {
	member := map[string]string{"ref/prompt": "name", "ref/resource": "uri"}[ref]
	return `"ref":{"type":"` + ref + `","` + member + `":"` + name + `"},"argument":{"name":"x","value":""}`
}

var uses = map[string]use{
	"tool":            {"tools/call", `"name":"show"`, `shown`},
	"unknown tool":    {"tools/call", `"name":"none"`, `none`},
	"row":             {"resources/read", `"uri":"db://row"`, `"text":"db://row"`},
	"row by name":     {"resources/read", `"name":"row"`, `"text":"db://row"`},
	"row completion":  {"completion/complete", completes("ref/resource", "db://row"), `"one"`},
	"rows":            {"resources/read", `"uri":"db://rows/7"`, `"text":"db://rows/7"`},
	"rows completion": {"completion/complete", completes("ref/resource", "db://rows/{id}"), `"two"`},
	"above rows":      {"resources/read", `"uri":"db://rows/..%2Fsecret"`, `"text":"db://rows/..%2Fsecret"`},
	"far above rows":  {"resources/read", `"uri":"db://rows/%252e%252e%2fx%zz"`, `"`},
	"another row":     {"resources/read", `"uri":"db://secret"`, `"text":"db://secret"`},
	"file":            {"resources/read", `"name":"plain"`, `"text":"plain"`},
	"page of a tool":  {"resources/read", `"uri":"ui://demo/show"`, `of a tool`},
	"page":            {"resources/read", `"uri":"ui://demo/board"`, `of the project`},
	"skill":           {"resources/read", `"uri":"skill://tea/SKILL.md"`, `Makes tea`},
	"unknown URI":     {"resources/read", `"uri":"none://x"`, `Resource not found`},
	"unknown name":    {"resources/read", `"name":"none"`, `Resource not found`},
	"greet":           {"prompts/get", `"name":"greet"`, `Hello`},
	"greet's values":  {"completion/complete", completes("ref/prompt", "greet"), `"three"`},
	"bye":             {"prompts/get", `"name":"bye"`, `Bye`},
	"unknown prompt":  {"prompts/get", `"name":"none"`, `Prompt not found`},
	"row as prompt":   {"completion/complete", completes("ref/prompt", "row"), `"values"`},
}

var (
	ofRows   = []string{"row", "row by name", "row completion", "rows", "rows completion"}
	ofTool   = []string{"tool", "page of a tool"}
	ofGreet  = []string{"greet", "greet's values"}
	unlisted = []string{"above rows", "far above rows", "another row", "unknown URI", "unknown name"}
)

// limits are callers, with the uses that they are permitted, and the names in their lists.
var limits = map[string]struct {
	id    *auth.Identity
	may   []string // nil: all
	lists string
}{
	"nobody":    {nil, nil, "show,plain,row,board,show,tea,rows,bye,greet,tea"},
	"unlimited": {&auth.Identity{Name: "n"}, nil, "show,plain,row,board,show,tea,rows,bye,greet,tea"},
	"nothing":   {&auth.Identity{Name: "n", Rights: &auth.Rights{}}, []string{}, ""},
	"tools": {&auth.Identity{Name: "n", Rights: &auth.Rights{Tools: []string{"*"}}},
		append([]string{"unknown tool"}, ofTool...), "show,show"},
	"no page": {&auth.Identity{Name: "n", Rights: &auth.Rights{Tools: []string{"other"}}}, []string{}, ""},
	"names": {&auth.Identity{Name: "n", Rights: &auth.Rights{Resources: []string{"row*"}}}, ofRows,
		"row,rows"},
	"skills": {&auth.Identity{Name: "n", Rights: &auth.Rights{Resources: []string{"te*", "board"}}},
		[]string{"skill", "page"}, "board,tea,tea"},
	"resources": {&auth.Identity{Name: "n", Rights: &auth.Rights{Resources: []string{"*"}}},
		slices.Concat(ofRows, unlisted, []string{"file", "page of a tool", "page", "skill"}),
		"plain,row,board,show,tea,rows,tea"},
	"prompts": {&auth.Identity{Name: "n", Rights: &auth.Rights{Prompts: []string{"*"}}},
		append([]string{"bye", "unknown prompt", "row as prompt"}, ofGreet...), "bye,greet"},
	"scope of rows":  {&auth.Identity{Name: "n", Issuer: "i", Scopes: []string{"rows"}}, ofRows, "row,rows"},
	"scope of tools": {&auth.Identity{Name: "n", Issuer: "i", Scopes: []string{"show"}}, ofTool, "show,show"},
	"two scopes": {&auth.Identity{Name: "n", Issuer: "i", Scopes: []string{"rows", "words"}},
		slices.Concat(ofRows, ofGreet), "row,rows,greet"},
	"no scope": {&auth.Identity{Name: "n", Issuer: "i"}, []string{}, ""},
	"scope of all": {&auth.Identity{Name: "n", Issuer: "i", Scopes: []string{"all"}}, nil,
		"show,plain,row,board,show,tea,rows,bye,greet,tea"},
}

const refused = "blocked by policy (not permitted to this client)"

// H-420 to H-424: a caller uses the items that it may use, and sees no others. No script runs for another item, and one
// that does not exist looks like any other.
func TestRights(t *testing.T) {
	for name, limit := range limits {
		t.Run(name, func(t *testing.T) {
			server, root := newServer(t, guarded, nil)
			for _, stateless := range []bool{false, true} {
				m := as(t, server, limit.id, stateless)
				for what, use := range uses {
					os.Remove(filepath.Join(root, "ran"))
					got := m.request(quoted(what), use.method, use.params)
					if limit.may == nil || slices.Contains(limit.may, what) {
						if strings.Contains(got, refused) || !strings.Contains(got, use.answer) {
							t.Errorf("%s is not permitted: %s", what, got)
						}
						continue
					}
					if !strings.Contains(got, `"code":-32602`) || !strings.Contains(got, refused) {
						t.Errorf("%s is permitted: %s", what, got)
					}
					if text, err := os.ReadFile(filepath.Join(root, "ran")); err == nil {
						t.Errorf("%s runs %s", what, text)
					}
				}
				if got := strings.Join(m.listed(), ","); got != limit.lists {
					t.Errorf("the lists have %s", got)
				}
				m.close()
			}
		})
	}
}

func quoted(text string) string { return string(rawjson.Quote(text)) }

// listed returns the names in all lists of a client.
func (m *memory) listed() (names []string) {
	m.t.Helper()
	for _, list := range []struct{ method, member string }{
		{"tools/list", "tools"}, {"resources/list", "resources"}, {"resources/templates/list", "resourceTemplates"},
		{"prompts/list", "prompts"}, {"skills/list", "skills"},
	} {
		got := m.request(quoted("the list "+list.method), list.method, "")
		line, err := rawjson.Check([]byte(got))
		if err != nil {
			m.t.Fatal(err)
		}
		if scope := `"cacheScope":"private"`; m.stateless && (m.client.caller.Identity != nil) != strings.Contains(got,
			scope) {
			m.t.Errorf("%s: %s", list.method, got)
		}
		for item := range rawjson.Elements(rawjson.Path(line, "result", list.member)) {
			name := rawjson.TextOf(item, "name")
			if name == "" {
				name = rawjson.TextOf(rawjson.Get(item, "frontmatter"), "name")
			}
			names = append(names, name)
		}
	}
	return names
}

// H-424: a caller cannot subscribe to a resource that it may not read, and its skills are those that it may read.
func TestRightsOfWatches(t *testing.T) {
	server, root := newServer(t, guarded, nil)
	tools := &auth.Identity{Name: "n", Rights: &auth.Rights{Tools: []string{"*"}}}
	rows := &auth.Identity{Name: "m", Rights: &auth.Rights{Resources: []string{"row"}}}
	for id, permitted := range map[*auth.Identity]bool{tools: false, rows: true} {
		for _, stateless := range []bool{false, true} {
			os.Remove(filepath.Join(root, "ran"))
			m := as(t, server, id, stateless)
			if m.watch("db://row"); stateless {
				got := m.await("notifications/subscriptions/acknowledged")
				if strings.Contains(got, "db://row") != permitted {
					t.Errorf("%v: %s", permitted, got)
				}
			} else if got := m.await(`"watch"`); strings.Contains(got, refused) == permitted {
				t.Errorf("%v: %s", permitted, got)
			}
			if _, err := os.Stat(filepath.Join(root, "ran")); (err == nil) != permitted {
				t.Errorf("%v: the provider ran: %v", permitted, err == nil)
			}
			for i, use := range []use{
				{"skills/get", `"uri":"skill://tea/SKILL.md"`, ""}, {"resources/directory/read", `"uri":"skill://tea"`, ""},
			} {
				got := m.request(string('7'+rune(i)), use.method, use.params)
				if !strings.Contains(got, "There is no such skill") {
					t.Errorf("%s: %s", use.method, got)
				}
			}
			m.close()
		}
	}
}

// H-421: a mapping names lists of known kinds.
func TestBadRights(t *testing.T) {
	for mapping, want := range map[string]string{
		`{"a":{"tool":[]}}`:                    `"tool" of "a" is none of tools, resources and prompts`,
		`{"a":{"tools":"x"}}`:                  `the tools of "a" must be a list of names`,
		`{"a":{"resources":null}}`:             `the resources of "a" must be a list of names`,
		`{"a":{"prompts":[],"prompts":["*"]}}`: `the prompts of "a" are given twice`,
		`{"a":{},"a":{}}`:                      `the scope "a" is given twice`,
	} {
		server, _ := newServer(t, map[string]string{"server.d/server.meta.json": `{"scopes":` + mapping + `}`},
			project.Env{})
		if err := server.Project.Meta.BadScopes; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", mapping, err)
		}
	}
}

// H-422: the lists follow the tools that link to pages.
func TestPagesFollowTools(t *testing.T) {
	server, root := newServer(t, map[string]string{
		"server.d/server.meta.json": `{"name":"demo"}`, "ui/board/index.html": "x", "tools/a/tool.sh": "echo a",
	}, nil)
	m := as(t, server, &auth.Identity{Name: "n", Rights: &auth.Rights{Tools: []string{"a"}}}, true)
	if got := m.request("1", "resources/list", ""); strings.Contains(got, "board") {
		t.Error(got)
	}
	meta := `{"name":"a","_meta":{"ui":{"resourceUri":"ui://demo/board"}}}`
	if err := os.WriteFile(filepath.Join(root, "tools/a/tool.meta.json"), []byte(meta), 0o644); err != nil {
		t.Fatal(err)
	}
	server.Engine.Catalog.Changes(t.Context(), registry.Poll{Fresh: true})
	if got := m.request("2", "resources/list", ""); !strings.Contains(got, "board") {
		t.Error(got)
	}
}
