package registry

import (
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// What a project wrote becomes valid JSON or nothing.
func FuzzToolItem(f *testing.F) {
	f.Add("# mcp: {\"name\":\"x\",\"arguments\":{}}\n", `{"name":"y","icons":[{"src":"x"}],"_meta":{"ui/resourceUri":"u"}}`)
	f.Add("#!/bin/sh\n\n# mcp: {\"capabilities\":[\"edit\"]} -->", "\xEF\xBB\xBF{\"\\u006eame\":\"\\ud800\",\"parameters\":{\"required\":[{\"name\":\"a\"}]},\r\"version\":\"1.0.0-a\"}")
	p := &project.Project{Root: "/nowhere", Dirs: project.Dirs{Tools: "/nowhere/tools"}}
	f.Fuzz(func(t *testing.T, script, meta string) {
		at := nowhere{}
		s := &subject{project: p, noun: Tools.Noun, faults: Tools.faults, fields: fields{place: at}, path: "a/tool.sh", shown: "tools/a/tool.sh", iconDirs: []string{"/nowhere/tools/a"}}
		if object, _, err := parseMetadata([]byte(meta)); err == nil {
			s.sources = append(s.sources, newSource(writing{file: "m"}, object))
			s.extras = true
		}
		head, _ := headOf([]byte(script))
		if header := parseHeader(head); header != nil {
			s.sources = append(s.sources, newSource(writing{file: "h"}, header))
		}
		s.extras = s.extras && len(s.sources) > 0
		item, ok := makeTool(s)
		if !ok {
			return
		}
		if v, err := rawjson.Check(item.JSON); err != nil || rawjson.TextOf(v, "name") != item.Name || item.Name == "" {
			t.Errorf("%v: %q from %q and %q", err, item.JSON, script, meta)
		}
		if !rawjson.IsCompact(item.JSON) || rawjson.KindOf(rawjson.Get(item.JSON, "inputSchema")) != rawjson.Object {
			t.Errorf("%s", item.JSON)
		}
	})
}
