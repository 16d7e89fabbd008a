package stage

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"mcp-bash/pkg/bundle/mcpb"
)

// CLI-1435: a bundle can contain 1024 MB of files, and not a byte more.
func TestTotalSize(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"full": "12", "over": "3"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	from, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	work, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	c := &Content{ctx: t.Context(), work: work, bytes: mcpb.MaxTotal - 2}
	s := &source{root: from, dir: dir, base: "data"}
	if err := c.tree(s, "full", "server/full"); err != nil || c.faults != nil || c.bytes != mcpb.MaxTotal {
		t.Errorf("%v, %v", c.faults, err)
	}
	want := "more than 1024 MB of files with data/over; leave some out with .mcpbignore"
	if err := c.tree(s, "over", "server/over"); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// CLI-1440: products of our commands have the names of files, or folders with certain files.
func TestIsProduct(t *testing.T) {
	project := fstest.MapFS{}
	for _, name := range []string{
		"p-1.0.0-py3-none-any.whl", "p-1.0.0.tar", "you-p-1.0.0.tgz", "you-p-1.0.0/package.json", "p-1.0.0-plugin.zip",
		"p-plugin/server/.mcp-bash/plugin.json", "image/oci-layout", "p-1.0.0-context/.mcp-bash/context", "data.tgz",
		"data.zip", "plugin/plugin.json", "2.tar/x", "data-1.2.tgz", "p_2-1.0.0-py3-none-any.whl",
	} {
		project[name] = &fstest.MapFile{}
	}
	others := map[string]bool{"data.tgz": true, "data.zip": true, "plugin": true, "2.tar": true, "data-1.2.tgz": true}
	entries, err := project.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if got := isProduct(project, "P", e.Name(), e.IsDir()); got == others[e.Name()] {
			t.Errorf("%s: %t", e.Name(), got)
		}
	}
}
