package registry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
)

// a project with hostile files.
func TestHostileProject(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file names and links of Unix")
	}
	tool, meta := "#!/bin/sh\n", `{"name":"x"}`
	deep := "tools" + strings.Repeat("/d", 16)
	odd := []string{"warning mcp.tools: tools/a/tool.meta.json: a link or no regular file, which is not read; put the " +
		"file itself there; the tool does not run"}
	for _, tc := range []struct {
		name  string
		files files
		want  string
		log   []string
	}{
		{"FIFO for metadata", files{"tools/a/tool.sh": tool, "tools/a/tool.meta.json|": ""}, "a", odd},
		{"FIFO for a tool", files{"tools/a/tool.sh|": ""}, "", nil},
		{"link to a tool", files{"elsewhere.sh*": tool, "tools/a/tool.sh@": "../../elsewhere.sh"}, "", nil},
		{"link to metadata", files{"m.json": meta, "tools/a/tool.sh": tool, "tools/a/tool.meta.json@": "../../m.json"}, "a",
			odd},
		{"link to a directory", files{"other/tool.sh": tool, "tools/a@": "../other"}, "", nil},
		{"link to its parent", files{"tools/a/tool.sh": tool, "tools/a/up@": ".."}, "a", nil},
		{"dangling link", files{"tools/a/tool.sh@": "nowhere"}, "", nil},
		{"directory for metadata", files{"tools/a/tool.sh": tool, "tools/a/tool.meta.json/": ""}, "a", odd},
		{"directory called tool.sh", files{"tools/a/tool.sh/": ""}, "", nil},
		{"hidden", files{"tools/.a/tool.sh": tool, "tools/b/.tool.sh*": tool, "tools/b/.git/x.sh": "# mcp: {}"}, "", nil},
		{"16 levels", files{deep + "/tool.sh": "# mcp: {}"}, "d", nil},
		{"17 levels, twice", files{deep + "/d/tool.sh": "# mcp: {}", deep + "/e/tool.sh": "# mcp: {}"}, "",
			[]string{"warning mcp.tools: Directories more than 16 levels below tools/ are skipped"}},
		{"line breaks in names", files{"tools/a\nb/tool.sh": tool, "tools/c/x\ry.sh": tool}, "",
			[]string{"warning mcp.tools: Tool scan encountered unsupported filename (newline/CR) under tools/"}},
		{"names that are no UTF-8", files{"tools/a\xff/tool.sh": tool, "tools/c/tool.sh": tool}, "c",
			[]string{"warning mcp.tools: Tool scan encountered unsupported filename (not UTF-8) under tools/"}},
		{"names of the shell", files{"tools/$(id)/tool.sh": tool, "tools/*/tool.sh": tool, "tools/[a]/tool.sh": tool,
			"tools/ /tool.sh": tool}, "$(id) * [a]",
			[]string{
				"error mcp.tools: Skipping tool tools/ /tool.sh: its name is empty",
				"warning mcp.tools: Tool name '$(id)' (tools/$(id)/tool.sh) is refused by some clients: use only letters, digits," +
					" _, - and ., at most 64",
				"warning mcp.tools: Tool name '*' (tools/*/tool.sh) is refused by some clients: use only letters, digits, _, - " +
					"and ., at most 64",
				"warning mcp.tools: Tool name '[a]' (tools/[a]/tool.sh) is refused by some clients: use only letters, digits, _, " +
					"- and ., at most 64",
			}},
		{"a file called tools", files{}, "", nil},
		{"many layers of JSON", files{"tools/a/tool.sh": tool, "tools/a/tool.meta.json": layers(100), "tools/b/tool.sh": tool,
			"tools/b/tool.meta.json": layers(101),
			"tools/c/x.sh":           "# mcp: " + layers(100), "tools/d/y.sh": "# mcp: " + layers(101)}, "b layers y",
			[]string{
				"warning mcp.tools: tools/b/tool.meta.json: nested more than 100 levels deep; the tool does not run",
				"warning mcp.tools: tools/d/y.sh: nested more than 100 levels deep; the tool does not run",
				"warning mcp.tools: Duplicate tool name 'layers' in tools/c/x.sh; keeping tools/a/tool.sh",
			}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t, nil, tc.files)
			if tc.name == "a file called tools" {
				b.Remove("tools")
				b.Put(files{"tools": "x"})
			}
			want(t, b.names(), tc.want)
			b.WantLog(tc.log...)
			b.reopen(nil, Options{}) // another process gets the same list
			want(t, b.names(), tc.want)
			b.WantLog(tc.log...)
		})
	}
}

func layers(n int) string {
	return `{"name":"layers","_meta":` + strings.Repeat(`{"x":`, n-1) + "1" + strings.Repeat("}", n)
}

// A directory that cannot be read is reported, and read again at the next check.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("everything can be read")
	}
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/b/tool.sh": "", "tools/b/tool.meta.json": `{"name":"x"}`})
	os.Chmod(b.Path("tools/a"), 0)
	os.Chmod(b.Path("tools/b/tool.meta.json"), 0)
	want(t, b.names(), "b")
	b.WantLog("warning mcp.tools: Cannot read directory tools/a: permission denied",
		"warning mcp.tools: tools/b/tool.meta.json: permission denied; the tool does not run")
	os.Chmod(b.Path("tools/a"), 0o755)
}

// after any change of the tree, a running process finds the same items as a new process. The test uses the
// real clock.
func TestRescanFindsEveryChange(t *testing.T) {
	b := newBed(t, nil, files{"icons/i.svg": "1"})
	b.reopen(nil, Options{Now: time.Now})
	running := b.Catalog
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	dirs := []string{"tools/a", "tools/b", "tools/c", "tools/c/d", "tools/c/ui", "tools/e/f/g", "tools/a/ui", "ui/u",
		"ui/a", "ui/a/b",
		"resources", "resources/a", "resources/a/b", "prompts", "prompts/a", "prompts/a/b"}
	step := func() {
		dir := pick(dirs...)
		switch random.IntN(10) {
		case 0:
			os.RemoveAll(b.Path(dir))
		case 1, 2:
			os.Remove(b.Path(dir + "/" + pick("tool.sh", "tool.meta.json", "x.sh", "x", "x.meta.json", "index.html")))
		case 3:
			os.Chmod(b.Path(dir+"/"+pick("tool.sh", "x", "data", "x.completion")), os.FileMode(0o644|random.IntN(2)*0o111))
		case 4:
			os.Rename(b.Path(dir), b.Path(pick(dirs...)))
		case 5:
			os.WriteFile(b.Path("icons/i.svg"), []byte(pick("1", "2")), 0o644)
		default:
			os.MkdirAll(b.Path(dir), 0o755)
			name := pick("tool.sh", "tool.meta.json", "x.sh", "x.meta.json", "x", "data", "index.html", "ui.meta.json",
				"x.completion", "README.md")
			text := pick(`{"name":"n1"}`, `{"name":"n2"}`, `{"name":"n3"`, `{"icons":[{"src":"../../icons/i.svg"}]}`,
				"#!/bin/sh\n# mcp: {\"name\":\"h1\"}\n", "#!/bin/sh\n# mcp: {\"name\":\"h2\"}\n", "", "\xff",
				`{"name":"n1","uri":"x://1"}`, `{"name":"n1","uriTemplate":"x://{y}"}`, `{"name":"n4","uriTemplate":"x://{y}"}`,
				`{"path":"a/b/x"}`, `{"path":"x.sh"}`, `{"entrypoint":"b/index.html"}`)
			os.WriteFile(b.Path(dir+"/"+name), []byte(text), 0o644)
		}
	}
	found := func(c *Catalog) (all string) {
		for _, k := range kinds.All {
			list, err := c.Fresh(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			all += fmt.Sprintf("%s %s\n", list.Hash, list.JSON())
		}
		return all
	}
	for i := range 400 {
		step()
		again := found(running)
		b.reopen(project.Env{"MCPBASH_REGISTRY_DIR": b.Path("nowhere")}, Options{Now: time.Now, ReadOnly: true})
		if first := found(b.Catalog); again != first {
			t.Fatalf("step %d: the running process found:\n%s\na new one:\n%s", i, again, first)
		}
	}
	if list, _ := filepath.Glob(b.Path(".registry/*tmp*")); list != nil {
		t.Error("left behind:", list)
	}
}

// Several workers scan a wide tree. The result does not depend on that.
func TestWideTree(t *testing.T) {
	content := files{}
	for i := range 300 {
		content[fmt.Sprintf("tools/%03d/tool.sh", i)] = ""
		content[fmt.Sprintf("tools/%03d-x/y/tool.sh", i)] = "# mcp: {}"
	}
	b := newBed(t, nil, content)
	if n := len(b.tools().Items); n != 301 {
		t.Errorf("%d tools", n)
	}
}

func TestScanStops(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.List(ctx, kinds.Tools); err != context.Canceled {
		t.Error(err)
	}
	want(t, b.names(), "a") // the failure is not remembered
	b.WantLog()
}
