//go:build unix

package clients

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// CLI-711: an edit does not block on a path that is not a regular file.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, dir, "/dev/null"} {
		r := request(t, "cursor")
		r.File = path
		if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if info, err := os.Lstat(fifo); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Error("the pipe is gone")
	}
	// Another type of file has the name of the backup.
	r := request(t, "cursor")
	writeFile(t, r.File, "{}")
	if err := os.Mkdir(r.File+backupSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), "the backup cannot be written") ||
		readFile(t, r.File) != "{}" {
		t.Error(err)
	}
	if left := listDir(t, filepath.Dir(r.File)); len(left) != 2 {
		t.Errorf("%q", left)
	}
}

// CLI-712: the owner of a file is kept.
func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	r := request(t, "cursor")
	writeFile(t, r.File, "{}")
	if err := os.Chown(r.File, 4242, 4343); err != nil {
		t.Skip(err)
	}
	change := apply(t, r, Added)
	for _, path := range []string{r.File, change.Backup} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != 4242 || stat.Gid != 4343 {
			t.Errorf("%s belongs to %d:%d", path, stat.Uid, stat.Gid)
		}
	}
}
