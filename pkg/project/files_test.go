//go:build unix

package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// hostile returns functions that create a file at a free path. A careless reader would block on it, read without
// end, or disclose it. outside is a file outside of the project.
func hostile(outside string) map[string]func(path string) error {
	return map[string]func(path string) error{
		"not a regular file": func(path string) error { return unix.Mkfifo(path, 0o644) },
		"outside the project: /dev/zero": func(path string) error {
			return os.Symlink("/dev/zero", path)
		},
		"larger than 1048576 bytes": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 4<<40))
		},
		"outside the project: " + outside: func(path string) error { return os.Symlink(outside, path) },
		"a link that leads nowhere":       func(path string) error { return os.Symlink("nowhere", path) },
		"a directory":                     func(path string) error { return os.Mkdir(path, 0o755) },
		"cannot be read: " + unix.ELOOP.Error(): func(path string) error {
			return os.Symlink(filepath.Base(path),
				path)
		},
	}
}

// refusalOf returns the error for a hostile file.
func refusalOf(name string) string {
	if name == "a directory" {
		return "not a regular file"
	}
	return name
}

// P-114.
func TestReadFile(t *testing.T) {
	outside := filepath.Join(place(t, map[string]string{"secret": "secret"}), "secret")
	root := place(t, map[string]string{"file": "text", "full": strings.Repeat("x", maxMetaFile), "dir/inner": "inner"})
	elsewhere := place(t, map[string]string{"server.d/own": "own", "beside": "beside"})
	os.Symlink("dir/../file", filepath.Join(root, "link"))
	os.Symlink(root+"/dir", filepath.Join(root, "over"))
	os.Symlink("own", filepath.Join(elsewhere, "server.d/link"))
	os.Symlink(root+"/file", filepath.Join(elsewhere, "server.d/back"))
	os.Symlink("../beside", filepath.Join(elsewhere, "server.d/beside"))
	p := &Project{Root: root, Dirs: findDirs(root, Env{"MCPBASH_SERVER_DIR": elsewhere + "/server.d"}, root)}
	for path, want := range map[string]string{
		root + "/file": "text", root + "/link": "text", root + "/over/inner": "inner", p.Server + "/own": "own",
		p.Server + "/link": "own",
		p.Server + "/back": "text",
	} {
		if text, err := p.ReadFile(path, maxMetaFile); string(text) != want || err != nil {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	if text, err := p.ReadFile(root+"/full", maxMetaFile); len(text) != maxMetaFile || err != nil {
		t.Error(len(text), err)
	}
	for path, want := range map[string]string{
		elsewhere + "/beside": "outside the project: " + elsewhere + "/beside",
		p.Server + "/beside":  "outside the project: " + elsewhere + "/beside",
		root:                  "outside the project: " + root,
	} {
		_, err := p.ReadFile(path, maxMetaFile)
		expectError(t, path, err, want)
	}
	if _, err := p.ReadFile(root+"/none", 9); err != fs.ErrNotExist {
		t.Error(err)
	}
	_, err := p.ReadFile(root+"/file", 3)
	expectError(t, "one byte too many", err, "larger than 3 bytes")
	for name, put := range hostile(outside) {
		path := filepath.Join(root, "hostile")
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		_, err := p.ReadFile(path, maxMetaFile)
		expectError(t, name, err, refusalOf(name))
		os.Remove(path)
	}
}

// P-114: the start ignores hostile files, and warns about each once.
func TestHostileSettings(t *testing.T) {
	outside := filepath.Join(place(t, map[string]string{"secret": `{"name":"secret","version":"secret"}`}), "secret")
	for _, file := range []string{Marker, "VERSION", "package.json", "server.d/server.instructions.md"} {
		for name, put := range hostile(outside) {
			root := place(t, map[string]string{"server.d/x": ""})
			if err := put(filepath.Join(root, file)); err != nil {
				t.Fatal(err)
			}
			p, warnings := open(t, root, nil)
			m := p.Meta
			if m.Name != filepath.Base(root) || m.Version != "0.0.0" || m.Instructions != "" {
				t.Errorf("%s %s: %+v", file, name, m)
			}
			want := "mcp-bash: ignoring " + file + ": " + refusalOf(name)
			if len(*warnings) != 1 || (*warnings)[0] != want || m.Insecure != nil {
				t.Errorf("%s %s: %q, %v; want %q", file, name, *warnings, m.Insecure, want)
			}
		}
	}
}

// T-8a, P-200a, R-212, CF-2: restrictions in server.meta.json that cannot be read are reported.
func TestUnreadableRestrictions(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"x","confine":"all","securityLevel":"full"}`: "",
		`{"name":"x","config":"y"}`:                           "",
		`{"name":"x",`:                                        "", // there is no restriction in it
		`{"name":"x","confine":"all",}`:                       ":1:29: a member name expected",
		`{"SecurityLevel":"restricted"`:                       ":1:30: unexpected end",
		`{"\u0063onfine":"all",`:                              ":1:23: unexpected end",
		`["confine"]`:                                         ": not a JSON object",
		`{"Confine":"all"}`:                                   `:1:2: "Confine" is not known; did you mean confine?`,

		"{\n\"security-level\":1}":          `:2:1: "security-level" is not known; did you mean securityLevel?`,
		`{"confine":"all","confine":"off"}`: `:1:18: "confine" is given twice`,
		strings.Repeat(" ", maxMetaFile+1):  ": larger than 1048576 bytes",
		utf16le(`{"confine":"all"}`):        ": invalid UTF-8",
	} {
		p, warnings := open(t, place(t, map[string]string{Marker: text}), nil)
		if want != "" {
			want = Marker + want
		}
		expectError(t, text, p.Meta.Unreadable, want)
		if want != "" && len(*warnings) != 1+len(p.Scripts.Meta.Invalid) {
			t.Errorf("%.100s: %q", text, *warnings)
		}
	}
}

// utf16le returns ASCII text as some editors of Windows save it.
func utf16le(text string) string {
	var b strings.Builder
	b.WriteString("\xff\xfe")
	for _, c := range []byte(text) {
		b.Write([]byte{c, 0})
	}
	return b.String()
}

// T-8a, T-41: the server ignores settings that other users can write.
func TestInsecureSettings(t *testing.T) {
	for _, path := range []string{Marker, "server.d", "."} {
		root := place(t, map[string]string{Marker: `{"name":"theirs","securityLevel":"full"}`})
		shared := filepath.Join(root, path)
		os.Chmod(shared, 0o757)
		p, warnings := open(t, root, nil)
		want := shared + " (mode 0757, others can write to it; run chmod o-w " + shared + ")"
		if p.Meta.Name != filepath.Base(root) || len(*warnings) != 1 ||
			(*warnings)[0] != "mcp-bash: ignoring server.d/server.meta.json: "+want {
			t.Errorf("%s: %+v %q", path, p.Meta, *warnings)
		}
		expectError(t, path, p.Meta.Insecure, want)
	}
}

func expectError(t *testing.T, what string, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}
