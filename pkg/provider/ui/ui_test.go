//go:build unix

package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/uitemplate"
)

// pages writes files and returns a provider of their pages. The content "-> TARGET" makes a symbolic link.
func pages(t testing.TB, files map[string]string) *Provider {
	t.Helper()
	root := filepath.Join(t.TempDir(), "project")
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if target, isLink := strings.CutPrefix(content, "-> "); err == nil && isLink {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return &Provider{
		Root: root, Tools: filepath.Join(root, "tools"), UI: filepath.Join(root, "ui"), Most: 1 << 20,
		Templates: uitemplate.NewCache(5),
	}
}

// entries adds registry entries: names, and paths of their directories.
func (p *Provider) entries(paths map[string]string) *Provider {
	p.Find = func(_ context.Context, name string) (json.RawMessage, error) {
		if path, ok := paths[name]; ok {
			return json.RawMessage(fmt.Sprintf(`{"name":%q,"path":%q}`, name, path)), nil
		}
		return nil, nil
	}
	return p
}

// try returns the page of a URI, or "status N: message".
func (p *Provider) try(t testing.TB, uri string) string {
	t.Helper()
	page, err := p.Read(t.Context(), uri, 10<<20)
	var f *provider.Failure
	switch {
	case errors.As(err, &f):
		return strings.TrimSuffix(fmt.Sprintf("status %d: %s", f.Status, f.Message), ": ")
	case err != nil:
		return err.Error()
	}
	return string(page)
}

func TestLookup(t *testing.T) {
	files := map[string]string{
		"tools/weather/ui/index.html":         "weather",
		"tools/deep/er/clock/ui/main.html":    "clock",
		"tools/deep/er/clock/ui/ui.meta.json": `{"entrypoint":"main.html"}`,
		"tools/both/ui/index.html":            "the tool's",
		"ui/both/index.html":                  "the other",
		"ui/dash/index.html":                  "dash",
		"ui/a/b/index.html":                   "a/b",
		"ui/with space/index.html":            "space",
		"ui/made/ui.meta.json":                `{"template":"kanban","config":{"title":"Made"}}`,
		"ui/kept/ui.meta.json":                `{"template":"kanban"}`,
		"ui/kept/index.html":                  "the file wins",
		"ui/parts/ui.meta.json":               `{"entrypoint":"dist/app.html"}`,
		"ui/parts/dist/app.html":              "parts",
		"ui/broken/ui.meta.json":              `{"template":`,
		"ui/broken/index.html":                "broken",
		"ui/none/ui.meta.json":                `{}`,
		"ui/odd/ui.meta.json":                 `{"template":"chart"}`,
		"ui/wrong/ui.meta.json":               `{"template":"form","config":{"fields":5}}`,
		"ui/.hidden/index.html":               "hidden",
		"ui/index.html":                       "not a page",
	}
	known := map[string]string{"weather": "tools/weather/ui", "clock": "tools/deep/er/clock/ui",
		"both": "tools/both/ui", "dash": "ui/dash", "made": "ui/made"}
	for _, c := range []struct{ clause, uri, want string }{
		{"RES-320", "ui://srv/weather", "weather"},
		{"RES-320", "ui://weather", "weather"},
		{"RES-320", "UI://another%20server/weather?x=1#y", "weather"},
		{"RES-320", "ui:///weather", "weather"},
		{"RES-320", "ui://srv/a/b", "a/b"},
		{"RES-320", "ui://srv/with%20space", "space"},
		{"RES-321", "ui://srv/clock", "clock"},
		{"R-91", "ui://srv/both", "the tool's"},
		{"RES-321", "ui://srv/dash", "dash"},
		{"RES-306", "ui://srv/kept", "the file wins"},
		{"RES-306", "ui://srv/parts", "parts"},
		{"RES-306", "ui://srv/broken", "broken"},
		{"RES-321", "ui://srv/none", "status 3"},
		{"RES-380", "ui://srv/odd", "status 3"},
		{"RES-380", "ui://srv/wrong", "status 4: UI template form: config.fields must be an array"},
		{"RES-320", "ui://srv/nothing", "status 3"},
		{"RES-320", "ui://", "status 3"},
		{"RES-320", "ui://srv/", "status 3"},
		{"RES-320", "ui:///", "status 3"},
		{"RES-320", "ui://srv/a%zz", "status 3"},
		{"RES-320", "ui://srv/.hidden", "status 3"},
		{"RES-320", "ui://srv/.", "status 3"},
		{"RES-320", "ui://srv/dash/", "status 3"},
		{"RES-320", "http://srv/dash", "status 4: Invalid URI scheme: expected ui://"},
		{"RES-320", "", "status 4: Invalid URI scheme: expected ui://"},
	} {
		if got := pages(t, files).entries(known).try(t, c.uri); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.clause, c.uri, got, c.want)
		}
	}
	// Without a registry, the page of a nested tool is not found.
	p := pages(t, files)
	for uri, want := range map[string]string{"ui://srv/weather": "weather", "ui://srv/both": "the tool's",
		"ui://srv/dash": "dash", "ui://srv/clock": "status 3"} {
		if got := p.try(t, uri); got != want {
			t.Errorf("RES-321: %s is %q, want %q", uri, got, want)
		}
	}
	if got := p.try(t, "ui://srv/made"); !strings.HasPrefix(got, "<!DOCTYPE html>") ||
		!strings.Contains(got, "<h2>Made</h2>") {
		t.Errorf("RES-321: %s", got)
	}
	p.Find = func(context.Context, string) (json.RawMessage, error) { return nil, errors.New("no registry") }
	if got := p.try(t, "ui://srv/dash"); got != "no registry" {
		t.Errorf("a registry that fails: %s", got)
	}
}

// RES-320, RES-322: nothing outside a page's directory is read.
func TestNothingOutside(t *testing.T) {
	files := map[string]string{
		"secret/index.html":         "SECRET",
		"ui/plain/index.html":       "fine",
		"ui/linked/index.html":      "-> ../../secret/index.html",
		"ui/etc/index.html":         "-> /etc/hostname",
		"ui/inner/real.html":        "inside",
		"ui/inner/index.html":       "-> real.html",
		"ui/whole":                  "-> ../secret",
		"tools/tool/ui":             "-> ../../secret",
		"ui/up/ui.meta.json":        `{"entrypoint":"../../secret/index.html","template":"kanban"}`,
		"ui/abs/ui.meta.json":       `{"entrypoint":"/etc/hostname"}`,
		"ui/meta/ui.meta.json":      "-> ../../secret/index.html",
		"ui/meta/index.html":        "meta",
		"ui/dirlink/sub":            "-> ../../secret",
		"ui/dirlink/ui.meta.json":   `{"entrypoint":"sub/index.html"}`,
		"ui/folder/index.html/x":    "a directory",
		"ui/neighbour/ui.meta.json": `{"entrypoint":"../plain/index.html"}`,
	}
	p := pages(t, files)
	for uri, want := range map[string]string{
		"ui://srv/plain": "fine", "ui://srv/inner": "inside", "ui://srv/meta": "meta", "ui://srv/folder": "status 3",
		"ui://srv/linked": "status 2", "ui://srv/etc": "status 2", "ui://srv/whole": "status 2",
		"ui://srv/tool": "status 2",
		"ui://srv/up":   "status 2", "ui://srv/abs": "status 2", "ui://srv/dirlink": "status 2",
		"ui://srv/neighbour": "status 2",
		"ui://srv/..":        "status 2", "ui://srv/../secret": "status 2", "ui://..": "status 2",
		"ui://srv/%2e%2e/secret": "status 2",
		"ui://srv/..%2Fsecret":   "status 2", "ui://srv/%2e%2e%2fsecret": "status 2",
		"ui://srv/plain/../../secret": "status 2",
		"ui://srv//etc":               "status 2", "ui://srv/%2Fetc": "status 2", "ui://srv/a\\b": "status 2",
		"ui://srv/..%5c":    "status 2",
		"ui://srv/plain%00": "status 2", "ui://srv/\x00": "status 2", "ui://srv/%252e%252e/secret": "status 3",
		"ui://srv/plain/.": "status 3",
		"ui://srv/./plain": "status 3", "ui://srv/a//plain": "status 3",
	} {
		if got := p.try(t, uri); got != want {
			t.Errorf("RES-320, RES-322: %q is %q, want %q", uri, got, want)
		}
	}
	// A registry entry cannot lead outside.
	p.entries(map[string]string{"plain": "../secret", "x": "secret"})
	for uri, want := range map[string]string{"ui://srv/plain": "fine", "ui://srv/x": "status 3"} {
		if got := p.try(t, uri); got != want {
			t.Errorf("RES-321: %q is %q, want %q", uri, got, want)
		}
	}
	_, err := p.Read(t.Context(), "ui://srv/linked", 100)
	if f := new(provider.Failure); !errors.As(err, &f) || f.Log != "Symlinks not allowed for UI resources" {
		t.Errorf("RES-322: %#v", err)
	}
}

// RES-323: the size of a page is limited.
func TestTooLarge(t *testing.T) {
	p := pages(t, map[string]string{"ui/a/index.html": strings.Repeat("x", 100),
		"ui/t/ui.meta.json": `{"template":"form"}`})
	for _, c := range []struct {
		name        string
		most, limit int
		want        string
	}{
		{"a", 100, 100, ""},
		{"a", 99, 1000, "status 6: UI resource too large: 100 bytes (max: 99)"},
		{"a", 1000, 99, "status 6: Resource content exceeds 99 bytes"},
		{"t", 1000, 1 << 20, "bytes (max: 1000)"},
	} {
		p.Most = c.most
		_, err := p.Read(t.Context(), "ui://srv/"+c.name, c.limit)
		got := ""
		if f := new(provider.Failure); errors.As(err, &f) {
			got = fmt.Sprintf("status %d: %s", f.Status, f.Message)
		}
		if got != c.want && (c.want == "" || !strings.HasSuffix(got, c.want)) {
			t.Errorf("RES-323: %s of at most %d, %d: %q, want %q", c.name, c.most, c.limit, got, c.want)
		}
	}
}

// FuzzRead: every URI returns a page of this project or an error.
func FuzzRead(f *testing.F) {
	for _, uri := range []string{"ui://srv/a", "ui://a", "ui://srv/../secret", "ui://srv/%2e%2e%2fsecret",
		"ui://srv/a%00", "ui://srv/a\\..\\..", "ui://srv/link", "ui:////etc/passwd", "UI://x/y?z#w",
		"ui://srv/%c0%ae%c0%ae/secret"} {
		f.Add(uri)
	}
	p := pages(f, map[string]string{"secret/index.html": "SECRET", "ui/a/index.html": "page",
		"ui/a/b/index.html": "page", "ui/link": "-> ../secret"})
	f.Fuzz(func(t *testing.T, uri string) {
		page, err := p.Read(t.Context(), uri, 1000)
		if err == nil && string(page) != "page" {
			t.Errorf("%q gives %q", uri, page)
		}
		if f := new(provider.Failure); err != nil && (!errors.As(err, &f) || page != nil) {
			t.Errorf("%q: %v", uri, err)
		}
	})
}
