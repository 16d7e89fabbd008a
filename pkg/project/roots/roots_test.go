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

	"mcp-bash/pkg/files/fsys"
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
		"http:///w":             fsys.ErrScheme, "": fsys.ErrScheme, "/w/a": fsys.ErrScheme, "files:///w": fsys.ErrScheme,
		"file://": fsys.ErrNoPath, "file://localhost": fsys.ErrNoPath, "file:": fsys.ErrNoPath,
		"file:///a%00b": fsys.ErrNoPath,
		"file:///a%zz":  fsys.ErrNoPath,
		"file://host/w": fsys.ErrAuthority, "file://127.0.0.1/w": fsys.ErrAuthority,
		"file://user@localhost/w": fsys.ErrAuthority,
		"file:w":                  fsys.ErrRelative, "file:./w": fsys.ErrRelative,
	} {
		got, err := fsys.PathOfURI(uri)
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
	dir := place(t, map[string]string{"a/x": "", "b c/x": "", "[q]/x": "", "two\nlines/x": ""})
	os.Symlink("a", filepath.Join(dir, "link"))
	answer := `{"roots":[{"uri":"file://` + dir + `/link/","name":"A"},{"uri":"file://` + dir +
		`/a"},{"uri":"file://localhost` + dir + `/b%20c"},
		{"uri":"https://x/y"},{"uri":"file://` + dir + `/none"},{"uri":5},7,{"uri":"file://` + dir + `/two%0Alines"}]}`
	list, refused, ok := FromClient(json.RawMessage(answer))
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
	var got []string
	for _, r := range refused {
		got = append(got, r.URI+" "+r.Err.Error())
	}
	if strings.Join(got, "|") != "https://x/y Unsupported URI scheme|file://"+dir+"/none path does not exist|"+
		" Unsupported URI scheme| Unsupported URI scheme|file://"+dir+"/two%0Alines path with a line break" {
		t.Errorf("%q", got)
	}
	if list, refused, ok := FromClient(json.RawMessage(`{"roots":[]}`)); !ok || refused != nil ||
		list.JSON() != "[]" || list.Paths() != "" {
		t.Error("an empty answer is an answer")
	}
	for _, bad := range []string{`{}`, `{"roots":{}}`, `7`, `null`} {
		if _, _, ok := FromClient(json.RawMessage(bad)); ok {
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

// PL-31: an installed plugin takes the folder that the agent names, or the one in which it was started. It never takes
// its own folder, the home directory in which an application starts, or /.
func TestWorkspace(t *testing.T) {
	dir := place(t, map[string]string{"home/work/x": "", "home/other/x": "", "home/.agent/plugin/server/x": ""})
	home, plugin := dir+"/home", dir+"/home/.agent/plugin"
	if err := os.Symlink(plugin+"/server", home+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, told, here, want string }{
		{"the agent names it", home + "/work", plugin, home + "/work"},
		{"the agent names the home directory", home, plugin, home},
		{"the server starts there", "", home + "/work", home + "/work"},
		{"what the agent names comes first", home + "/other", home + "/work", home + "/other"},
		{"a folder around the plugin", "", home + "/.agent", home + "/.agent"},
		{"a variable that the agent does not replace", "${PWD}", home + "/work", home + "/work"},
		{"a folder that does not exist", home + "/absent", home + "/work", home + "/work"},
		{"a file", home + "/work/x", home + "/other", home + "/other"},
		{"the plugin's folder", "${PWD}", plugin, ""},
		{"below the plugin's folder", "", plugin + "/server", ""},
		{"the agent names the plugin's folder", plugin, plugin, ""},
		{"a link into the plugin", home + "/link", plugin, ""},
		{"the home directory", "", home, ""},
		{"the root", "", "/", ""},
		{"the agent names the root", "/", "/", ""},
		{"a relative path", "work", home, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Chdir(tc.here)
			env := project.Env{"HOME": home, pluginVariable: plugin, workspaceVariable: tc.told}
			scope, err := Fallback(project.Open(plugin+"/server", env, dir, func(string) {}))
			if err != nil || !scope.Given || scope.Paths() != tc.want {
				t.Errorf("%q, %v, %v; want %q", scope.Paths(), scope.Given, err, tc.want)
			}
		})
	}
	env := project.Env{"HOME": home, pluginVariable: plugin, workspaceVariable: home + "/work", Variable: home + "/other"}
	scope, err := Fallback(project.Open(plugin+"/server", env, dir, func(string) {}))
	if err != nil || scope.Paths() != home+"/other" {
		t.Errorf("the operator's roots come first: %q, %v", scope.Paths(), err)
	}
}

// P-2100, P-2101, P-114; T-41: a source that is given is used whole, or ends the start.
func TestFallback(t *testing.T) {
	dir := place(t, map[string]string{
		"plain/x": "", "data/x": "", "more/x": "", "two\nlines/x": "", "file/config": "",
		"filed/config/roots.json": `{"roots":[{"path":"./d","name":"D"},{"path":"../data"}]}`, "filed/d/x": "",
		"lost/config/roots.json":     `{"roots":[{"path":"."},{"path":"none"}]}`,
		"nameless/config/roots.json": `{"roots":[{"path":"."},{"name":"no path"}]}`,
		"none/config/roots.json":     `{"roots":[]}`,
		"broken/config/roots.json":   `{"roots":`, "other/config/roots.json": `{"root":["/"]}`,
		"open/config/roots.json": `{"roots":[{"path":"/"}]}`, "waiting/config/x": "", "linked/config/x": "",
		"large/config/roots.json": "", "gone/config/x": "",
	})
	os.Chmod(dir+"/open/config", 0o757)
	if err := errors.Join(
		syscall.Mkfifo(dir+"/waiting/config/roots.json", 0o644),
		os.Symlink(dir+"/plain/x", dir+"/linked/config/roots.json"),
		os.Symlink("absent", dir+"/gone/config/roots.json"),
		os.Truncate(dir+"/large/config/roots.json", 4<<40),
	); err != nil {
		t.Fatal(err)
	}
	variable := func(value string) project.Env { return project.Env{Variable: value, "HOME": dir} }
	for _, tc := range []struct {
		name, project string
		env           project.Env
		given         bool
		want          string // paths below dir
		err           string // {} is dir
	}{
		{"the project", "plain", project.Env{}, false, "plain", ""},
		{"a file called config", "file", project.Env{}, false, "file", ""},
		{"the variable", "plain", variable(dir + "/data::" + dir + "/more/../data:" + dir + "/more"), true, "data more", ""},
		{"relative and home", "plain", variable("../data:~/more"), true, "data more", ""},
		{"a path that is not there", "plain", variable(dir + "/absent"), true, "",
			"MCPBASH_ROOTS: path does not exist: {}/absent"},
		{"one of several", "plain", variable(dir + "/data:absent"), true, "",
			"MCPBASH_ROOTS: path does not exist: {}/plain/absent"},
		{"no path", "plain", variable("::"), true, "", "MCPBASH_ROOTS: names no directory"},
		{"a path of two lines", "plain", variable("../two\nlines"), true, "",
			"MCPBASH_ROOTS: path with a line break: {}/two\nlines"},
		{"the file", "filed", project.Env{}, true, "filed/d data", ""},
		{"URIs", "plain", variable("file://" + dir + "/data:FILE://localhost" + dir + "/more"), true, "data more", ""},
		{"a URL", "plain", variable("https://h/x"), true, "", "MCPBASH_ROOTS: https://h/x is a URL, not a path"},
		{"the home of another", "plain", variable("~bob/x"), true, "",
			"MCPBASH_ROOTS: ~bob is not expanded; write the whole path, or ./~bob for a file of that name"},
		{"the variable before the file", "lost", variable("~/data"), true, "data", ""},
		{"a path of the file", "lost", project.Env{}, true, "",
			"config/roots.json: path does not exist: {}/lost/none"},
		{"an entry without path", "nameless", project.Env{}, true, "", `config/roots.json: roots[1] has no "path"`},
		{"an empty file", "none", project.Env{}, true, "", "config/roots.json: names no directory"},
		{"a broken file", "broken", project.Env{}, true, "", "config/roots.json: unexpected end at byte 9"},
		{"another file", "other", project.Env{}, true, "", `config/roots.json: expected {"roots":[{"path":"…"}]}`},
		{"one that others can write", "open", project.Env{}, true, "",
			"config/roots.json: {}/open/config (mode 0757, others can write to it; run chmod o-w {}/open/config)"},
		{"a FIFO", "waiting", project.Env{}, true, "", "config/roots.json: not a regular file"},
		{"a link to a file outside", "linked", project.Env{}, true, "",
			"config/roots.json: outside the project: {}/plain/x"},
		{"a link that leads nowhere", "gone", project.Env{}, true, "", "config/roots.json: a link that leads nowhere"},
		{"a sparse file", "large", project.Env{}, true, "", "config/roots.json: larger than 1048576 bytes"},
	} {
		p := project.Open(filepath.Join(dir, tc.project), tc.env, dir, func(string) {})
		scope, err := Fallback(p)
		var got []string
		for _, r := range scope.List {
			got = append(got, strings.TrimPrefix(r.Path, dir+"/"))
			if r.URI != "file://"+r.Path {
				t.Errorf("%s: uri %s", tc.name, r.URI)
			}
		}
		if want := strings.ReplaceAll(tc.err, "{}", dir); want != "" {
			var unusable *UnusableError
			if !errors.As(err, &unusable) || err.Error() != want || len(got) > 0 {
				t.Errorf("%s: %q, error %v\nwant %s", tc.name, got, err, want)
			}
		} else if err != nil || strings.Join(got, " ") != tc.want || scope.Given != tc.given {
			t.Errorf("%s: %q, given %t, error %v", tc.name, got, scope.Given, err)
		}
	}
}

// CLI-801, CLI-807.
func TestExplicit(t *testing.T) {
	dir := place(t, map[string]string{"a/x": "", "b/x": ""})
	scope, err := Explicit("a, "+dir+"/b,,"+dir+"/a/,file://"+dir+"/a,~/b", dir, dir)
	if err != nil || scope.Paths() != dir+"/a\n"+dir+"/b" || !scope.Given {
		t.Error(scope, err)
	}
	for value, want := range map[string]string{
		"none": "--roots: path does not exist: " + dir + "/none", "a,none": "--roots: path does not exist: " + dir + "/none",
		"file://h/a": "--roots: file://h/a: Rejecting non-local file URI authority",
		"":           "--roots: names no directory", " ,": "--roots: names no directory",
	} {
		if scope, err := Explicit(value, dir, dir); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v", value, scope, err)
		}
	}
}

func FuzzParseFileURI(f *testing.F) {
	for _, seed := range []string{"file:///a%20b", "file://localhost/x", "file:..//x", "FILE:////", "file:///%00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		path, err := fsys.PathOfURI(uri)
		if err == nil && (!filepath.IsAbs(path) || strings.ContainsRune(path, 0)) {
			t.Fatalf("%q gives %q", uri, path)
		}
	})
}

func FuzzFromClient(f *testing.F) {
	f.Add([]byte(`{"roots":[{"uri":"file:///tmp","name":"x"}]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		list, _, _ := FromClient(answer)
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
