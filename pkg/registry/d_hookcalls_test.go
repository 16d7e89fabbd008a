package registry

import (
	"strings"
	"testing"

	"mcp-bash/pkg/project"
)

// the faults of other kinds are theirs.
func TestHookListsOfOtherKinds(t *testing.T) {
	calls := func(texts ...string) []byte { return []byte(strings.Join(texts, "\x00") + "\x00") }
	p := &project.Project{Root: t.TempDir(), Settings: project.Settings{Discovery: project.Discovery{ManualBuffer: 100}}}
	lists := judge(&p.Discovery, replay(calls(
		"register", "completions", `{"name":"c","path":"`+strings.Repeat("x", 100)+`"}`,
		"register", "prompts", `{`,
		"register", "resources", `{"name":"r","uri":"u"}`,
		"finalize", "resourceTemplates", "",
		"register", "nonsense", `{}`,
		"rubbish",
	), nil), nil)
	want(t, lists["completions"].fault.Error(), "Manual completion buffer exceeded 100 bytes")
	want(t, lists["prompts"].fault.Error(), "Manual prompts registration finalize failed: prompts[0]: line 1, column 2: unexpected end")
	if m := lists["resources"]; m == nil || m.fault != nil || len(m.entries) != 1 {
		t.Errorf("%+v", m)
	}
	if m := lists["resourceTemplates"]; m == nil || len(m.entries) != 0 {
		t.Errorf("%+v", m)
	}
	if lists["tools"] != nil {
		t.Error("tools were not mentioned")
	}
	lists = judge(&p.Discovery, replay(calls("register", "completions", "{"), nil), nil)
	want(t, lists["completions"].fault.Error(), "Manual completion registration finalize failed: completions[0]: line 1, column 2: unexpected end")
	lists = judge(&p.Discovery, replay(calls("register", "resourceTemplates", "{"), nil), nil)
	want(t, lists["resourceTemplates"].fault.Error(), "Manual resourceTemplates registration finalize failed: resourceTemplates[0]: line 1, column 2: unexpected end")
}
