package kinds

import (
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
)

// Metadata becomes a valid JSON item, or no item.
func FuzzToolItem(f *testing.F) {
	f.Add("# mcp: {\"name\":\"x\",\"arguments\":{}}\n", `{"name":"y","icons":[{"src":"x"}],`+
		`"_meta":{"ui/resourceUri":"u"}}`)
	f.Add("#!/bin/sh\n\n# mcp: {\"capabilities\":[\"edit\"]} -->",
		"\xEF\xBB\xBF{\"\\u006eame\":\"\\ud800\",\"parameters\":{\"required\":[{\"name\":\"a\"}]},\r\"version\":\"1.0.0-a\"}")
	p := &project.Project{Root: "/nowhere", Dirs: project.Dirs{Tools: "/nowhere/tools"}}
	f.Fuzz(func(t *testing.T, script, meta string) {
		at := item.NoDir{}
		s := &item.Input{Project: p, Noun: Tools.Noun, FaultLevel: Tools.FaultLevel, Fields: item.Fields{Dir: at},
			Path: "a/tool.sh", Label: item.Place{File: "tools/a/tool.sh"}, IconDirs: []string{"/nowhere/tools/a"}}
		if object, _, err := item.ParseMetadata([]byte(meta)); err == nil {
			s.Sources = append(s.Sources, item.NewSource(item.Location{File: "m"}, object))
			s.KeepUnknown = true
		}
		head, _ := item.Head([]byte(script))
		if header, _ := item.ParseHeader(head); header != nil {
			s.Sources = append(s.Sources, item.NewSource(item.Location{File: "h"}, header))
		}
		s.KeepUnknown = s.KeepUnknown && len(s.Sources) > 0
		item, ok := BuildTool(s)
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
