package plugins

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzPluginLock: any list of files is read or refused. A list that is read names at least one file.
func FuzzPluginLock(f *testing.F) {
	for _, seed := range []string{`{"files":{"a":"00"}}`, `{"files":{"a":5}}`, `{"files":[]}`, `{}`, `[`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if list, err := parsePluginLock([]byte(text)); (err == nil) != (len(list) > 0) {
			t.Errorf("%q, %v", list, err)
		}
	})
}

// PL-14: a folder with a list that is larger than its limit is not ours.
func TestPluginLockLimit(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.FromSlash(pluginLock))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	const lock = `{"files":{"a":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}}`
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	for size, ours := range map[int]bool{len(lock): true, maxPluginLock: true, maxPluginLock + 1: false} {
		if err := os.WriteFile(file, []byte(lock+strings.Repeat(" ", size-len(lock))), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := checkFolder(dir); (err == nil) != ours {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
