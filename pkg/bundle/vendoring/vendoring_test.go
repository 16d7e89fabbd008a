package vendoring

import (
	"errors"
	"os"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/outdir"

	"mcp-bash/pkg/bundle/runtimes"
)

// A vendor.json above the size limit is rejected.
func TestLockSize(t *testing.T) {
	for n, want := range map[int]bool{maxLock: true, maxLock + 1: false} {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		text := "{}" + strings.Repeat(" ", n-2)
		err = errors.Join(root.Mkdir(runtimes.Dir, 0o755), root.WriteFile(runtimes.Dir+"/"+lockName, []byte(text), 0o644))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readLock(root); (err == nil) != want {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// Comparing ends for any vendor.json, and only a tree with its hash passes.
func FuzzLock(f *testing.F) {
	sums := outdir.Sums{"a": "1", "B": "2"}
	f.Add([]byte(`{"version":"1","sha256":"` + sums.Digest(strings.Compare, "") +
		`","format_version":2,"files":{"a":"1","B":"2"}}`))
	f.Add([]byte(`{"version":"1","sha256":"` + sums.Digest(likeLocale, "") + `"}`))
	f.Add([]byte(`{"files":[1,{"a":null}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parseLock(text)
		if err != nil {
			return
		}
		if l.compare(sums, []string{"odd"}) == nil {
			t.Error("an odd file passed")
		}
		if l.compare(sums, nil) != nil {
			return
		}
		for _, prefix := range []string{"", "./", ".mcp-bash/"} {
			if l.sum == sums.Digest(strings.Compare, prefix) || l.sum == sums.Digest(likeLocale, prefix) {
				return
			}
		}
		t.Errorf("%s passed", text)
	})
}
