package project

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// CLI-125: Sweep removes old files and directories with the prefix, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{".x.tmp-old", ".x.tmp-new", "x.tmp-other"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, ".x.tmp-tree", "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".x.tmp-old", ".x.tmp-tree", "x.tmp-other"} {
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	Sweep(root, ".x.tmp-")
	var left []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{".x.tmp-new", "x.tmp-other"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%q left, %v", left, err)
	}
}
