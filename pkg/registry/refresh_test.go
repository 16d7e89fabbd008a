package registry

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// R-161, CLI-903: a filtered refresh renews one subtree and keeps the rest.
func TestFilter(t *testing.T) {
	const whole, subtree = "default1 default[1] new new2 other2", "default1 default[1] new new2 other"
	for _, tc := range []struct{ name, filter, want string }{
		{"subtree", "tools/default[1]", subtree},
		{"absolute", "ROOT/tools/default[1]", subtree},
		{"trailing slash", "tools/default[1]/", subtree},
		{"prefix of a name", "tools/default", whole},
		{"all tools", "tools", whole},
		{"another kind", "resources/x", whole},
		{"the root", ".", whole},
		{"outside", "/", whole},
		{"missing", "tools/nowhere", whole},
		{"a file", "tools/default1/tool.sh", whole},
		{"hidden", "tools/.h", "default1 default[1] gone other"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t, nil, files{
				"tools/default[1]/tool.sh": "", "tools/default[1]/sub/gone.sh": "# mcp: {}", "tools/default1/tool.sh": "",
				"tools/other/tool.sh": "",
				"resources/x/":        "", "tools/.h/tool.sh": "",
			})
			want(t, namesOf(b.tools()), "default1 default[1] gone other")
			b.Put(files{"tools/default[1]/sub/new.sh": "# mcp: {}", "tools/default[1]/sub/new2.sh": "# mcp: {}",
				"tools/other2/tool.sh": ""})
			b.Remove("tools/default[1]/sub/gone.sh")
			b.Remove("tools/other")
			b.reopen(nil, Options{})
			b.refresh(strings.Replace(tc.filter, "ROOT", b.Root, 1))
			file, err := b.store.read(kinds.Tools)
			if err != nil {
				t.Fatal(err)
			}
			want(t, namesOf(file.list(kinds.Tools)), tc.want)
		})
	}
}

// a filter that matches nothing is ignored, with a message.
func TestFilterIgnored(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "prompts/p/": "", "ui/x/": ""})
	for filter, said := range map[string]bool{"": false, "tools": false, "prompts/p": false, "ui": false,
		"resources": true, "nowhere": true, "tools/a/tool.sh": true, "/": true} {
		b.reopen(nil, Options{})
		b.refresh(filter)
		if said {
			b.WantLog(fmt.Sprintf("warning mcp.registry: registry filter '%s' matches no content directory; ignoring", filter))
		} else {
			b.WantLog()
		}
	}
}

// names that occur inside and outside of the subtree, and items without a path.
func TestFilterMerges(t *testing.T) {
	b := newBed(t, nil, files{
		"tools/a/tool.sh": "", "tools/b/tool.sh": "",
		".registry/tools.json": `{"format_version":1,"hash":"h","items":[
			{"name":"a","path":"a/old.sh"},{"name":"c","path":"c/tool.sh","z":1.0},{"name":"d"},{"name":"ab","path":"ab/x.sh"}]}`,
	})
	b.refresh("tools/a")
	want(t, b.names(), "a ab c d")
	b.Advance(time.Minute)
	want(t, b.names(), "a b") // the next check scans everything
	b.Put(files{".registry/tools.json": `{"format_version":1,"hash":"h","items":[
			{"name":"a"},{"name":"c","path":"c/tool.sh","z":1.0},{"name":"d"},{"name":"ab","path":"ab/x.sh"}]}`})
	b.reopen(nil, Options{})
	b.refresh("tools/a")
	file, err := b.store.read(kinds.Tools)
	if err != nil {
		t.Fatal(err)
	}
	want(t, namesOf(file.list(kinds.Tools)), "a ab c d")
	want(t, string(file.list(kinds.Tools).Items[2].JSON), `{"name":"c","path":"c/tool.sh","z":1.0}`)
}

// in a server, the variable limits every scan, so the registry contains only that subtree.
func TestSubPath(t *testing.T) {
	env := project.Env{"MCPBASH_REGISTRY_REFRESH_PATH": "tools/g", "MCP_TOOLS_TTL": "0"}
	b := newBed(t, env, files{"tools/a/tool.sh": "", "tools/g/h/x.sh": "# mcp: {}", "tools/g/tool.sh": ""})
	want(t, b.names(), "g x")
	b.Put(files{"tools/g/h/y.sh": "# mcp: {}", "tools/b/tool.sh": ""})
	want(t, b.names(), "g x y")
	b.reopen(nil, Options{})
	want(t, b.names(), "a b g x y")
	b.reopen(env, Options{})
	b.Remove("tools/g/h")
	if r := b.refresh(""); r.Kinds[0].Count != 3 { // the command keeps the rest
		t.Errorf("%s", r.AppendJSON(nil))
	}
}

// the output of a refresh.
func TestReports(t *testing.T) {
	b := newBed(t, project.Env{"MCP_TOOLS_TTL": "3600"}, files{"tools/a/tool.sh": ""})
	want(t, string(b.refresh("").AppendJSON(nil)), report(`{"status":"ok","count":1,"error":null}`))
	b.Put(files{"tools/b/tool.sh": ""}) // before the end of the TTL
	if r := b.refresh(""); r.Kinds[0].Count != 2 || r.Failed() {
		t.Errorf("%s", r.AppendJSON(nil))
	}
	b.reopen(project.Env{"MCPBASH_FORCE_MINIMAL": "true"}, Options{})
	r := b.refresh("")
	want(t, string(r.AppendJSON(nil)), `{
  "tools": {"status":"skipped","count":2,"error":"minimal mode"},
  "resources": {"status":"skipped","count":0,"error":"minimal mode"},
  "resourceTemplates": {"status":"skipped","count":0,"error":"minimal mode"},
  "prompts": {"status":"skipped","count":0,"error":"minimal mode"},
  "completions": {"status":"skipped","count":0,"error":"minimal mode"},
  "ui": {"status":"skipped","count":0,"error":"minimal mode"},
  "notificationsSent": false,
  "mode": "minimal"
}`)
	if r.Failed() {
		t.Errorf("%s", r.AppendJSON(nil))
	}
}

// the output of status.
func TestStatus(t *testing.T) {
	b := newBed(t, nil, nil)
	// status returns the expected output if only tools exist.
	status := func(tool, dir, tools string) string {
		text := fmt.Sprintf("{\n  \"projectRoot\": %q,\n  \"jsonTool\": %q,\n  \"tools\": %s", b.Root, tool, tools)
		for _, k := range kinds.All[1:] {
			text += fmt.Sprintf(",\n  %q: {\"status\":\"missing\",\"path\":%q,\"count\":0,\"hash\":\"\",\"mtime\":0}", k.Key,
				b.Root+"/"+dir+"/"+k.File)
		}
		return text + "\n}"
	}
	missing := `{"status":"missing","path":"` + b.Root + `/.registry/tools.json","count":0,"hash":"","mtime":0}`
	want(t, string(b.Status("jq").AppendJSON(nil)), status("jq", ".registry", missing))
	if folder.StampOfPath(b.Path(".registry")).Exists() {
		t.Error("made .registry")
	}
	b.Put(files{"we\"ird\n/tools.json": `{"format_version":1,"hash":"36f7","items":[{},{}],"total":77}`})
	b.reopen(project.Env{"MCPBASH_REGISTRY_DIR": "we\"ird\n"}, Options{})
	mtime := folder.StampOfPath(b.Path("we\"ird\n/tools.json")).Mtime / int64(time.Second)
	want(t, string(b.Status("none").AppendJSON(nil)), status("none", "we\"ird\n",
		fmt.Sprintf(`{"status":"present","path":"%s/we\"ird\n/tools.json","count":2,"hash":"36f7","mtime":%d}`, b.Root,
			mtime)))
	b.Put(files{"we\"ird\n/tools.json": `{`})
	if s := b.Status("jq").Kinds[0]; s.Status != "invalid" || s.Mtime == 0 || s.Count != 0 {
		t.Errorf("%+v", s)
	}
}

// with a TTL of 0, a request does not get the result of a check that began before it.
func TestCheckBegunBefore(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	var first sync.Once
	var clock atomic.Int64
	var asks atomic.Bool
	scanned, asked := make(chan bool), make(chan bool)
	b.reopen(project.Env{"MCP_TOOLS_TTL": "0"}, Options{
		Now: func() time.Time {
			if asks.CompareAndSwap(true, false) {
				close(asked)
			}
			return time.Unix(clock.Add(1), 0)
		},
		Withhold: func(*kinds.Kind, []item.Item) map[string]error {
			first.Do(func() {
				scanned <- true
				<-asked
			})
			return nil
		},
	})
	go b.List(t.Context(), kinds.Tools)
	<-scanned
	b.Put(files{"tools/b/tool.sh": ""})
	asks.Store(true)
	want(t, b.names(), "a b")
}
