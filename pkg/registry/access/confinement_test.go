package access

import (
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

// CF-1, CF-2: the stricter of the operator's and the project's mode counts. An unknown mode counts as the strictest.
func TestEffectiveConfinement(t *testing.T) {
	for _, c := range []struct {
		operator, project string
		want              Confinement
		logged            int
	}{
		{"", "", Confinement{Declared: true}, 0},
		{"off", "", Confinement{}, 0},
		{"OFF", "off", Confinement{}, 0},
		{"", "off", Confinement{Declared: true}, 0},
		{"off", "declared", Confinement{Declared: true}, 0},
		{"declared, required", "all", Confinement{true, true, true}, 0},
		{"off", "all,required", Confinement{true, true, true}, 0},
		{"all", "off", Confinement{Declared: true, All: true}, 0},
		{"of", "", Confinement{true, true, true}, 1},
		{"off,required", "", Confinement{true, true, true}, 1},
		{"all,requested", "{}", Confinement{true, true, true}, 2},
	} {
		p := &project.Project{}
		p.Discovery.Confine, p.Meta.Confine = c.operator, c.project
		logged := 0
		got := EffectiveConfinement(p, func(mcp.Level, string, string) { logged++ })
		if got != c.want || logged != c.logged {
			t.Errorf("%q, %q: %+v, %d logged", c.operator, c.project, got, logged)
		}
	}
}
