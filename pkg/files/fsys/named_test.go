package fsys

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// E-12: the path for each text.
func TestNamed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	for text, want := range map[string]string{
		"a/b": "a/b", "/a": "/a", "": "", ".": ".", "~": "/h", "~/": "/h/", "~/a b": "/h/a b", "~x": "~x", "./~/x": "./~/x",
		"a/~/b": "a/~/b", "file:///a%20b": "/a b", "FILE://LocalHost/a": "/a", "file:/a": "/a", "file:a": "file:a",
		"a:b": "a:b", "C:/x": "C:/x", "a b://c": "a b://c", "://x": "://x",
		"~bob/x":     "error: ~bob is not expanded; write the whole path, or ./~bob for a file of that name",
		"https://h":  "error: https://h is a URL, not a path",
		"s3+x.y://h": "error: s3+x.y://h is a URL, not a path",
		"file://h/x": "error: file://h/x: Rejecting non-local file URI authority",
		"file://~/x": "error: file://~/x: Rejecting non-local file URI authority",
		"file://":    "error: file://: Malformed file URI (no path)",
	} {
		got, err := Named(text, "/h")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if _, err := Named("~/x", ""); err == nil {
		t.Error("a home directory is made up")
	}
}

func TestSplitNamed(t *testing.T) {
	if filepath.ListSeparator != ':' {
		t.Skip("lists of Unix")
	}
	for list, want := range map[string][]string{
		"a:b": {"a", "b"}, "file:///a:b:file://localhost/c": {"file:///a", "b", "file://localhost/c"}, "a//:b": {"a//", "b"},
		"~/x:https://h": {"~/x", "https://h"}, "/a://b": {"/a", "//b"}, "": nil,
	} {
		if got := SplitNamed(list); !slices.Equal(got, want) {
			t.Errorf("%q: %q", list, got)
		}
	}
}

func FuzzNamed(f *testing.F) {
	f.Add("file://localhost/a%20b")
	f.Add("~bob/x")
	f.Fuzz(func(t *testing.T, text string) {
		path, err := Named(text, "/h")
		if err == nil && (strings.HasPrefix(path, "~/") || strings.HasPrefix(strings.ToLower(path), "file://")) {
			t.Errorf("%q: %q", text, path)
		}
	})
}
