package handoff

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mcp-bash/pkg/files/folder"
)

// T-79: files are removed from a directory that was known to be empty, also if their script has set its time.
func TestKnownEmpty(t *testing.T) {
	for _, name := range []string{inputName, tempName} {
		p, _ := newPool(t)
		d := take(t, p)
		known := map[string]*folder.Stamp{inputName: &d.initial.input, tempName: &d.initial.temp}[name]
		for range 3 {
			path := d.Path(name)
			*known = folder.StampOfPath(path)
			for before := *known; folder.StampOfPath(path) == before; { // until the clock advances
				check(t, os.WriteFile(filepath.Join(path, "x"), nil, 0o600))
				check(t, os.Chtimes(path, time.Now(), time.Unix(0, before.Mtime)))
			}
			p.Give(d, true)
			again := take(t, p)
			if what := isNew(again); again != d || what != "" {
				t.Fatalf("%s: the same %t, not as new: %s", name, again == d, what)
			}
		}
		p.Give(d, true)
	}
}

// A directory is renamed once for each call: each call has another path, and an earlier path leads nowhere (T-79).
func TestRenamed(t *testing.T) {
	p, path := newPool(t)
	seen := map[string]bool{}
	for range 3 {
		d := take(t, p)
		now := d.path
		if seen[now] {
			t.Errorf("%s was used before", now)
		}
		seen[now] = true
		p.Give(d, true)
		if _, err := os.Lstat(now); !os.IsNotExist(err) {
			t.Errorf("%s still exists: %v", now, err)
		}
		if list, _ := filepath.Glob(filepath.Join(path, "*")); len(list) != 1 {
			t.Errorf("%d directories", len(list))
		}
	}
}
