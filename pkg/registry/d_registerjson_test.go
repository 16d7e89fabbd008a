package registry

import (
	"strings"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

func FuzzDeclarations(f *testing.F) {
	f.Add(`{"version":1,"tools":[{"name":"a","path":"b"}],"merge":["tools"],"exclude":["x"],"_meta":{}}`)
	f.Add(`{"version":1e0,"completions":[{"name":"\u0000","path":"/"}],"resourceTemplates":[[]],"tools":null}`)
	p := &project.Project{Root: "/nowhere", Dirs: project.Dirs{Tools: "/nowhere/tools"}}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDeclarations([]byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "Declarative register.json ") {
				t.Error(err)
			}
			return
		}
		for k := range manualKinds {
			m := d.kinds[k.Key]
			if m == nil {
				continue
			}
			a := &assembly{p: p, kind: k, discovered: m.merge, declared: scanManual(p, k, m, nil).items()}
			for _, item := range without(a.items(), d.excluded(k)) {
				if v, err := rawjson.Check(item.JSON); err != nil || rawjson.TextOf(v, "name") != item.Name || item.Name == "" {
					t.Errorf("%s: %v: %q", k.Key, err, item.JSON)
				}
			}
		}
	})
}
