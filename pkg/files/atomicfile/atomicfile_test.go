package atomicfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// a reader sees the old file until the new one is complete.
func TestWrite(t *testing.T) {
	place := t.TempDir()
	dir, err := os.OpenRoot(place)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	path := filepath.Join(place, "name")
	for _, text := range []string{"old", "new"} {
		stamp, err := Write(dir, "name", []byte(text))
		if got, _ := os.ReadFile(path); err != nil || !stamp.IsFile() || string(got) != text {
			t.Errorf("%v: %q", err, got)
		}
	}
	os.MkdirAll(filepath.Join(place, "full", "x"), 0o700)
	if _, err := Write(dir, "full", nil); err == nil {
		t.Error("a directory was replaced")
	}
	list, _ := os.ReadDir(place)
	if len(list) != 2 {
		t.Errorf("left behind: %v", list)
	}
	os.RemoveAll(place)
	if _, err := Write(dir, "name", nil); err == nil || !strings.Contains(err.Error(), " "+path+": ") {
		t.Error(err) // not the temporary name
	}
}

// Only names that [Write] can make are temporary.
func TestIsTemporary(t *testing.T) {
	for name, want := range map[string]bool{
		"a.json.tmp-1-0a": true, ".tmp-1": false, "a.json": false, "a.json.tmp": false,
	} {
		if IsTemporary(name) != want {
			t.Error(name)
		}
	}
}

// a wait for a lock ends at its limit, and when the context ends.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	holder, other := open(), open()
	defer other.Close()
	if err := Lock(t.Context(), holder, "it", 0); err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	err := Lock(t.Context(), other, "it", 3*time.Millisecond)
	if !errors.As(err, &locked) || err.Error() != "registry lock 'it' unavailable after 0.003s" {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Lock(ended, other, "it", time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	holder.Close() // closing the file releases the lock
	if err := Lock(t.Context(), other, "it", time.Hour); err != nil {
		t.Error(err)
	}
	var unable *UnwritableError
	if err := Lock(t.Context(), holder, "it", time.Hour); !errors.As(err, &unable) {
		t.Error(err)
	}
}
