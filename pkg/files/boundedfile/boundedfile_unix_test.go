//go:build unix

package boundedfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// CLI-119: neither a pipe without a writer nor a device that never ends is read.
func TestPipesAndDevices(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero")); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(dir, "pipe"), filepath.Join(dir, "zero"), "/dev/zero", "/dev/null"} {
		if _, err := Read(file, 1<<40); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", file, err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := OpenIn(root, "pipe"); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
}
