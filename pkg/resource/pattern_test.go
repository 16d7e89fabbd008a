//go:build unix

package resource

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"
)

// RES-40: which URIs a template's type is promised for.
func TestPattern(t *testing.T) {
	for template, uris := range map[string]string{
		"test://template/{id}/data": "test://template/1/data test://template/a%20b/data test://template/a,b/data " +
			"!test://template/1/2/data !test://template/1/data2 !xtest://template/1/data !test://template/1/data?q",
		"file:///logs/{service}/{d}.log": "file:///logs/web/2026-01-01.log file:///logs/w.x/a.b.log !file:///logs/web.log " +
			"!file:///logs/web/x.txt",
		"file:///{+path}":              "file:///a/b/c.txt file:///a?b#c !file://x/a",
		"x://a{/segments*}":            "x://a x://a/b x://a/b/c !x://ab !x://a?b",
		"x://a{?q,lang}{&more}{#part}": "x://a x://a?q=1&lang=de x://a?q=1&more=2#p x://a&q=1#y !x://a/b?q=1",
		"x://a{.ext}{;opt}":            "x://a x://a.tar.gz x://a;opt=1 x://a.b;c !x://a/b !x://ab",
		"x://a.b+c{v}":                 "x://a.b+c x://a.b+cd !x://aXb+c",
		"x://{":                        "!x:// !x://{ !x://a",
		"x://{}":                       "!x:// !x://{}",
		"x://" + strings.Repeat("{a}", 50): "x://" + strings.Repeat("a", 5000) + " !x://" + strings.Repeat("a", 5000) +
			"/",
	} {
		p := NewPattern(template)
		for uri := range strings.FieldsSeq(uris) {
			uri, not := strings.CutPrefix(uri, "!")
			if p.Fits(uri) == not {
				t.Errorf("%.60s fits %.60s: %v", template, uri, !not)
			}
		}
	}
}

// RES-40: the type of a template is for URIs that no entry has.
func TestTypeOfTemplate(t *testing.T) {
	b := open(t, map[string]string{"resources/a.md": "a", "resources/b.md": "b", "resources/c.md": "c"}, []string{
		`{"name":"a","path":"a.md","uri":"file://{R}/resources/a.md","mimeType":"text/markdown","provider":"file"}`,
	}, nil)
	b.TypeOf = func(_ context.Context, uri string) string {
		if strings.HasSuffix(uri, "/c.md") {
			return ""
		}
		return "application/x-promised"
	}
	for name, want := range map[string]string{"a": "text/markdown", "b": "application/x-promised",
		"c": "text/markdown"} {
		if got := b.read("", "file://{R}/resources/"+name+".md"); !strings.Contains(got,
			`"mimeType":"`+want+`","text":"`+name) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, seed := range []string{"", "x://{a}", "{+a}{#b}{.c}{/d}{;e}{?f}{&g}", "{a", "a}", "{}", "\\{a}[", "{\xff}"} {
		f.Add(seed, "x://a")
	}
	f.Fuzz(func(t *testing.T, template, uri string) {
		p := NewPattern(template)
		p.Fits(uri)
		if !strings.Contains(template, "{") && utf8.ValidString(template) && !p.Fits(template) {
			t.Errorf("%q does not fit itself", template)
		}
	})
}
