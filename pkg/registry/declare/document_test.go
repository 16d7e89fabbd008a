package declare

import (
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
)

func FuzzDeclarations(f *testing.F) {
	f.Add(`{"version":1,"tools":[{"name":"a","path":"b"}],"merge":["tools"],"exclude":["x"],"_meta":{}}`)
	f.Add(`{"version":1e0,"completions":[{"name":"\u0000","path":"/"}],"resourceTemplates":[[]],"tools":null}`)
	p := &project.Project{Root: "/nowhere", Dirs: project.Dirs{Tools: "/nowhere/tools"}}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse([]byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "Declarative register.json ") {
				t.Error(err)
			}
			return
		}
		for k := range declarable {
			m := d.Lists[k.Key]
			if m == nil {
				continue
			}
			a := &kinds.Assembly{Project: p, Kind: k, Discovered: m.Merge, Declared: &Build(p, k, m, nil).Declared}
			for _, item := range kinds.Without(a.Items(), d.Excluded(k)) {
				if v, err := rawjson.Check(item.JSON); err != nil || rawjson.TextOf(v, "name") != item.Name || item.Name == "" {
					t.Errorf("%s: %v: %q", k.Key, err, item.JSON)
				}
			}
		}
	})
}
