package declare

import (
	"strings"
	"testing"

	"mcp-bash/pkg/project"
)

// a fault of one kind does not affect the other kinds.
func TestHookListsOfOtherKinds(t *testing.T) {
	calls := func(texts ...string) []byte { return []byte(strings.Join(texts, "\x00") + "\x00") }
	p := &project.Project{Root: t.TempDir(), Settings: project.Settings{Discovery: project.Discovery{ManualBuffer: 100}}}
	wantErr := func(lists map[string]*List, kind, want string) {
		t.Helper()
		if got := lists[kind].Err.Error(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	lists := listsOf(&p.Discovery, replay(calls(
		"register", "completions", `{"name":"c","path":"`+strings.Repeat("x", 100)+`"}`,
		"register", "prompts", `{`,
		"register", "resources", `{"name":"r","uri":"u"}`,
		"finalize", "resourceTemplates", "",
		"register", "nonsense", `{}`,
		"rubbish",
	), nil), nil)
	wantErr(lists, "completions", "manual completion buffer exceeded 100 bytes")
	wantErr(lists, "prompts", "manual prompts registration finalize failed: prompts[0]: line 1, column 2: unexpected end")
	if m := lists["resources"]; m == nil || m.Err != nil || len(m.entries) != 1 {
		t.Errorf("%+v", m)
	}
	if m := lists["resourceTemplates"]; m == nil || len(m.entries) != 0 {
		t.Errorf("%+v", m)
	}
	if lists["tools"] != nil {
		t.Error("tools were not mentioned")
	}
	lists = listsOf(&p.Discovery, replay(calls("register", "completions", "{"), nil), nil)
	wantErr(lists, "completions", "manual completion registration finalize failed: completions[0]: line 1, column 2: "+
		"unexpected end")
	lists = listsOf(&p.Discovery, replay(calls("register", "resourceTemplates", "{"), nil), nil)
	wantErr(lists, "resourceTemplates", "manual resourceTemplates registration finalize failed: resourceTemplates[0]: "+
		"line 1, column 2: unexpected end")
}
