package lock

import (
	"bytes"
	"strings"
	"testing"

	"mcp-bash/pkg/project/projecttest"
	"mcp-bash/pkg/registry"
)

// demo is a project with an item of each kind.
var demo = projecttest.Files{
	"server.d/server.meta.json":          `{"name":"demo","version":"1.0.0","env":{"tools":["HOME"]}}`,
	"server.d/policy.sh":                 "mcp_tools_policy_check() { return 0; }\n",
	"tools/add/tool.sh":                  "#!/bin/bash\n. ./tools/add/sum.bash\n. ./lib/common.sh\n",
	"tools/add/sum.bash":                 "sum() { echo $(($1 + $2)); }\n",
	"tools/add/tool.meta.json":           `{"name":"add","description":"Adds.\nTwo numbers."}`,
	"lib/common.sh":                      ":\n",
	"prompts/greet/greet.txt":            "Greet.\n",
	"prompts/greet/greet.meta.json":      `{"name":"greet","description":"Greets"}`,
	"resources/note.txt":                 "A note.\n",
	"skills/tidy/SKILL.md":               "---\nname: tidy\ndescription: Tidies\n---\nTidy up.\n",
	"skills/tidy/references/what-for.md": "For order.\n",
}

func of(t *testing.T, f *projecttest.Fixture) *Lock {
	t.Helper()
	f.Open(nil)
	l, err := Of(t.Context(), f.Project, registry.NewCatalog(f.Project, registry.Options{ReadOnly: true}), f.Root)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// LOCK-1: the file does not depend on the machine, and reading it loses nothing.
func TestFile(t *testing.T) {
	f := projecttest.New(t, nil, demo)
	first := of(t, f)
	other := of(t, projecttest.New(t, nil, demo))
	if a, b := first.AppendJSON(nil), other.AppendJSON(nil); !bytes.Equal(a, b) || bytes.Contains(a, []byte(f.Root)) {
		t.Errorf("%s\n%s", a, b)
	}
	if err := first.Write(f.Project); err != nil {
		t.Fatal(err)
	}
	read, err := Read(f.Project)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := first.AppendJSON(nil), read.AppendJSON(nil); !bytes.Equal(a, b) {
		t.Errorf("%s\n%s", a, b)
	}
	if changes := Compare(read, of(t, f)); len(changes) > 0 {
		t.Errorf("%+v", changes)
	}
}

// LOCK-6: the printed changes.
func TestPrint(t *testing.T) {
	f := projecttest.New(t, nil, demo)
	before := of(t, f)
	f.Put(projecttest.Files{
		"tools/add/tool.meta.json": `{"name":"add","description":"Adds.\nThree numbers.","capabilities":["Network"]}`,
		"tools/add/sum.bash":       "sum() { :; }\n", "prompts/greet/greet.meta.json": `{"name":"hello"}`,
	})
	var out strings.Builder
	Print(&out, Compare(before, of(t, f)))
	got := out.String()
	for _, want := range []string{
		"tool add\n  capabilities (permissions)\n    + [\n    +   \"Network\"\n    + ]\n" +
			"  description (read by models)\n    - Two numbers.\n    + Three numbers.\n" +
			"  files/tools/add/sum.bash (runs)\n    - sha256:", "prompt greet\n  removed\nprompt hello\n  added\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks\n%s", got, want)
		}
	}
}

// LOCK-5: invalid lock files.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		``: "unexpected end", `[]`: "not a JSON object", `{"project":{"files":{}}}`: "unknown version (none)",
		`{"version":2,"project":{"files":{}}}`: "unknown version 2", `{"version":1}`: "no project",
		`{"version":1,"project":{}}`: "no files", `{"version":1,"project":{"files":{"a":1}}}`: "not a string",
		`{"version":1,"project":{"files":{}},"new":[]}`:                                               `unknown member "new"`,
		`{"version":1,"project":{"files":{}},"tools":{}}`:                                             "not an array",
		`{"version":1,"project":{"files":{}},"tools":[{"files":{}}]}`:                                 "no name",
		`{"version":1,"project":{"files":{}},"ui":[{"name":"a","files":{}},{"name":"a","files":{}}]}`: "twice",
		`{"version":1,"project":{"files":{}},"tools":[1]}`:                                            "not an object",
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// LOCK-5: a parsed lock has one form.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"project":{"files":{}},"tools":[{"name":"a","files":{"x":"sha256:0"}}],"skills":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parse(text)
		if err != nil {
			return
		}
		form := l.AppendJSON(nil)
		again, err := parse(form)
		if err != nil || !bytes.Equal(again.AppendJSON(nil), form) || len(Compare(l, again)) > 0 {
			t.Errorf("%q: %v", form, err)
		}
	})
}
