package scan_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/project/projecttest"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

type (
	fixture = projecttest.Fixture
	files   = projecttest.Files
)

// scanNow scans, and returns the paths of the directories that the scan had to visit.
func scanNow(f *fixture, old *scan.Result) (*scan.Result, string) {
	f.T.Helper()
	return scanKind(f, kinds.Tools, old)
}

func scanKind(f *fixture, k *kinds.Kind, old *scan.Result) (*scan.Result, string) {
	f.T.Helper()
	s, err := scan.Run(f.T.Context(), f.Project, k.Spec(), "", old, f.Now())
	if err != nil {
		f.T.Fatal(err)
	}
	var fresh []string
	for _, path := range s.Fresh() {
		fresh = append(fresh, "/"+path)
	}
	s.Settle(func(now time.Time) time.Time { return now })
	return s, strings.Join(fresh, " ")
}

// a scan examines exactly the directories that have changed.
func TestOnlyChangesAreRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no ctime")
	}
	setup := files{
		"icons/a.svg": "<svg/>", "other/": "",
		"tools/a/tool.sh": "", "tools/a/tool.meta.json": `{"name":"one","icons":[{"src":"../../icons/a.svg"}]}`,
		"tools/b/tool.sh": "", "tools/b/ui/": "",
		"tools/c/tool.sh": "", "tools/c/sub/x.txt": "x",
	}
	keepTimes := func(b *fixture, name, text string) {
		info, err := os.Stat(b.Path(name))
		if err != nil {
			b.T.Fatal(err)
		}
		b.Put(files{name: text})
		os.Chtimes(b.Path(name), info.ModTime(), info.ModTime())
	}
	for _, tc := range []struct {
		name   string
		change func(b *fixture)
		want   string
	}{
		{"nothing", func(b *fixture) {}, ""},
		{"a metadata file", func(b *fixture) { b.Put(files{"tools/a/tool.meta.json": `{"name":"another"}`}) }, "/a"},
		{"its content, size and time kept", func(b *fixture) {
			keepTimes(b, "tools/a/tool.meta.json", `{"name":"two","icons":[{"src":"../../icons/a.svg"}]}`)
		}, "/a"},
		{"a script", func(b *fixture) { b.Put(files{"tools/c/tool.sh": `# mcp: {}`}) }, "/c"},
		{"a mode", func(b *fixture) { os.Chmod(b.Path("tools/c/sub/x.txt"), 0o755) }, "/c/sub"},
		{"a new file", func(b *fixture) { b.Put(files{"tools/c/y": ""}) }, "/c"},
		{"a new directory", func(b *fixture) { b.Put(files{"tools/d/tool.sh": ""}) }, "/ /d"},
		{"a file gone", func(b *fixture) { b.Remove("tools/c/sub/x.txt") }, "/c/sub"},
		{"a directory gone", func(b *fixture) { b.Remove("tools/a") }, "/"},
		{"an icon", func(b *fixture) { b.Put(files{"icons/a.svg": "<svg></svg>"}) }, "/a"},
		{"an icon gone", func(b *fixture) { b.Remove("icons/a.svg") }, "/a"},
		{"a page", func(b *fixture) { b.Put(files{"tools/b/ui/index.html": ""}) }, "/b"},
		{"hidden files", func(b *fixture) { b.Put(files{"tools/a/.x": "", "tools/.y/z": ""}) }, ""},
		{"a link in place of a file", func(b *fixture) {
			b.Remove("tools/c/tool.sh")
			b.Put(files{"tools/c/tool.sh@": "../a/tool.sh"})
		}, "/c"},
		{"another file of the same name", func(b *fixture) {
			b.Put(files{"tools/c/new": ""})
			os.Rename(b.Path("tools/c/new"), b.Path("tools/c/tool.sh"))
		}, "/c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := projecttest.New(t, nil, setup)
			before, _ := scanNow(b, nil)
			tc.change(b)
			after, fresh := scanNow(b, before)
			want(t, fresh, tc.want)
			anew, _ := scanNow(b, nil)
			if !slices.EqualFunc(after.Candidates(), anew.Candidates(), item.SameCandidate) {
				t.Errorf("found %v, anew %v", after.Candidates(), anew.Candidates())
			}
			if tc.want == "" && after.First != before {
				t.Error("nothing has changed, but the scan says so")
			}
		})
	}
}

// A change within the same clock tick as a scan does not change the stamp. So the next scan
// reads recent files again.
func TestChangesJustNow(t *testing.T) {
	b := projecttest.New(t, nil, files{"tools/a/tool.sh": ""})
	b.Advance(time.Since(b.Now()))
	first, _ := scanNow(b, nil)
	if _, fresh := scanNow(b, first); !strings.Contains(fresh, "/a") {
		t.Error("a file of this moment was believed")
	}
	if runtime.GOOS == "windows" {
		return
	}
	b.Advance(time.Hour)
	second, _ := scanNow(b, first)
	if _, fresh := scanNow(b, second); fresh != "" {
		t.Error("never believed:", fresh)
	}
}

// for every kind, a second scan reads only the files that changed.
func TestOnlyChangesAreReadOfOtherKinds(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // files have no ctime
	}
	content := files{
		"tools/t1/tool.sh": "", "tools/t2/tool.sh": "", "resources/r1.txt": "", "resources/sub/r2.txt": "",
		"prompts/p1.txt":     "",
		"prompts/sub/p2.txt": "", "resources/m1.meta.json": `{"name":"m1","uriTemplate":"x://{y}"}`,
		"resources/sub/m2.meta.json": `{"name":"m2","uriTemplate":"x://{y}"}`, "ui/u1/index.html": "",
		"tools/t1/ui/index.html":    "",
		"prompts/there/m.meta.json": `{"path":"sub/p2.txt"}`, "resources/c.completion": "",
	}
	for _, tc := range []struct {
		name   string
		change func(b *fixture)
		want   string
	}{
		{"nothing", func(b *fixture) {}, ""},
		{"a text that is read for a header", func(b *fixture) { b.Put(files{"resources/sub/r2.txt": "# mcp: {}"}) },
			"resources:/sub"},
		{"a prompt that nobody described", func(b *fixture) { b.Put(files{"prompts/p1.txt": "x"}) }, "prompts:/"},
		{"a new file", func(b *fixture) { b.Put(files{"resources/sub/new.txt": ""}) },
			"resources:/sub resourceTemplates:/sub"},
		{"a template", func(b *fixture) {
			b.Put(files{"resources/m1.meta.json": `{"name":"m","uriTemplate":"x://{y}"}`})
		}, "resources:/ resourceTemplates:/"},
		{"a page", func(b *fixture) { b.Put(files{"ui/u1/ui.meta.json": `{}`}) }, "ui:/u1"},
		{"the text of a page", func(b *fixture) { b.Put(files{"ui/u1/index.html": "other"}) }, ""},
		{"a page of a tool", func(b *fixture) { b.Put(files{"tools/t1/ui/ui.meta.json": `{}`}) }, "ui:/t1/ui"},
		{"a file that metadata elsewhere names", func(b *fixture) { b.Put(files{"prompts/sub/p2.txt": "x"}) },
			"prompts:/sub prompts:/there"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := projecttest.New(t, nil, content)
			before := map[*kinds.Kind]*scan.Result{}
			look := func() string {
				var all []string
				for _, k := range kinds.All {
					s, fresh := scanKind(b, k, before[k])
					before[k] = s
					for path := range strings.FieldsSeq(fresh) {
						all = append(all, k.Key+":"+path)
					}
				}
				return strings.Join(all, " ")
			}
			look()
			tc.change(b)
			want(t, look(), tc.want)
			want(t, look(), "")
		})
	}
}

// a directory with an unchanged stamp is not listed. A directory with another stamp is listed. If its content is
// unchanged, later scans rely on the new stamp.
func TestDirectoriesKnownByStamp(t *testing.T) {
	b := projecttest.New(t, nil, files{"tools/a/tool.sh": "", "tools/a/lib/x": ""})
	if folder.StampOfPath(b.Path("tools")).Coarse() {
		t.Skip("times are too coarse")
	}
	dir, err := folder.Open(b.Path("tools"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	first, _ := scanNow(b, nil)
	want(t, first.ByStamp(dir, "a"), true)
	b.Put(files{"tools/a/.hidden": ""})
	want(t, first.ByStamp(dir, "a"), false)
	b.Advance(time.Minute)
	second, fresh := scanNow(b, first)
	want(t, fresh, "") // the listing is unchanged
	want(t, second.ByStamp(dir, "a"), true)
	b.Remove("tools/a/tool.sh")
	b.Advance(time.Minute)
	third, _ := scanNow(b, second)
	want(t, len(third.Candidates()), 0)
}

// Several workers share a wide tree, and visit every directory.
func TestWideTree(t *testing.T) {
	content := files{}
	for i := range 300 {
		content[fmt.Sprintf("tools/%03d/tool.sh", i)] = ""
		content[fmt.Sprintf("tools/%03d-x/y/tool.sh", i)] = "# mcp: {}"
	}
	s, fresh := scanNow(projecttest.New(t, nil, content), nil)
	if paths := strings.Fields(fresh); !slices.IsSorted(paths) || len(paths) != 901 {
		t.Errorf("%d directories", len(paths))
	}
	want(t, len(s.Candidates()), 600)
}

func want[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
