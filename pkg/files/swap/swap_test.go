package swap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// CLI-1710: two directories are exchanged. A missing directory is an error and changes
// nothing.
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
	case errors.Is(err, ErrUnsupported):
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

// A replaced directory gets another name and keeps its content. After an error, nothing has
// changed.
func TestReplace(t *testing.T) {
	for name, replace := range map[string]func(live, fresh, aside string) (string, error){
		"at once": Replace, "in two steps": twoSteps,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			put := func(name, text string) {
				if err := os.Mkdir(at(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(at(name), "text"), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			read := func(path string) string {
				text, _ := os.ReadFile(filepath.Join(path, "text"))
				return string(text)
			}
			put("fresh", "first")
			if old, err := replace(at("live"), at("fresh"),
				at("aside")); old != "" || err != nil || read(at("live")) != "first" {
				t.Fatalf("nothing there: %q, %v, %q", old, err, read(at("live")))
			}
			put("fresh", "second")
			old, err := replace(at("live"), at("fresh"), at("aside"))
			if err != nil || read(at("live")) != "second" || read(old) != "first" {
				t.Fatalf("%v: %q, before %q", err, read(at("live")), read(old))
			}
			if _, err := replace(at("live"), at("none"), at("other")); err == nil || read(at("live")) != "second" {
				t.Errorf("nothing to put there: %v, %q", err, read(at("live")))
			}
		})
	}
}
