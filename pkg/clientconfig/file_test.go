package clientconfig

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/registry/atomicfile"
)

// editing is an edit that puts a text into a file of a directory of its own.
func editing(t *testing.T) (path string, edit func(after string, during func()) (string, error)) {
	path = filepath.Join(t.TempDir(), "file")
	return path, func(after string, during func()) (string, error) {
		return target{path: path}.edit(t.Context(), 100, false, func(before) ([]byte, error) {
			during()
			return []byte(after), nil
		})
	}
}

func nothing() {}

// CLI-712: mode and backup; nothing else is left behind.
func TestReplace(t *testing.T) {
	path, edit := editing(t)
	if backup, err := edit("one", nothing); err != nil || backup != "" {
		t.Fatalf("%v, %q", err, backup)
	}
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	if mode(path) != newMode {
		t.Errorf("mode %o", mode(path))
	}
	if err := os.Chmod(path, 0o604); err != nil {
		t.Fatal(err)
	}
	backup, err := edit("two", nothing)
	if err != nil || backup != path+".mcp-bash.bak" {
		t.Fatalf("%v, %q", err, backup)
	}
	if mode(path) != 0o604 || mode(backup) != 0o604 || readFile(t, path) != "two" || readFile(t, backup) != "one" {
		t.Errorf("modes %o and %o, %q, %q", mode(path), mode(backup), readFile(t, path), readFile(t, backup))
	}
	if _, err := edit("three", nothing); err != nil || readFile(t, backup) != "two" {
		t.Errorf("%v, %q", err, readFile(t, backup))
	}
	if left := listDir(t, filepath.Dir(path)); len(left) != 2 {
		t.Errorf("%q", left)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := edit("four", nothing); err == nil || !strings.Contains(err.Error(), "chmod u+w") ||
		readFile(t, path) != "three" {
		t.Error(err)
	}
}

// CLI-712: what somebody else writes meanwhile is neither lost nor overwritten.
func TestChangedMeanwhile(t *testing.T) {
	path, edit := editing(t)
	writeFile(t, path, "old")
	seen := 0
	if _, err := edit("new", func() {
		if seen++; seen == 1 {
			writeFile(t, path, "theirs")
		}
	}); err != nil || seen != 2 || readFile(t, path) != "new" || readFile(t, path+backupSuffix) != "theirs" {
		t.Errorf("%v, %d times, %q", err, seen, readFile(t, path))
	}

	// The same with a file that is replaced by one that says the same, and with one that
	// was not there.
	seen = 0
	if _, err := edit("newer", func() {
		if seen++; seen == 1 {
			writeFile(t, path+".x", "new")
			if err := os.Rename(path+".x", path); err != nil {
				t.Error(err)
			}
		}
	}); err != nil || seen != 2 {
		t.Errorf("%v, %d times", err, seen)
	}
	other, edit := editing(t)
	seen = 0
	if _, err := edit("mine", func() {
		if seen++; seen == 1 {
			writeFile(t, other, "theirs")
		}
	}); err != nil || seen != 2 || readFile(t, other+backupSuffix) != "theirs" {
		t.Errorf("%v, %d times", err, seen)
	}

	// Whoever writes all the time wins.
	seen = 0
	_, err := edit("never", func() {
		seen++
		writeFile(t, other, strings.Repeat("x", seen))
	})
	if err == nil || !strings.Contains(err.Error(), "changed again and again") || seen != maxTries ||
		readFile(t, other) != strings.Repeat("x", maxTries) {
		t.Errorf("%v, %d times, %q", err, seen, readFile(t, other))
	}
	if left := listDir(t, filepath.Dir(other)); !slices.Equal(left, []string{"file", "file.mcp-bash.bak"}) {
		t.Errorf("%q", left)
	}
}

// CLI-712: the file that a link leads to is replaced, and the link stays.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles", "real.json")
	link := filepath.Join(dir, "home", "config.json")
	for _, path := range []string{real, link} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../dotfiles/real.json", link); err != nil {
		t.Skip(err)
	}
	r := request(t, "cursor")
	r.File = link
	if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), "a link that leads nowhere") {
		t.Error(err)
	}
	writeFile(t, real, "{}")
	change := apply(t, r, Added)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if !strings.Contains(readFile(t, real), "demo") || filepath.Base(change.Backup) != "real.json.mcp-bash.bak" ||
		readFile(t, change.Backup) != "{}" {
		t.Errorf("%s, %s", readFile(t, real), change.Backup)
	}

	// A directory on the way may be a link as well, and need not be whole.
	if err := os.Symlink("dotfiles", filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	r.File = filepath.Join(dir, "away", "deep", "er", "file.json")
	apply(t, r, Added)
	if !strings.Contains(readFile(t, filepath.Join(dir, "dotfiles", "deep", "er", "file.json")), "demo") {
		t.Error("not where the link leads")
	}
	r.File = filepath.Join(real, "file.json")
	if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Error(err)
	}
}

// CLI-712: nothing in a project leads to files elsewhere.
func TestProjectLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, outside := filepath.Join(dir, "project"), filepath.Join(dir, "outside")
	for _, path := range []string{root, outside, filepath.Join(root, "inner")} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(outside, "mcp.json"), "{}")
	r := request(t, "cursor")
	r.File, r.Place, r.Scope = "", Place{System: "linux", Root: root}, ProjectScope
	at := filepath.Join(root, ".cursor")
	for _, lead := range []string{outside, "../outside"} {
		if err := os.Symlink(lead, at); err != nil {
			t.Skip(err)
		}
		if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
			t.Errorf("%s: %v", lead, err)
		}
		os.Remove(at)
	}
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../outside/mcp.json", filepath.Join(at, "mcp.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
		t.Error(err)
	}
	if readFile(t, filepath.Join(outside, "mcp.json")) != "{}" {
		t.Error("a file outside was written")
	}
	if err := os.RemoveAll(at); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("inner", at); err != nil {
		t.Fatal(err)
	}
	apply(t, r, Added)
	if !strings.Contains(readFile(t, filepath.Join(root, "inner", "mcp.json")), "demo") {
		t.Error("not in the project")
	}
}

// CLI-712: one waits for the other, but not for ever, and not against a signal.
func TestLocked(t *testing.T) {
	path, edit := editing(t)
	writeFile(t, path, "old")
	holder, err := os.Open(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if err := atomicfile.Lock(t.Context(), holder, "it", 0, atomicfile.TryLock); err != nil {
		t.Skip(err) // a system that cannot lock directories
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	signal := errors.New("a signal")
	cancel(signal)
	remove := func(before) ([]byte, error) { return nil, nil }
	if _, err := (target{path: path}).edit(ctx, 100, false, remove); err != signal {
		t.Error(err)
	}
	lockWait = 10 * time.Millisecond
	defer func() { lockWait = 5 * time.Second }()
	_, err = edit("new", nothing)
	var e *cli.Error
	if !errors.As(err, &e) || e.Code != cli.CodeTimeout || readFile(t, path) != "old" {
		t.Error(err)
	}
}
