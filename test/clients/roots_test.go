//go:build unix

package clients

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

type shownRoots struct {
	Count int
	Roots []struct{ URI, Name, Path string }
}

// write makes a file, and what it lies in.
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
		s.fail("read-file", arguments{"path": outside}, -32602, ".path is outside configured MCP roots")
	}
}

// examples/03-roots while the client's roots change (P-2105).
func TestRootsChange(t *testing.T) {
	t.Parallel()
	first, second := checkout.Directory(t), checkout.Directory(t)
	s := open(t, checkout.Example(t, "03-roots"), opening{roots: []string{first},
		env: map[string]string{"MCPBASH_ROOTS_DEBOUNCE_INTERVAL": "0"}})
	shown := func() int { return structured[shownRoots](t, s.succeed("show-roots", nil)).Count }
	if n := shown(); n != 1 {
		t.Fatalf("%d roots", n)
	}
	s.client.AddRoots(&mcp.Root{URI: "file://" + second})
	eventually(t, "two roots", func() bool { return shown() == 2 })
	s.fail("list-files", nil, -32602, ".path is required when zero or multiple roots are configured")
	s.client.RemoveRoots("file://"+first, "file://"+second)
	eventually(t, "no roots", func() bool { return shown() == 0 })
}

// examples/03-roots for a client without roots: the project itself, or what the
// operator says (P-2100).
func TestRootsWithoutClient(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "03-roots")
	s := open(t, project, opening{client: mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}})
	if got := structured[shownRoots](t, s.succeed("show-roots", nil)); got.Count != 1 || got.Roots[0].Path != project {
		t.Errorf("%+v", got)
	}
	s.fail("read-file", arguments{"path": "/etc/passwd"}, -32602, ".path is outside configured MCP roots")

	a, b := checkout.Directory(t), checkout.Directory(t)
	s = open(t, project, opening{client: mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}},
		env: map[string]string{"MCPBASH_ROOTS": a + ":" + b}})
	if got := structured[shownRoots](t, s.succeed("show-roots", nil)); got.Count != 2 || got.Roots[0].Path != a ||
		got.Roots[1].Path != b {
		t.Errorf("%+v", got)
	}
}
