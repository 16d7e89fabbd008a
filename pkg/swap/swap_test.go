package swap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// CLI-1710: two directories change places; what is missing changes nothing.
func TestExchange(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, d := range []string{a, b} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "name"), []byte(filepath.Base(d)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	switch err := Exchange(a, b); {
	case errors.Is(err, errUnsupported):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	for d, want := range map[string]string{a: "b", b: "a"} {
		if got, err := os.ReadFile(filepath.Join(d, "name")); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", d, got, err)
		}
	}
	if err := Exchange(a, filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("with what is not there: %v", err)
	}
	if _, err := os.Stat(a); err != nil {
		t.Error(err)
	}
}
