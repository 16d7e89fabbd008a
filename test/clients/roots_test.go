//go:build unix

package clients

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

type shownRoots struct {
	Count int
	Roots []struct{ URI, Name, Path string }
}

// write creates a file and its folders.
func write(t *testing.T, content string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// examples/03-roots with one root of the client (P-2102, P-2106;
// SDK-134).
func TestOneRoot(t *testing.T) {
	t.Parallel()
	root, other := checkout.Directory(t), checkout.Directory(t)
	file := write(t, "one\ntwo\nthree\n", root, "sub dir", "a [1].txt")
	secret := write(t, "secret", other, "secret")
	if err := os.Symlink(secret, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	s := open(t, checkout.Example(t, "03-roots"), opening{roots: []string{root}})

	got := structured[shownRoots](t, s.succeed("show-roots", nil))
	if got.Count != 1 || got.Roots[0].Path != root || got.Roots[0].URI != "file://"+root ||
		got.Roots[0].Name != filepath.Base(root) {
		t.Errorf("%+v", got)
	}
	type listing struct {
		Directory string
		Names     []string
	}
	if got := structured[listing](t, s.succeed("list-files", nil)); got.Directory != root ||
		!slices.Equal(got.Names, []string{"link", "sub dir"}) {
		t.Errorf("%+v", got)
	}
	if got := structured[listing](t, s.succeed("list-files", arguments{"path": root +
		"/sub dir/../sub dir/"})); !slices.Equal(got.Names, []string{"a [1].txt"}) {
		t.Errorf("%+v", got)
	}
	if got := text(t, s.succeed("read-file", arguments{"path": file, "lines": 2})); got != "one\ntwo\n" {
		t.Errorf("%q", got)
	}
	s.refuse("read-file", arguments{"path": root + "/none"}, "not_found")
	s.refuse("list-files", arguments{"path": file}, "not_found")
	for _, outside := range []string{secret, root + "/link", root + "/../" + filepath.Base(other), "/", root + "x"} {
		s.fail("read-file", arguments{"path": outside}, -32602, ".path is outside configured MCP roots: "+root)
	}
	// A relative path is relative to the only root.
	if got := text(t, s.succeed("read-file", arguments{"path": "sub dir/a [1].txt", "lines": 1})); got != "one\n" {
		t.Errorf("%q", got)
	}
	s.fail("read-file", arguments{"path": "../" + filepath.Base(other) + "/secret"}, -32602,
		".path is outside configured MCP roots: "+root)
}

// examples/03-roots while the client's roots change (P-2105).
func TestRootsChange(t *testing.T) {
	t.Parallel()
	first, second := checkout.Directory(t), checkout.Directory(t)
	project := checkout.Example(t, "03-roots")
	os.Remove(filepath.Join(project, "config/roots.json"))
	s := open(t, project, opening{roots: []string{first},
		env: map[string]string{"MCPBASH_ROOTS_DEBOUNCE_INTERVAL": "0"}})
	shown := func() int { return structured[shownRoots](t, s.succeed("show-roots", nil)).Count }
	if n := shown(); n != 1 {
		t.Fatalf("%d roots", n)
	}
	s.client.AddRoots(&mcp.Root{URI: "file://" + second})
	eventually(t, "two roots", func() bool { return shown() == 2 })
	s.fail("list-files", nil, -32602, ".path is required when zero or multiple roots are configured: "+first+", "+second)
	s.client.RemoveRoots("file://"+first, "file://"+second)
	eventually(t, "no roots", func() bool { return shown() == 0 })
	// A client that gave roots once gives none now (P-2108).
	s.fail("read-file", arguments{"path": "/etc/passwd"}, -32602, ".path is outside configured MCP roots: none")
}

// A client that supports roots may list none, or none that the server can use. If anybody gave roots, the
// scripts never get all paths (P-2103, P-2108; SDK-134).
func TestNoRootsOfClient(t *testing.T) {
	t.Parallel()
	data := checkout.Directory(t)
	none := filepath.Join(data, "none")
	for name, tc := range map[string]struct {
		roots []string // of the client
		env   map[string]string
		file  bool   // config/roots.json stays
		count int    // of the roots in force
		names string // the refusal names these; "" for no refusal
		warns string
	}{
		"nobody gives any":     {},
		"the operator, by env": {env: map[string]string{"MCPBASH_ROOTS": data}, count: 1, names: data},
		"the project":          {file: true, count: 1, names: "{}"},
		"the client, and not usable": {
			roots: []string{none, "elsewhere" + data}, env: map[string]string{"MCPBASH_ROOTS": data}, names: "none",
			warns: "warning: tools refuse every path, as no root of the client can be used: path does not exist: file://" +
				none + ", Rejecting non-local file URI authority: file://elsewhere" + data,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := checkout.Example(t, "03-roots")
			if !tc.file {
				os.Remove(filepath.Join(project, "config/roots.json"))
			}
			s := open(t, project, opening{roots: tc.roots, env: tc.env})
			if got := structured[shownRoots](t, s.succeed("show-roots", nil)); got.Count != tc.count {
				t.Fatalf("%+v", got)
			}
			if tc.names == "" {
				s.succeed("read-file", arguments{"path": "/etc/passwd"})
				return
			}
			for _, path := range []string{"/etc/passwd", "../x", "/"} {
				s.fail("read-file", arguments{"path": path}, -32602,
					".path is outside configured MCP roots: "+strings.ReplaceAll(tc.names, "{}", project))
			}
			var warned []string
			if tc.warns != "" {
				warned = []string{tc.warns}
			}
			if got := s.logged("mcp.roots"); !slices.Equal(got, warned) {
				t.Errorf("%q", got)
			}
		})
	}
}

// A server with an invalid root does not start, and names the root (P-101, P-2101). One root here is
// unreadable for ordinary users only.
func TestUnusableRoots(t *testing.T) {
	t.Parallel()
	secret := checkout.Directory(t)
	if err := os.Chmod(secret, 0o311); err != nil {
		t.Fatal(err)
	}
	const absent, whole = "make the directory, or correct ", ", or remove it"
	for name, tc := range map[string]struct {
		variable, file string
		fifo, ordinary bool
		says, remedy   string // {} is the project
	}{
		"a variable": {
			variable: "/:none", says: "MCPBASH_ROOTS: path does not exist: {}/none", remedy: absent + "MCPBASH_ROOTS",
		},
		"a FIFO": {
			fifo: true, says: "config/roots.json: not a regular file", remedy: "correct config/roots.json" + whole,
		},
		"no path": {variable: ":", says: "MCPBASH_ROOTS: names no directory", remedy: "correct MCPBASH_ROOTS" + whole},
		"unreadable": {
			variable: secret, ordinary: true, says: "MCPBASH_ROOTS: path not readable: " + secret,
			remedy: "correct MCPBASH_ROOTS",
		},
		"a file": {
			file: `{"roots":[{"path":"/no\nwhere"}]}`, says: `config/roots.json: path does not exist: /no\nwhere`,
			remedy: absent + "config/roots.json",
		},
		"no roots": {
			file: `{"roots":[]}`, says: "config/roots.json: names no directory", remedy: "correct config/roots.json" + whole,
		},
		"half a file": {
			file: `{"roots":`, says: "config/roots.json: unexpected end at byte 9", remedy: "correct config/roots.json" + whole,
		},
	} {
		t.Run(name, func(t *testing.T) {
			project := checkout.Example(t, "03-roots")
			if tc.file != "" {
				write(t, tc.file, project, "config/roots.json")
			}
			if file := filepath.Join(project, "config/roots.json"); tc.fifo {
				if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			s := &session{t: t, tmp: checkout.Directory(t)}
			cmd := exec.Command(filepath.Join(bin, "mcp-bash"))
			cmd.Dir, cmd.Env = s.tmp, environment(project, s.tmp, map[string]string{"MCPBASH_ROOTS": tc.variable})
			if tc.ordinary {
				cmd.SysProcAttr = s.asNobody(cmd.Path)
			}
			var stdout, stderr strings.Builder
			cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			want := "mcp-bash: " + strings.ReplaceAll(tc.says, "{}", project) + "\n" + tc.remedy + "\n"
			if cmd.ProcessState.ExitCode() != 1 || stderr.String() != want || stdout.Len() > 0 {
				t.Errorf("%v, %q, %q\nwant %q", err, stdout.String(), stderr.String(), want)
			}
			if left := leftovers(t, s.tmp); len(left) > 0 {
				t.Errorf("left behind %q", left)
			}
		})
	}
}

// examples/03-roots for a client without roots: the root is the project, or the operator's
// setting (P-2100).
func TestRootsWithoutClient(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "03-roots")
	s := open(t, project, opening{client: mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}})
	if got := structured[shownRoots](t, s.succeed("show-roots", nil)); got.Count != 1 || got.Roots[0].Path != project {
		t.Errorf("%+v", got)
	}
	s.fail("read-file", arguments{"path": "/etc/passwd"}, -32602, ".path is outside configured MCP roots: "+project)

	a, b := checkout.Directory(t), checkout.Directory(t)
	s = open(t, project, opening{client: mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}},
		env: map[string]string{"MCPBASH_ROOTS": a + ":" + b}})
	if got := structured[shownRoots](t, s.succeed("show-roots", nil)); got.Count != 2 || got.Roots[0].Path != a ||
		got.Roots[1].Path != b {
		t.Errorf("%+v", got)
	}
}
