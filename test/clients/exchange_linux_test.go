package clients

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// A tool is in a directory that other users can write to, and one of them replaces it with another
// script all the time. Neither script runs (T-41).
func TestExchangedScript(t *testing.T) {
	t.Parallel()
	project, marks := many(t)
	dir := filepath.Join(project, "tools/deep")
	script, foreign := filepath.Join(dir, "down/tool.sh"), filepath.Join(dir, "down/.foreign")
	write(t, "#!/bin/bash\ntouch '"+marks+"/foreign'\n", foreign)
	if err := errors.Join(os.Chmod(foreign, 0o777), os.Remove(filepath.Join(project,
		"server.d/policy.sh"))); err != nil {
		t.Fatal(err)
	}
	os.Chown(foreign, 12345, 12345) // as it would be; only root can
	exchange := func() error {
		return unix.Renameat2(unix.AT_FDCWD, script, unix.AT_FDCWD, foreign, unix.RENAME_EXCHANGE)
	}
	s := open(t, project, opening{})
	s.succeed("down", nil)
	for _, open := range []string{dir, filepath.Join(dir, "down")} {
		if err := os.Chmod(open, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(marks, "tool.sh")); err != nil {
			t.Fatal(err)
		}
		var exchanges atomic.Int64
		stop, stopped := make(chan struct{}), make(chan error, 1)
		go func() {
			for {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				if err := exchange(); err != nil {
					stopped <- err
					return
				}
				exchanges.Add(1)
			}
		}()
		for range 300 {
			if _, err := s.request(s.deadline(), "down", nil); err == nil {
				t.Fatal("a tool ran that others could have put there")
			}
		}
		close(stop)
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(marks); err != nil || len(left) > 0 {
			t.Errorf("after %d exchanges there ran %v, %v", exchanges.Load(), left, err)
		}
		if exchanges.Load()%2 == 1 {
			if err := exchange(); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(open, 0o755); err != nil {
			t.Fatal(err)
		}
		s.succeed("down", nil)
	}
}
