//go:build unix

package runtimes

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

// CLI-1422: reading a path that is not a regular file does not block.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "mcp-bash")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, dir, "/dev/null"} {
		if _, err := check(path, Host); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// CLI-125: a program in the cache is used only if no other user could have put it there.
// Files that a killed run left in the cache are removed.
func TestCacheOfOthers(t *testing.T) {
	program, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	if err := os.Chmod(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	env := project.Env{"XDG_CACHE_HOME": cache}
	dir := filepath.Join(cache, "mcp-bash", cli.Version, Host.String())
	left := filepath.Join(dir, "mcp-bash.tmp-LEFT")
	old := time.Now().Add(-2 * time.Hour)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(filepath.Join(cache, "mcp-bash"), 0o700),
		os.WriteFile(left, nil, 0o700), os.Chtimes(left, old, old), outdir.Put(filepath.Join(dir, "mcp-bash"),
			program, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); err == nil {
		t.Error("what a killed run left is still there")
	}
	s := Source{Env: env, Note: func(string) {}}
	if _, err := s.download(t.Context(), Host); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "mcp-bash"), dir, filepath.Dir(dir)} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
		if b, err := s.download(t.Context(), Host); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s can be written to by others: %+v, %v", path, b, err)
		}
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
