//go:build unix

package fsys

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// CF-55: Homes contains home directories and their parents.
func TestHomes(t *testing.T) {
	real := filepath.Join(t.TempDir(), "real")
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(real, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, home); err != nil {
		t.Fatal(err)
	}
	if h := HomesOf(home); !h.Hold(home) || !h.Hold(real) {
		t.Errorf("%q", h)
	}
	if h := HomesOf("relative"); slices.Contains(h, "relative") {
		t.Errorf("%q", h)
	}
	h := Homes{"/data/ada"}
	for _, dir := range []string{"/", "/data", "/data/ada", "/home", "/home/bob", "/root", "/Users", "/Users/eve"} {
		if !h.Hold(dir) {
			t.Errorf("%s holds no home directory", dir)
		}
	}
	for _, dir := range []string{"/data/ada/notes", "/data/adam", "/dat", "/home/bob/notes", "/root/x", "/etc", "/homes"} {
		if h.Hold(dir) {
			t.Errorf("%s holds a home directory", dir)
		}
	}
	for dir, want := range map[string]bool{"/data/ada/.ssh": true, "/home/bob/.aws": true, "/data/ada/x": false,
		"/data/ada/x/.y": false, "/.x": false, "/srv/.x": false} {
		if h.Hide(dir) != want {
			t.Errorf("%s is hidden: %v", dir, !want)
		}
	}
}
