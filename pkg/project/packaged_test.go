package project

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// CLI-408: the project next to a program of another name.
func TestPackagedRoot(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"my-tools", "mcp-bash"} {
		file := filepath.Join(dir, "share", name, "project", filepath.FromSlash(Marker))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("{}"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(dir, "share", "my-tools", "project")
	for name, want := range map[string]string{"my-tools": root, "my-tools.exe": root, "mcp-bash": "", "other": ""} {
		if got := packagedRoot(filepath.Join(dir, "bin", name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
