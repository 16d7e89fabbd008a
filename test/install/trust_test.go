//go:build unix

package install

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/test/checkout"
)

// Two ordinary users of these tests. Nothing in the system is theirs.
const (
	alice   = 65533
	mallory = 65534
)

// A shared directory is writable for everybody, as /tmp is. It contains a user's installation, files that
// another user planted next to it, and install.sh.
type shared struct {
	*user
	uid    int
	dir    string // the installation
	victim string // a directory of the user's
}

func newShared(t *testing.T, uid int) *shared {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can have another user plant files")
	}
	top, err := os.MkdirTemp("", "shared.")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	script, err := os.ReadFile(filepath.Join(checkout.Root(), "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	s := &shared{user: newUser(t), uid: uid, dir: filepath.Join(top, "mcp-bash"), victim: filepath.Join(top, "victim")}
	s.home = filepath.Join(top, "home")
	s.env["HOME"], s.env["XDG_DATA_HOME"] = s.home, top
	if err := errors.Join(os.Mkdir(s.home, 0o755), os.Mkdir(s.victim, 0o755), os.Chmod(top, 0o777|os.ModeSticky),
		os.WriteFile(filepath.Join(top, "install.sh"), script, 0o644),
		os.WriteFile(filepath.Join(top, "archive"), pack(stub("2.0.0")), 0o644),
		os.WriteFile(filepath.Join(s.victim, "file"), nil, 0o644),
		os.Chown(s.home, uid, uid), os.Chown(s.victim, uid, uid), os.Chown(filepath.Join(s.victim, "file"), uid,
			uid)); err != nil {
		t.Fatal(err)
	}
	return s
}

// at returns a path next to the installation.
func (s *shared) at(name string) string { return filepath.Join(filepath.Dir(s.dir), name) }

// install runs install.sh as the user.
func (s *shared) install(args ...string) result {
	s.t.Helper()
	cmd := s.command(append([]string{"sh", s.at("install.sh"), "--yes"}, args...)...)
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.uid), Gid: uint32(s.uid)}
	return s.user.runs(cmd)
}

// plant writes a file next to the installation. The file and its new directories belong to uid.
func (s *shared) plant(uid int, name, text string, mode fs.FileMode) {
	s.t.Helper()
	var own []string
	for dir := filepath.Dir(s.at(name)); dir != filepath.Dir(s.dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err != nil {
			own = append(own, dir)
		}
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(s.at(name)), 0o755), os.WriteFile(s.at(name), []byte(text), mode),
		os.Chmod(s.at(name), mode))
	for _, path := range append(own, s.at(name)) {
		err = errors.Join(err, os.Chown(path, uid, uid))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// there reports whether a file exists next to the installation.
func (s *shared) there(name string) bool {
	_, err := os.Lstat(s.at(name))
	return err == nil
}

// CLI-1710, CLI-1712: install.sh does not trust files that another user planted next to an installation. It
// runs none of them, and removes or moves no folder because of them.
func TestPlanted(t *testing.T) {
	for _, uid := range []int{0, alice} {
		t.Run(strconv.Itoa(uid), func(t *testing.T) {
			open := checkout.Directory(t)
			if err := os.Chmod(open, 0o777); err != nil {
				t.Fatal(err)
			}
			ran := filepath.Join(open, "ran")
			evil := "#!/bin/sh\ntouch '" + ran + "'\necho mcp-bash 9.9.9\n"
			tree := map[string]string{"bin/mcp-bash": evil, "VERSION": "9.9.9\n", "sdk/tool-sdk.sh": "", "INSTALLER.json": "{}",
				"INSTALLED.sha256": ""}
			t.Run("a folder of versions", func(t *testing.T) {
				s := newShared(t, uid)
				for file, text := range tree {
					s.plant(mallory, "mcp-bash.versions/9.9.9/"+file, text, 0o755)
				}
				if r := s.install("--archive", s.at("archive")); r.code != 1 || s.there("mcp-bash") ||
					!strings.Contains(r.errors, "it belongs to user "+strconv.Itoa(mallory)) {
					t.Errorf("%+v", r)
				}
			})
			t.Run("a folder of versions that others can write to", func(t *testing.T) {
				s := newShared(t, uid)
				s.plant(uid, "mcp-bash.versions/9.9.9/INSTALLER.json", "{}", 0o755)
				if err := os.Chmod(s.at("mcp-bash.versions"), 0o777); err != nil {
					t.Fatal(err)
				}
				if r := s.install("--archive", s.at("archive")); r.code != 1 || s.there("mcp-bash") {
					t.Errorf("%+v", r)
				}
			})
			t.Run("a link for the folder of versions", func(t *testing.T) {
				s := newShared(t, uid)
				if err := os.Symlink("victim", s.at("mcp-bash.versions")); err != nil {
					t.Fatal(err)
				}
				if r := s.install("--archive", s.at("archive")); r.code != 1 || !s.there("victim/file") ||
					!strings.Contains(r.errors, "it is a link") {
					t.Errorf("%+v", r)
				}
			})
			t.Run("a link to a version", func(t *testing.T) {
				s := newShared(t, uid)
				s.plant(uid, "mcp-bash.versions/1.0.0.1.1/INSTALLER.json", "{}", 0o755)
				err := errors.Join(os.Symlink("mcp-bash.versions/1.0.0.1.1", s.dir), os.Lchown(s.dir, mallory, mallory))
				if err != nil {
					t.Fatal(err)
				}
				if r := s.install("--archive", s.at("archive")); r.code != 1 || !strings.Contains(r.errors, "doesn't look like") {
					t.Errorf("%+v", r)
				}
			})
			t.Run("an installation", func(t *testing.T) {
				s := newShared(t, uid)
				for file, text := range tree {
					s.plant(mallory, "mcp-bash/"+file, text, 0o755)
				}
				s.plant(mallory, "mcp-bash/mine", "", 0o644)
				for _, args := range [][]string{{"--archive", s.at("archive")}, {"--uninstall"}} {
					if r := s.install(args...); r.code != 1 || !strings.Contains(r.errors,
						"it belongs to user "+strconv.Itoa(mallory)) ||
						!s.there("mcp-bash/mine") {
						t.Errorf("%+v", r)
					}
				}
			})
			t.Run("nothing, in a directory that is not sticky", func(t *testing.T) {
				s := newShared(t, uid)
				if err := os.Chmod(filepath.Dir(s.dir), 0o777); err != nil {
					t.Fatal(err)
				}
				if r := s.install("--archive", s.at("archive")); r.code != 1 || !strings.Contains(r.errors,
					"others can write to it") ||
					s.there("mcp-bash") {
					t.Errorf("%+v", r)
				}
			})
			if _, err := os.Stat(ran); err == nil {
				t.Error("a program of another user ran")
			}
		})
	}
}

// CLI-1712: the group with the name of the user counts as private, as on Debian and Fedora. Others do not.
func TestOwnGroup(t *testing.T) {
	if _, err := exec.LookPath("unshare"); err != nil || os.Getuid() != 0 {
		t.Skip("needs root, and a mount of its own over /etc")
	}
	s := newShared(t, alice)
	if err := os.Chmod(filepath.Dir(s.dir), 0o775); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Dir(s.dir), alice, alice); err != nil {
		t.Fatal(err)
	}
	user, group := "alice:x:65533:65533::/:/bin/sh\n", "alice:x:65533:\n"
	for name, tc := range map[string]struct {
		passwd, group string
		private       bool
	}{
		"private":         {user, group, true},
		"of another name": {user, "other:x:65533:\n", false},
		"no account":      {"root:x:0:0::/:/bin/sh\n", group, false},
	} {
		passwd, groups := filepath.Join(t.TempDir(), "passwd"), filepath.Join(t.TempDir(), "group")
		if err := errors.Join(os.WriteFile(passwd, []byte(tc.passwd), 0o644), os.WriteFile(groups, []byte(tc.group), 0o644),
			os.RemoveAll(s.dir)); err != nil {
			t.Fatal(err)
		}
		text := `mount --bind "$1" /etc/passwd && mount --bind "$2" /etc/group || exit 77
shift 2
exec setpriv --reuid=65533 --regid=65533 --clear-groups "$@"`
		cmd := s.command("unshare", "-m", "sh", "-c", text, "sh", passwd, groups, "sh", s.at("install.sh"), "--yes",
			"--archive", s.at("archive"))
		r := s.user.runs(cmd)
		if r.code == 77 || r.code == 127 {
			t.Skipf("%+v", r)
		}
		if r.code != 0 || strings.Contains(r.out, "⚠ Others can replace what is in") == tc.private {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
