package registry

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// scanNow scans and returns the paths of the directories it had to look at.
func (b *bed) scanNow(old *scan) (*scan, string) {
	b.T.Helper()
	s, err := scanContent(context.Background(), b.Project, Tools.spec(), "", old, b.Now())
	if err != nil {
		b.T.Fatal(err)
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
		info, err := os.Stat(b.Path(name))
		if err != nil {
			b.T.Fatal(err)
		}
		b.Put(files{name: text})
		os.Chtimes(b.Path(name), info.ModTime(), info.ModTime())
	}
	for _, tc := range []struct {
		name   string
		change func(b *bed)
		want   string
	}{
		{"nothing", func(b *bed) {}, ""},
		{"a metadata file", func(b *bed) { b.Put(files{"tools/a/tool.meta.json": `{"name":"another"}`}) }, "/a"},
		{"its content, size and time kept", func(b *bed) {
			keepTimes(b, "tools/a/tool.meta.json", `{"name":"two","icons":[{"src":"../../icons/a.svg"}]}`)
		}, "/a"},
		{"a script", func(b *bed) { b.Put(files{"tools/c/tool.sh": `# mcp: {}`}) }, "/c"},
		{"a mode", func(b *bed) { os.Chmod(b.Path("tools/c/sub/x.txt"), 0o755) }, "/c/sub"},
		{"a new file", func(b *bed) { b.Put(files{"tools/c/y": ""}) }, "/c"},
		{"a new directory", func(b *bed) { b.Put(files{"tools/d/tool.sh": ""}) }, "/ /d"},
		{"a file gone", func(b *bed) { b.Remove("tools/c/sub/x.txt") }, "/c/sub"},
		{"a directory gone", func(b *bed) { b.Remove("tools/a") }, "/"},
		{"an icon", func(b *bed) { b.Put(files{"icons/a.svg": "<svg></svg>"}) }, "/a"},
		{"an icon gone", func(b *bed) { b.Remove("icons/a.svg") }, "/a"},
		{"a page", func(b *bed) { b.Put(files{"tools/b/ui/index.html": ""}) }, "/b"},
		{"hidden files", func(b *bed) { b.Put(files{"tools/a/.x": "", "tools/.y/z": ""}) }, ""},
		{"a link in place of a file", func(b *bed) { b.Remove("tools/c/tool.sh"); b.Put(files{"tools/c/tool.sh@": "../a/tool.sh"}) }, "/c"},
		{"another file of the same name", func(b *bed) {
			b.Put(files{"tools/c/new": ""})
			os.Rename(b.Path("tools/c/new"), b.Path("tools/c/tool.sh"))
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
	b.Advance(time.Since(b.Now()))
	first, _ := b.scanNow(nil)
	if _, fresh := b.scanNow(first); !strings.Contains(fresh, "/a") {
		t.Error("a file of this moment was believed")
	}
	if runtime.GOOS == "windows" {
		return
	}
	b.Advance(time.Hour)
	second, _ := b.scanNow(first)
	if _, fresh := b.scanNow(second); fresh != "" {
		t.Error("never believed:", fresh)
	}
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
		{"a text that is read for a header", func(b *bed) { b.Put(files{"resources/sub/r2.txt": "# mcp: {}"}) }, "resources:/sub"},
		{"a prompt that nobody described", func(b *bed) { b.Put(files{"prompts/p1.txt": "x"}) }, "prompts:/"},
		{"a new file", func(b *bed) { b.Put(files{"resources/sub/new.txt": ""}) }, "resources:/sub resourceTemplates:/sub"},
		{"a template", func(b *bed) { b.Put(files{"resources/m1.meta.json": `{"name":"m","uriTemplate":"x://{y}"}`}) }, "resources:/ resourceTemplates:/"},
		{"a page", func(b *bed) { b.Put(files{"ui/u1/ui.meta.json": `{}`}) }, "ui:/u1"},
		{"the text of a page", func(b *bed) { b.Put(files{"ui/u1/index.html": "other"}) }, ""},
		{"a page of a tool", func(b *bed) { b.Put(files{"tools/t1/ui/ui.meta.json": `{}`}) }, "ui:/t1/ui"},
		{"a file that metadata elsewhere names", func(b *bed) { b.Put(files{"prompts/sub/p2.txt": "x"}) }, "prompts:/sub prompts:/there"},
		{"mode of a companion", func(b *bed) { os.Chmod(b.Path("resources/c.completion"), 0o755) }, "resources:/"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBed(t, nil, mixed)
			b.Put(files{"prompts/there/m.meta.json": `{"path":"sub/p2.txt"}`, "resources/c.completion": ""})
			before := map[*Kind]*scan{}
			look := func() (fresh string) {
				for _, k := range Kinds {
					s, err := scanContent(t.Context(), b.Project, k.spec(), "", before[k], b.Now())
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
