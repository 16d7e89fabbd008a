package registry

import (
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// A Kind value is enough to add a kind. The two kinds of this test use the same functions as tools.
func TestKindsAreDescriptors(t *testing.T) {
	entry := func(s *item.Input) (item.Candidate, bool) {
		name, _ := s.Text("name")
		return item.Candidate{Item: item.Item{Name: name, JSON: rawjson.Quote(name)}, ID: name, Path: s.Path},
			s.CheckName(name)
	}
	copied := *kinds.Prompts
	texts := &copied
	texts.Build = entry
	texts.Trees = []scan.Tree{{Noun: "Prompt", Dir: func(p *project.Project) string { return p.Prompts },
		Examine: func(v *scan.Visit) {
			for name := range v.Files {
				v.Add(item.Candidate{Item: item.Item{Name: name, JSON: []byte(`{"name":"` + name + `"}`)}, ID: name,
					Path: v.Input(name, nil).Path})
			}
		}}}
	listed := *texts
	listed.Key, listed.File, listed.Trees = "completions", "completions.json", nil
	saved := kinds.All
	t.Cleanup(func() { kinds.All = saved })
	kinds.All = []*kinds.Kind{kinds.Tools, texts, &listed}

	b := newBed(t, nil, files{"tools/a/tool.sh": "", "prompts/x": "", "prompts/y/x": "",
		"server.d/register.json": `{"version":1,"completions":[{"name":"c","path":"p"}]}`})
	want(t, string(b.refresh("").AppendJSON(nil)), `{
  "tools": {"status":"ok","count":1,"error":null},
  "prompts": {"status":"ok","count":1,"error":null},
  "completions": {"status":"ok","count":1,"error":null},
  "notificationsSent": false,
  "mode": "full"
}`)
	b.WantLog("warning mcp.prompts: Duplicate prompt name 'x' in prompts/y/x; keeping prompts/x")
	want(t, b.changed(Poll{}), "tools prompts completions")
	b.Put(files{"prompts/z": "", "server.d/register.json": `{"version":1,"completions":[]}`})
	b.Advance(time.Minute)
	want(t, b.changed(Poll{}), "prompts completions")
	b.Put(files{"server.d/register.json": "["})
	b.Advance(time.Minute)
	_, err := b.List(t.Context(), texts)
	want(t, string(texts.Unavailable(err).AppendJSON(nil)),
		`{"code":-32603,"message":"Unable to load prompts registry","data":{"reason":"Declarative register.json `+
			`parsing/validation failed: line 1, column 2: unexpected end"}}`)
	b.changed(Poll{})
	if log := strings.Join(b.Log(), "\n"); strings.Count(log, "Declarative") != 3 || strings.Count(log,
		"warning mcp.tools") != 1 {
		t.Error(log) // each kind has its own logger
	}
}

// An unreadable content directory is a failure, not an empty project.
func TestContentUnreadable(t *testing.T) {
	b := newBed(t, nil, nil)
	long := "/" + strings.Repeat("x", 300)
	b.reopen(project.Env{"MCPBASH_TOOLS_DIR": long}, Options{})
	want(t, b.reason(), "unable to read "+long+"/: file name too long")
}
