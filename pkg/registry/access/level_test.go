package access

import (
	"encoding/json"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/projecttest"
	"mcp-bash/pkg/wire/mcp"
)

// the level of each capability; the higher of two levels counts.
func TestLevelOf(t *testing.T) {
	for item, want := range map[string]Level{
		`{}`:                                                      Full,
		`{"capabilities":null}`:                                   Full,
		`{"securityLevel":"restricted"}`:                          Full,
		`{"capabilities":[]}`:                                     Restricted,
		`{"capabilities":["Search"]}`:                             Restricted,
		`{"capabilities":["Edit"]}`:                               Standard,
		`{"capabilities":["FileSystem"]}`:                         Standard,
		`{"capabilities":["Network","Edit"]}`:                     Elevated,
		`{"capabilities":["Search","Process"]}`:                   Full,
		`{"capabilities":["Kernel"]}`:                             Full,
		`{"capabilities":["Search"],"confine":{"exec":["grep"]}}`: Full,
		`{"capabilities":["Search"],"confine":{"read":["~/x"]}}`:  Standard,
		`{"capabilities":["Search"],"confine":{"write":["x"]}}`:   Standard,
		`{"capabilities":["Search"],"confine":{"connect":[443]}}`: Elevated,
		`{"confine":{}}`:                                          Restricted,
		`{"capabilities":5,"confine":{}}`:                         Full,
		`{"capabilities":"Search"}`:                               Full,
		`{"capabilities":["Search",1]}`:                           Full,
		`{"capabilities":["Search"],"securityLevel":"elevated"}`:  Elevated,
		`{"capabilities":["Network"],"securityLevel":"standard"}`: Elevated,
		`{"capabilities":[],"securityLevel":"Standard"}`:          Standard,
		`{"capabilities":[],"securityLevel":"tight"}`:             Full,
		`{"capabilities":[],"securityLevel":""}`:                  Full,
		`{"capabilities":[],"securityLevel":5}`:                   Full,
		`{"capabilities":[],"securityLevel":null}`:                Restricted,
	} {
		if got := LevelOf(json.RawMessage(item)); got != want {
			t.Errorf("%s: %s, want %s", item, got, want)
		}
	}
}

// the order of levels; none given is the highest.
func TestLevelAllows(t *testing.T) {
	order := []Level{Restricted, Standard, Elevated, Full}
	for i, l := range order {
		for k, needed := range order {
			if got := l.Allows(needed); got != (k <= i) {
				t.Errorf("%s allows %s: %t", l, needed, got)
			}
		}
		if err := l.Refusal(json.RawMessage(`{"name":"x"}`)); (err == nil) != (l == Full) {
			t.Errorf("%s: %v", l, err)
		}
	}
	if !Level("").Allows(Full) || Level("bogus").Allows(Restricted) {
		t.Error("a level that is not given, or not known")
	}
	for _, name := range []string{"ELEVATED", "elevated"} {
		if l, ok := ParseLevel(name); !ok || l != Elevated {
			t.Error(name, l, ok)
		}
	}
	if _, ok := ParseLevel("high"); ok {
		t.Error("high is a level")
	}
}

// the lower of the operator's and the project's level counts. An unknown level counts as the lowest.
func TestEffectiveLevel(t *testing.T) {
	for _, tc := range []struct {
		operator, meta string
		want           Level
		logged         string
	}{
		{"", `{}`, Full, ""},
		{"", `{"securityLevel":""}`, Full, ""},
		{"standard", `{}`, Standard, ""},
		{"", `{"securityLevel":"Elevated"}`, Elevated, ""},
		{"standard", `{"securityLevel":"full"}`, Standard, ""},
		{"FULL", `{"securityLevel":"restricted"}`, Restricted, ""},
		{"hihg", `{}`, Restricted, "error mcp.registry: Invalid security level 'hihg' in MCPBASH_SECURITY_LEVEL; using " +
			"restricted"},
		{"", `{"securityLevel":{"a":1}}`, Restricted, `error mcp.registry: Invalid security level '{"a":1}' in ` +
			`server.d/server.meta.json; using restricted`},
		{"", `{"securityLevel":true}`, Restricted, `error mcp.registry: Invalid security level 'true' in ` +
			`server.d/server.meta.json; using restricted`},
	} {
		b := projecttest.New(t, project.Env{"MCPBASH_SECURITY_LEVEL": tc.operator},
			projecttest.Files{"server.d/server.meta.json": tc.meta})
		got := EffectiveLevel(b.Project, func(level mcp.Level, logger,
			text string) {
			b.AddLine(level.String() + " " + logger + ": " + text)
		})
		if got != tc.want {
			t.Errorf("%q, %s: %s, want %s", tc.operator, tc.meta, got, tc.want)
		}
		if tc.logged == "" {
			b.WantLog()
		} else {
			b.WantLog(tc.logged)
		}
		if EffectiveLevel(b.Project, nil) != got {
			t.Error("another level without a log")
		}
	}
}
