package registry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
)

// a project that means harm, or was made by accident.
func TestHostileProject(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file names and links of Unix")
	}
	tool, meta := "#!/bin/sh\n", `{"name":"x"}`
	deep := "tools" + strings.Repeat("/d", 16)
	for _, tc := range []struct {
		name  string
		files files
		want  string
		log   []string
	}{
		{"FIFO for metadata", files{"tools/a/tool.sh": tool, "tools/a/tool.meta.json|": ""}, "a", nil},
		{"FIFO for a tool", files{"tools/a/tool.sh|": ""}, "", nil},
		{"link to a tool", files{"elsewhere.sh*": tool, "tools/a/tool.sh@": "../../elsewhere.sh"}, "", nil},
		{"link to metadata", files{"m.json": meta, "tools/a/tool.sh": tool, "tools/a/tool.meta.json@": "../../m.json"}, "a", nil},
		{"link to a directory", files{"other/tool.sh": tool, "tools/a@": "../other"}, "", nil},
		{"link to its parent", files{"tools/a/tool.sh": tool, "tools/a/up@": ".."}, "a", nil},
		{"dangling link", files{"tools/a/tool.sh@": "nowhere"}, "", nil},
		{"directory for metadata", files{"tools/a/tool.sh": tool, "tools/a/tool.meta.json/": ""}, "a", nil},
		{"directory called tool.sh", files{"tools/a/tool.sh/": ""}, "", nil},
		{"hidden", files{"tools/.a/tool.sh": tool, "tools/b/.tool.sh*": tool, "tools/b/.git/x.sh": "# mcp: {}"}, "", nil},
		{"16 levels", files{deep + "/tool.sh": "# mcp: {}"}, "d", nil},
		{"17 levels, twice", files{deep + "/d/tool.sh": "# mcp: {}", deep + "/e/tool.sh": "# mcp: {}"}, "",
			[]string{"warning mcp.tools: Directories more than 16 levels below tools/ are skipped"}},
		{"line breaks in names", files{"tools/a\nb/tool.sh": tool, "tools/c/x\ry.sh": tool}, "",
			[]string{"warning mcp.tools: Tool scan encountered unsupported filename (newline/CR) under tools/"}},
		{"names that are no UTF-8", files{"tools/a\xff/tool.sh": tool, "tools/c/tool.sh": tool}, "c",
			[]string{"warning mcp.tools: Tool scan encountered unsupported filename (not UTF-8) under tools/"}},
		{"names of the shell", files{"tools/$(id)/tool.sh": tool, "tools/*/tool.sh": tool, "tools/[a]/tool.sh": tool, "tools/ /tool.sh": tool}, "$(id) * [a]",
			[]string{
				"error mcp.tools: Skipping tool tools/ /tool.sh: its name is empty",
				"warning mcp.tools: Tool name '$(id)' (tools/$(id)/tool.sh) is refused by some clients: use only letters, digits, _, - and ., at most 64",
				"warning mcp.tools: Tool name '*' (tools/*/tool.sh) is refused by some clients: use only letters, digits, _, - and ., at most 64",
				"warning mcp.tools: Tool name '[a]' (tools/[a]/tool.sh) is refused by some clients: use only letters, digits, _, - and ., at most 64",
			}},
		{"a file called tools", files{}, "", nil},
		{"many layers of JSON", files{"tools/a/tool.sh": tool, "tools/a/tool.meta.json": layers(100), "tools/b/tool.sh": tool, "tools/b/tool.meta.json": layers(101),
			"tools/c/x.sh": "# mcp: " + layers(100), "tools/d/y.sh": "# mcp: " + layers(101)}, "b layers y",
			[]string{"warning mcp.tools: Malformed metadata tools/b/tool.meta.json: nested more than 100 levels deep, using defaults",
				"warning mcp.tools: Duplicate tool name 'layers' in tools/c/x.sh; keeping tools/a/tool.sh"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t, nil, tc.files)
			if tc.name == "a file called tools" {
				b.remove("tools")
				b.put(files{"tools": "x"})
			}
			want(t, b.names(), tc.want)
			b.wantLog(tc.log...)
			b.reopen(nil, Options{}) // and the same out of the scan cache
			want(t, b.names(), tc.want)
			b.wantLog(tc.log...)
		})
	}
}

func layers(n int) string {
	return `{"name":"layers","_meta":` + strings.Repeat(`{"x":`, n-1) + "1" + strings.Repeat("}", n)
}

// A directory that cannot be read is reported, and looked at again later.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("everything can be read")
	}
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/b/tool.sh": "", "tools/b/tool.meta.json": `{"name":"x"}`})
	os.Chmod(b.path("tools/a"), 0)
	os.Chmod(b.path("tools/b/tool.meta.json"), 0)
	want(t, b.names(), "b")
	b.wantLog("warning mcp.tools: Cannot read directory tools/a: permission denied",
		"warning mcp.tools: Malformed metadata tools/b/tool.meta.json: permission denied, using defaults")
	os.Chmod(b.path("tools/a"), 0o755)
}

// scanNow scans and returns the paths of the directories it had to look at.
func (b *bed) scanNow(old *scan) (*scan, string) {
	b.t.Helper()
	s, err := scanContent(context.Background(), b.p, Tools.spec(), "", old, b.now())
	if err != nil {
		b.t.Fatal(err)
	}
	var fresh []string
	for i := range s.records {
		if s.records[i].fresh {
			fresh = append(fresh, "/"+s.records[i].path)
		}
	}
	s.settle(b.store.clock)
	return s, strings.Join(fresh, " ")
}

// only what has changed is looked at, and whatever has changed
// is.
func TestOnlyChangesAreRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no time of change to tell by")
	}
	setup := files{
		"icons/a.svg": "<svg/>", "other/": "",
		"tools/a/tool.sh": "", "tools/a/tool.meta.json": `{"name":"one","icons":[{"src":"../../icons/a.svg"}]}`,
		"tools/b/tool.sh": "", "tools/b/ui/": "",
		"tools/c/tool.sh": "", "tools/c/sub/x.txt": "x",
	}
	keepTimes := func(b *bed, name, text string) {
		info, err := os.Stat(b.path(name))
		if err != nil {
			b.t.Fatal(err)
		}
		b.put(files{name: text})
		os.Chtimes(b.path(name), info.ModTime(), info.ModTime())
	}
	for _, tc := range []struct {
		name   string
		change func(b *bed)
		want   string
	}{
		{"nothing", func(b *bed) {}, ""},
		{"a metadata file", func(b *bed) { b.put(files{"tools/a/tool.meta.json": `{"name":"another"}`}) }, "/a"},
		{"its content, size and time kept", func(b *bed) {
			keepTimes(b, "tools/a/tool.meta.json", `{"name":"two","icons":[{"src":"../../icons/a.svg"}]}`)
		}, "/a"},
		{"a script", func(b *bed) { b.put(files{"tools/c/tool.sh": `# mcp: {}`}) }, "/c"},
		{"a mode", func(b *bed) { os.Chmod(b.path("tools/c/sub/x.txt"), 0o755) }, "/c/sub"},
		{"a new file", func(b *bed) { b.put(files{"tools/c/y": ""}) }, "/c"},
		{"a new directory", func(b *bed) { b.put(files{"tools/d/tool.sh": ""}) }, "/ /d"},
		{"a file gone", func(b *bed) { b.remove("tools/c/sub/x.txt") }, "/c/sub"},
		{"a directory gone", func(b *bed) { b.remove("tools/a") }, "/"},
		{"an icon", func(b *bed) { b.put(files{"icons/a.svg": "<svg></svg>"}) }, "/a"},
		{"an icon gone", func(b *bed) { b.remove("icons/a.svg") }, "/a"},
		{"a page", func(b *bed) { b.put(files{"tools/b/ui/index.html": ""}) }, "/b"},
		{"hidden files", func(b *bed) { b.put(files{"tools/a/.x": "", "tools/.y/z": ""}) }, ""},
		{"a link in place of a file", func(b *bed) { b.remove("tools/c/tool.sh"); b.put(files{"tools/c/tool.sh@": "../a/tool.sh"}) }, "/c"},
		{"another file of the same name", func(b *bed) {
			b.put(files{"tools/c/new": ""})
			os.Rename(b.path("tools/c/new"), b.path("tools/c/tool.sh"))
		}, "/c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t, nil, setup)
			before, _ := b.scanNow(nil)
			tc.change(b)
			after, fresh := b.scanNow(before)
			want(t, fresh, tc.want)
			anew, _ := b.scanNow(nil)
			if !slices.EqualFunc(after.found(), anew.found(), sameFound) {
				t.Errorf("found %v, anew %v", after.found(), anew.found())
			}
			if tc.want == "" && after.content != before {
				t.Error("nothing has changed, but the scan says so")
			}
		})
	}
}

// A change within the tick of the clock that a look was taken in cannot be
// seen, so what changed just now is looked at again.
func TestChangesJustNow(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	b.clock = time.Now()
	first, _ := b.scanNow(nil)
	if _, fresh := b.scanNow(first); !strings.Contains(fresh, "/a") {
		t.Error("a file of this moment was believed")
	}
	if runtime.GOOS == "windows" {
		return
	}
	b.advance(time.Hour)
	second, _ := b.scanNow(first)
	if _, fresh := b.scanNow(second); fresh != "" {
		t.Error("never believed:", fresh)
	}
}

func TestSettled(t *testing.T) {
	at := time.Unix(1000, 123456789)
	for _, tc := range []struct {
		name  string
		ctime time.Time
		want  bool
	}{
		{"long ago", at.Add(-time.Hour), true},
		{"in the future", at.Add(time.Hour), false},
		{"now", at, false},
		{"within a tick", at.Add(-fineStep + time.Nanosecond), false},
		{"a tick ago", at.Add(-fineStep - time.Nanosecond), true},
		{"round, a second ago", time.Unix(999, 0), false},
		{"round, three seconds ago", time.Unix(997, 0), true},
	} {
		s := stamp{ino: 1, ctime: tc.ctime.UnixNano()}
		if s.settled(at) != tc.want {
			t.Error(tc.name)
		}
	}
	if (stamp{ino: 1, mtime: 5}).settled(at) {
		t.Error("believed a file without time of change")
	}
	if !(stamp{}).settled(at) {
		t.Error("absence is no fact")
	}
}

// The scan cache never shows: whatever happens to the tree, a process that
// uses it finds what one without it finds. The real clock is used.
func TestCacheIsInvisible(t *testing.T) {
	b := newBed(t, nil, files{"icons/i.svg": "1"})
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	dirs := []string{"tools/a", "tools/b", "tools/c", "tools/c/d", "tools/c/ui", "tools/e/f/g", "tools/a/ui", "ui/u", "ui/a", "ui/a/b",
		"resources", "resources/a", "resources/a/b", "prompts", "prompts/a", "prompts/a/b"}
	step := func() {
		dir := pick(dirs...)
		switch random.IntN(10) {
		case 0:
			os.RemoveAll(b.path(dir))
		case 1, 2:
			os.Remove(b.path(dir + "/" + pick("tool.sh", "tool.meta.json", "x.sh", "x", "x.meta.json", "index.html")))
		case 3:
			os.Chmod(b.path(dir+"/"+pick("tool.sh", "x", "data", "x.completion")), os.FileMode(0o644|random.IntN(2)*0o111))
		case 4:
			os.Rename(b.path(dir), b.path(pick(dirs...)))
		case 5:
			os.WriteFile(b.path("icons/i.svg"), []byte(pick("1", "2")), 0o644)
		default:
			os.MkdirAll(b.path(dir), 0o755)
			name := pick("tool.sh", "tool.meta.json", "x.sh", "x.meta.json", "x", "data", "index.html", "ui.meta.json", "x.completion", "README.md")
			text := pick(`{"name":"n1"}`, `{"name":"n2"}`, `{"name":"n3"`, `{"icons":[{"src":"../../icons/i.svg"}]}`, "#!/bin/sh\n# mcp: {\"name\":\"h1\"}\n", "#!/bin/sh\n# mcp: {\"name\":\"h2\"}\n", "", "\xff",
				`{"name":"n1","uri":"x://1"}`, `{"name":"n1","uriTemplate":"x://{y}"}`, `{"name":"n4","uriTemplate":"x://{y}"}`, `{"path":"a/b/x"}`, `{"path":"x.sh"}`, `{"entrypoint":"b/index.html"}`)
			os.WriteFile(b.path(dir+"/"+name), []byte(text), 0o644)
		}
	}
	found := func() (all string) {
		for _, k := range Kinds {
			list, err := b.List(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			all += list.Hash + " " + b.listing(k) + "\n"
		}
		return all
	}
	for i := range 400 {
		step()
		b.reopen(nil, Options{Now: time.Now})
		cached := found()
		logged := b.log()
		b.reopen(project.Env{"MCPBASH_REGISTRY_DIR": b.path("nowhere")}, Options{Now: time.Now, ReadOnly: true})
		if anew := found(); cached != anew {
			t.Fatalf("step %d:\n%s\nanew:\n%s", i, cached, anew)
		}
		if said := b.log(); !slices.Equal(said, logged) {
			t.Fatalf("step %d:\n%q\nanew:\n%q", i, logged, said)
		}
	}
	if list, _ := filepath.Glob(b.path(".registry/*tmp*")); list != nil {
		t.Error("left behind:", list)
	}
}

// A wide tree is shared out among workers; that must not show.
func TestWideTree(t *testing.T) {
	content := files{}
	for i := range 300 {
		content[fmt.Sprintf("tools/%03d/tool.sh", i)] = ""
		content[fmt.Sprintf("tools/%03d-x/y/tool.sh", i)] = "# mcp: {}"
	}
	b := newBed(t, nil, content)
	s, _ := b.scanNow(nil)
	if !slices.IsSortedFunc(s.records, func(a, b record) int { return strings.Compare(a.path, b.path) }) || len(s.records) != 901 {
		t.Errorf("%d records", len(s.records))
	}
	if n := len(b.tools().Items); n != 301 {
		t.Errorf("%d tools", n)
	}
}

func TestScanStops(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.List(ctx, Tools); err != context.Canceled {
		t.Error(err)
	}
	want(t, b.names(), "a") // not remembered as a failure
	b.wantLog()
}

// the same for every kind, each for what it looks at.
func TestOnlyChangesAreReadOfOtherKinds(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // no time of change to tell by
	}
	for _, tc := range []struct {
		name   string
		change func(b *bed)
		want   string
	}{
		{"nothing", func(b *bed) {}, ""},
		{"a text that is read for a header", func(b *bed) { b.put(files{"resources/sub/r2.txt": "# mcp: {}"}) }, "resources:/sub"},
		{"a prompt that nobody described", func(b *bed) { b.put(files{"prompts/p1.txt": "x"}) }, "prompts:/"},
		{"a new file", func(b *bed) { b.put(files{"resources/sub/new.txt": ""}) }, "resources:/sub resourceTemplates:/sub"},
		{"a template", func(b *bed) { b.put(files{"resources/m1.meta.json": `{"name":"m","uriTemplate":"x://{y}"}`}) }, "resources:/ resourceTemplates:/"},
		{"a page", func(b *bed) { b.put(files{"ui/u1/ui.meta.json": `{}`}) }, "ui:/u1"},
		{"the text of a page", func(b *bed) { b.put(files{"ui/u1/index.html": "other"}) }, ""},
		{"a page of a tool", func(b *bed) { b.put(files{"tools/t1/ui/ui.meta.json": `{}`}) }, "ui:/t1/ui"},
		{"a file that metadata elsewhere names", func(b *bed) { b.put(files{"prompts/sub/p2.txt": "x"}) }, "prompts:/sub prompts:/there"},
		{"mode of a companion", func(b *bed) { os.Chmod(b.path("resources/c.completion"), 0o755) }, "resources:/"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t, nil, mixed)
			b.put(files{"prompts/there/m.meta.json": `{"path":"sub/p2.txt"}`, "resources/c.completion": ""})
			before := map[*Kind]*scan{}
			look := func() (fresh string) {
				for _, k := range Kinds {
					s, err := scanContent(t.Context(), b.p, k.spec(), "", before[k], b.now())
					if err != nil {
						t.Fatal(err)
					}
					for i := range s.records {
						if s.records[i].fresh {
							fresh += " " + k.Key + ":/" + s.records[i].path
						}
					}
					s.settle(b.store.clock)
					before[k] = s
				}
				return strings.TrimSpace(fresh)
			}
			look()
			tc.change(b)
			want(t, look(), tc.want)
			want(t, look(), "")
		})
	}
}
