package fsys

import (
	"path/filepath"
	"testing"
)

// RES-82: a directory contains itself and everything below it, and no sibling whose name begins with its name.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		dir, path string
		want      bool
	}{
		{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a/", "/a/b", true}, {"/a", "/ab", false}, {"/a", "/", false},
		{"/a/b", "/a", false}, {"/", "/", true}, {"/", "/a", true}, {"/a", "a", false}, {"/a", "", false},
	} {
		dir, path := filepath.FromSlash(c.dir), filepath.FromSlash(c.path)
		if got := Within(dir, path); got != c.want {
			t.Errorf("%s in %s: %v", path, dir, got)
		}
	}
}
