//go:build unix

package project

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/files/trust"
)

// Two ordinary users. Nothing in the system is theirs.
const (
	alice   = 65533
	mallory = 65534
)

// asEach runs a test as root and as an ordinary user, in a directory that everybody can write to. Another user can
// create files there. The test runs as a user in a separate process.
func asEach(t *testing.T, plant func(t *testing.T, dir string, uid int), user func(t *testing.T, dir string)) {
	t.Helper()
	if dir := os.Getenv("MCPBASH_TEST_SHARED_DIR"); dir != "" {
		user(t, dir)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can have another user plant files")
	}
	for _, uid := range []int{0, alice} {
		t.Run(strconv.Itoa(uid), func(t *testing.T) {
			dir, err := os.MkdirTemp("", "shared.")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			program := filepath.Join(dir, "program")
			if err := errors.Join(copyProgram(program), os.Mkdir(filepath.Join(dir, "open"), 0o777),
				os.Chmod(filepath.Join(dir, "open"), 0o777), os.Chmod(dir, 0o755)); err != nil {
				t.Fatal(err)
			}
			plant(t, filepath.Join(dir, "open"), uid)
			name, _, _ := strings.Cut(t.Name(), "/")
			cmd := exec.Command(program, "-test.run=^"+name+"$", "-test.v")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "MCPBASH_TEST_SHARED_DIR="+filepath.Join(dir, "open"))
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+name) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func copyProgram(to string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	in, err := os.Open(exe)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// put makes a directory with a file in it, both a user's and old.
func put(t *testing.T, dir string, uid int, mode os.FileMode) {
	t.Helper()
	old := time.Now().Add(-2 * time.Hour)
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(file, nil, 0o644), os.Chown(file, uid, uid),
		os.Chown(dir, uid, uid), os.Chmod(dir, mode), os.Chtimes(dir, old, old)); err != nil {
		t.Fatal(err)
	}
}

// P-308: a start removes only its own leftovers. It removes no files that other users created or can write to, and
// follows no links.
func TestCleanTmpOfOthers(t *testing.T) {
	names := []string{"mcpbash.state.1.planted", "mcpbash.work.1.open", "mcpbash.bootstrap.1.link", "victim"}
	asEach(t, func(t *testing.T, dir string, uid int) {
		put(t, filepath.Join(dir, "mcpbash.state.1.own"), uid, 0o700)
		put(t, filepath.Join(dir, names[0]), mallory, 0o755)
		put(t, filepath.Join(dir, names[1]), uid, 0o777)
		put(t, filepath.Join(dir, names[3]), uid, 0o700)
		if err := os.Symlink(names[3], filepath.Join(dir, names[2])); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T, dir string) {
		CleanTmp(dir)
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(dir, name, "file")); err != nil {
				t.Error(err)
			}
		}
		if exists(filepath.Join(dir, "mcpbash.state.1.own")) {
			t.Error("what a dead run left is still there")
		}
	})
}

// CLI-125: a command removes only its own leftovers.
func TestSweepOfOthers(t *testing.T) {
	names := []string{".x.tmp-link", ".x.tmp-open", ".x.tmp-planted", "victim"}
	asEach(t, func(t *testing.T, dir string, uid int) {
		put(t, filepath.Join(dir, ".x.tmp-own"), uid, 0o755)
		put(t, filepath.Join(dir, names[1]), uid, 0o777)
		put(t, filepath.Join(dir, names[2]), mallory, 0o755)
		put(t, filepath.Join(dir, names[3]), uid, 0o755)
		link := filepath.Join(dir, names[0])
		old := unix.NsecToTimespec(time.Now().Add(-2 * time.Hour).UnixNano())
		if err := errors.Join(os.Symlink(names[3], link), os.Lchown(link, uid, uid),
			unix.UtimesNanoAt(unix.AT_FDCWD, link, []unix.Timespec{old, old}, unix.AT_SYMLINK_NOFOLLOW)); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T, dir string) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		Sweep(root, ".x.tmp-")
		var left []string
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			left = append(left, e.Name())
		}
		if err != nil || !slices.Equal(left, names) {
			t.Errorf("%q left, %v", left, err)
		}
	})
}

// P-302: no program starts from a directory that other users can write to, even if the user named the directory.
func TestStateDirOfOthers(t *testing.T) {
	asEach(t, func(t *testing.T, dir string, uid int) {
		put(t, filepath.Join(dir, "planted"), mallory, 0o777)
		put(t, filepath.Join(dir, "own"), uid, 0o755)
	}, func(t *testing.T, dir string) {
		for name, want := range map[string]bool{"planted": false, "own": true, "new": true} {
			s, _, err := NewState(Env{"MCPBASH_STATE_DIR": filepath.Join(dir, name)}, &Settings{})
			if err != nil {
				t.Fatal(err)
			}
			var insecure *trust.InsecureError
			if err = s.Make(); (err == nil) != want || err != nil && !errors.As(err, &insecure) {
				t.Errorf("%s: %v", name, err)
			}
			s.Remove()
		}
	})
}

// P-302: a run removes what it made, and not what has the name of it now.
func TestRemoveExchanged(t *testing.T) {
	tmp := t.TempDir()
	d, err := makeTempDir(filepath.Join(tmp, "mcpbash.state.1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.root.WriteFile("secret", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(d.Path, filepath.Join(tmp, "aside")); err != nil {
		t.Fatal(err)
	}
	put(t, d.Path, os.Getuid(), 0o700)
	d.Remove()
	if !exists(filepath.Join(d.Path, "file")) || exists(filepath.Join(tmp, "aside", "secret")) {
		t.Error("it removed what is not its own")
	}
}

// P-907: a directory is removed even if a process that is being killed still writes to it.
func TestRemoveWhileWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	d, err := makeTempDir(path)
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer script.Close()
	begun := make(chan struct{})
	go func() {
		for i := range 3000 {
			if i == 100 {
				close(begun)
			}
			script.WriteFile(strconv.Itoa(i), nil, 0o600)
		}
	}()
	<-begun
	d.Remove()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
}
