package stage

import (
	"os"
	"path/filepath"
	"testing"

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
