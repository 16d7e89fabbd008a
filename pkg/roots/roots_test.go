//go:build unix

package roots

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
)

func place(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		file := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	os.Chmod(dir, 0o755)
	return dir
}

// P-2103.
func TestParseFileURI(t *testing.T) {
	for uri, want := range map[string]any{
		"file:///w/a":           "/w/a",
		"FILE://localhost/w/a":  "/w/a",
		"file:///w%20x/%C3%A9/": "/w x/é/",
		"file:/w":               "/w",
		"file:///":              "/",
		"file:///a%2e%2e/b":     "/a../b",
		"http:///w":             errScheme, "": errScheme, "/w/a": errScheme, "files:///w": errScheme,
		"file://": errNoPath, "file://localhost": errNoPath, "file:": errNoPath, "file:///a%00b": errNoPath,
		"file:///a%zz":  errNoPath,
		"file://host/w": errAuthority, "file://127.0.0.1/w": errAuthority, "file://user@localhost/w": errAuthority,
		"file:w": errRelative, "file:./w": errRelative,
	} {
		got, err := parseFileURI(uri)
		if wantErr, isErr := want.(error); isErr {
			if !errors.Is(err, wantErr) {
				t.Errorf("%q: %q, %v", uri, got, err)
			}
		} else if err != nil || got != want {
			t.Errorf("%q: %q, %v", uri, got, err)
		}
	}
}

// P-2103, P-2104, P-2107.
func TestFromClient(t *testing.T) {
	dir := place(t, map[string]string{"a/x": "", "b c/x": "", "[q]/x": ""})
	os.Symlink("a", filepath.Join(dir, "link"))
	var warnings []string
	warn := func(s string) { warnings = append(warnings, s) }
	answer := `{"roots":[{"uri":"file://` + dir + `/link/","name":"A"},{"uri":"file://` + dir +
		`/a"},{"uri":"file://localhost` + dir + `/b%20c"},
		{"uri":"https://x/y"},{"uri":"file://` + dir + `/none"},{"uri":5},7]}`
	list, ok := FromClient(json.RawMessage(answer), false, warn)
	if !ok || len(list) != 2 {
		t.Fatalf("%v %+v", ok, list)
	}
	want := `[{"uri":"file://` + dir + `/link/","name":"A","path":"` + dir + `/a"},{"uri":"file://localhost` + dir +
		`/b%20c","name":"","path":"` + dir + `/b c"}]`
	if got := list.JSON(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := list.Paths(); got != dir+"/a\n"+dir+"/b c" {
		t.Error(got)
	}
	if got := strings.Join(warnings,
		"|"); got != "Unsupported URI scheme|path does not exist|Unsupported URI scheme|Unsupported URI scheme" {
		t.Error(got)
	}
	warnings = nil
	FromClient(json.RawMessage(`{"roots":[{"uri":"https://x/y"}]}`), true, warn)
	if got := strings.Join(warnings, "|"); got != "Unsupported URI scheme: https://x/y" {
		t.Error(got)
	}
	if list, ok := FromClient(json.RawMessage(`{"roots":[]}`), false, warn); !ok || list == nil ||
		list.JSON() != "[]" || list.Paths() != "" {
		t.Error("an empty answer is an answer")
	}
	for _, bad := range []string{`{}`, `{"roots":{}}`, `7`, `null`} {
		if _, ok := FromClient(json.RawMessage(bad), false, warn); ok {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// P-2107: by path component, never by pattern.
func TestContains(t *testing.T) {
	list := List{{Path: "/w/[q]*"}, {Path: "/r/a"}}
	for path, want := range map[string]bool{"/w/[q]*": true, "/w/[q]*/x": true, "/w/q": false, "/w/[q]*x": false,
		"/r/ab": false, "/r/a/b": true, "/r": false} {
		if list.Contains(path) != want {
			t.Errorf("%s: not %v", path, want)
		}
	}
	if !(List{{Path: "/"}}).Contains("/anything") {
		t.Error("/ contains everything")
	}
	if (List{}).Contains("/") {
		t.Error("no root contains nothing")
	}
}

// P-2100, P-2101, P-114; T-41.
func TestFallback(t *testing.T) {
	dir := place(t, map[string]string{
		"plain/x": "", "data/x": "", "more/x": "",
		"filed/config/roots.json":  `{"roots":[{"path":"./d","name":"D"},{"name":"no path"},{"path":"none"}]}`,
		"filed/d/x":                "",
		"broken/config/roots.json": `{"roots":`,
		"open/config/roots.json":   `{"roots":[{"path":"/"}]}`, "waiting/config/x": "", "linked/config/x": "",
		"large/config/roots.json": "",
	})
	os.Chmod(dir+"/open/config", 0o757)
	if err := errors.Join(
		syscall.Mkfifo(dir+"/waiting/config/roots.json", 0o644),
		os.Symlink(dir+"/plain/x", dir+"/linked/config/roots.json"),
		os.Truncate(dir+"/large/config/roots.json", 4<<40),
	); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, project string
		env           project.Env
		want          string // paths below dir
		logs          string
	}{
		{"the project", "plain", project.Env{}, "plain", ""},
		{"the variable", "plain", project.Env{"MCPBASH_ROOTS": dir + "/data::" + dir + "/more/../data:" + dir +
			"/more"}, "data more", ""},
		{"relative and home", "plain", project.Env{"MCPBASH_ROOTS": "../data:~/more", "HOME": dir}, "data more", ""},
		{"nothing valid", "plain", project.Env{"MCPBASH_ROOTS": dir + "/absent"}, "",
			"error MCPBASH_ROOTS: path does not exist"},
		{"verbose", "plain", project.Env{"MCPBASH_ROOTS": dir + "/absent", "MCPBASH_LOG_VERBOSE": "true"}, "",
			"error MCPBASH_ROOTS: path does not exist: " + dir + "/absent"},
		{"the file", "filed", project.Env{}, "filed/d", "warning config/roots.json: path does not exist"},
		{"a broken file", "broken", project.Env{}, "broken",
			`warning config/roots.json: expected {"roots":[{"path":"…"}]}`},
		{"one that others can write", "open", project.Env{}, "open",
			"warning config/roots.json is ignored: {}/open/config (mode 0757, others can write to it; run chmod o-w {}" +
				"/open/config)"},
		{"a FIFO", "waiting", project.Env{}, "waiting", "warning config/roots.json is ignored: not a regular file"},
		{"a link to a file outside", "linked", project.Env{}, "linked",
			"warning config/roots.json is ignored: outside the project: {}/plain/x"},
		{"a sparse file", "large", project.Env{}, "large",
			"warning config/roots.json is ignored: larger than 1048576 bytes"},
	} {
		var logs []string
		p := project.Open(filepath.Join(dir, tc.project), tc.env, dir, func(string) {})
		list := Fallback(p, func(level mcp.Level, logger, text string) {
			if logger != "mcp.roots" {
				t.Error(logger)
			}
			logs = append(logs, level.String()+" "+text)
		})
		var got []string
		for _, r := range list {
			got = append(got, strings.TrimPrefix(r.Path, dir+"/"))
			if r.URI != "file://"+r.Path {
				t.Errorf("%s: uri %s", tc.name, r.URI)
			}
		}
		if strings.Join(got, " ") != tc.want || strings.Join(logs, "|") != strings.ReplaceAll(tc.logs, "{}", dir) ||
			list == nil {
			t.Errorf("%s: %q, logs %q", tc.name, got, logs)
		}
	}
}

func TestExplicit(t *testing.T) {
	dir := place(t, map[string]string{"a/x": "", "b/x": ""})
	list, err := Explicit([]string{"a", " " + dir + "/b", "", dir + "/a/"}, dir)
	if err != nil || list.Paths() != dir+"/a\n"+dir+"/b" {
		t.Error(list, err)
	}
	if _, err := Explicit([]string{"none"}, dir); err == nil {
		t.Error("a missing root is accepted")
	}
}

func FuzzParseFileURI(f *testing.F) {
	for _, seed := range []string{"file:///a%20b", "file://localhost/x", "file:..//x", "FILE:////", "file:///%00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		path, err := parseFileURI(uri)
		if err == nil && (!filepath.IsAbs(path) || strings.ContainsRune(path, 0)) {
			t.Fatalf("%q gives %q", uri, path)
		}
	})
}

func FuzzFromClient(f *testing.F) {
	f.Add([]byte(`{"roots":[{"uri":"file:///tmp","name":"x"}]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		list, _ := FromClient(answer, true, func(string) {})
		for _, r := range list {
			if !filepath.IsAbs(r.Path) {
				t.Fatalf("%q", r.Path)
			}
		}
		if !json.Valid([]byte(list.JSON())) {
			t.Fatal(list.JSON())
		}
	})
}
