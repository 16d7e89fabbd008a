package scaffold

import (
	"os"
	"path/filepath"
	"testing"

	"mcp-bash/pkg/project"
)

// WRAP-36: a program of npm may read the packages that were installed with it.
func TestPackages(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project.Project{Root: filepath.Join(dir, "project")}
	for _, base := range []string{dir, p.Root} {
		at := filepath.Join(base, "node_modules", "tea", "node_modules", "leaf", "bin")
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "leaf.js"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(at, "leaf.js"), filepath.Join(base, "leaf")); err != nil {
			t.Skip(err)
		}
	}
	for file, want := range map[string]string{
		filepath.Join(dir, "leaf"): filepath.Join(dir, "node_modules"), filepath.Join(p.Root, "leaf"): "node_modules",
		os.Args[0]: "", filepath.Join(dir, "none"): "",
	} {
		if got := packages(p, file); got != want {
			t.Errorf("%s: %q, not %q", file, got, want)
		}
	}
}
