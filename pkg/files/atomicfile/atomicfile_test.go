package atomicfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// a reader sees the old file until the new one is complete.
func TestCommit(t *testing.T) {
	place := t.TempDir()
	dir, err := os.OpenRoot(place)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	path := filepath.Join(place, "name")
	os.WriteFile(path, []byte("old"), 0o600)
	read := func() string {
		text, _ := os.ReadFile(path)
		return string(text)
	}
	f, err := Create(dir, "name", ".begin")
	if err != nil {
		t.Fatal(err)
	}
	if read() != "old" {
		t.Error("the old file is gone too early")
	}
	if left := Leftovers(dir, ".begin"); len(left) != 1 || len(Leftovers(dir, "name")) != 0 {
		t.Errorf("%q", left)
	}
	if stamp, err := f.Commit([]byte("new"), true); err != nil || !stamp.IsFile() || read() != "new" {
		t.Errorf("%v: %q", err, read())
	}
	if f, err = Create(dir, "name", "name"); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	if left := Leftovers(dir, ""); left != nil || read() != "new" {
		t.Errorf("%q, %q", left, read())
	}
}

// Only names that [Create] could have made are leftovers.
func TestLeftovers(t *testing.T) {
	place := t.TempDir()
	for _, name := range []string{"a.json.tmp-1-0a", ".tmp-1", "a.json", "a.json.tmp"} {
		os.WriteFile(filepath.Join(place, name), nil, 0o600)
	}
	dir, err := os.OpenRoot(place)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if left := Leftovers(dir, ""); !slices.Equal(left, []string{"a.json.tmp-1-0a"}) {
		t.Errorf("%q", left)
	}
}

// nobody waits longer than asked to, or after the request has ended.
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
	if err := Lock(t.Context(), holder, "it", 0, TryLock); err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	err := Lock(t.Context(), other, "it", 3*time.Millisecond, TryLock)
	if !errors.As(err, &locked) || err.Error() != "registry lock 'it' unavailable after 0.003s" {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Lock(ended, other, "it", time.Hour, TryLock); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	holder.Close() // with the file the lock goes
	if err := Lock(t.Context(), other, "it", time.Hour, TryLock); err != nil {
		t.Error(err)
	}
	var unable *UnwritableError
	broken := func(*os.File) (bool, error) { return false, os.ErrInvalid }
	if err := Lock(t.Context(), other, "it", time.Hour, broken); !errors.As(err, &unable) {
		t.Error(err)
	}
}
