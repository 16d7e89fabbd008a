package clients

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mcp-bash/test/checkout"
)

// The next start removes the files of killed servers from the directory for temporary files, as root and as an
// ordinary user. It does not touch another user's files, files that others can write to, and the
// targets of links (P-308).
func TestLeftByDeadRuns(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can have another user plant files")
	}
	const nobody, mallory = 65534, 65533
	for name, uid := range map[string]int{"root": 0, "nobody": nobody} {
		t.Run(name, func(t *testing.T) {
			tmp := checkout.Directory(t)
			old := time.Now().Add(-2 * time.Hour)
			put := func(name string, uid int, mode os.FileMode) string {
				dir := filepath.Join(tmp, name)
				file := filepath.Join(dir, "file")
				if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(file, nil, 0o644), os.Chown(file, uid, uid),
					os.Chown(dir, uid, uid), os.Chmod(dir, mode), os.Chtimes(dir, old, old)); err != nil {
					t.Fatal(err)
				}
				return file
			}
			own := put("mcpbash.work.9.9.own", uid, 0o700) // looked at last
			stay := []string{put("mcpbash.state.1.2.planted", mallory, 0o755), put("mcpbash.work.1.2.open", uid, 0o777),
				put("victim", uid, 0o700)}
			if err := errors.Join(os.Symlink("victim", filepath.Join(tmp, "mcpbash.state.1.2.link")),
				os.Chmod(tmp, 0o777|os.ModeSticky), os.Chmod(filepath.Dir(tmp), 0o755)); err != nil {
				t.Fatal(err)
			}
			s := open(t, checkout.Copy(t, "testdata/hostile"), opening{env: map[string]string{"TMPDIR": tmp},
				unprivileged: uid != 0})
			ctx := s.deadline()
			for _, err := os.Lstat(own); err == nil; _, err = os.Lstat(own) {
				if _, err := s.ListTools(ctx, nil); err != nil {
					t.Fatalf("it is still there: %v", err)
				}
			}
			for _, file := range stay {
				if _, err := os.Lstat(file); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
