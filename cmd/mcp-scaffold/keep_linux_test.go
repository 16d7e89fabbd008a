package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const aclName = "system.posix_acl_access"

// acl returns an access control list: the owner can read and write, user 4242 can read, and
// others have no access.
func acl() []byte {
	list := binary.LittleEndian.AppendUint32(nil, 2)
	for _, entry := range []struct {
		tag, rights uint16
		id          uint32
	}{{1, 6, ^uint32(0)}, {2, 4, 4242}, {4, 0, ^uint32(0)}, {16, 4, ^uint32(0)}, {32, 0, ^uint32(0)}} {
		list = binary.LittleEndian.AppendUint16(list, entry.tag)
		list = binary.LittleEndian.AppendUint16(list, entry.rights)
		list = binary.LittleEndian.AppendUint32(list, entry.id)
	}
	return list
}

// CLI-712: commands that edit a user's files keep all their attributes, and copy them to the
// backup, as root and as an ordinary user. Otherwise they print an error and change nothing.
func TestEditsKeepRights(t *testing.T) {
	const alice = 65533
	for _, uid := range []int{0, alice} {
		t.Run(strconv.Itoa(uid), func(t *testing.T) {
			if uid != os.Getuid() && os.Getuid() != 0 {
				t.Skip("only root can be another user")
			}
			top, err := os.MkdirTemp("", "keep.")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(top) })
			home, project, program := filepath.Join(top, "home"), filepath.Join(top, "home", "demo"), filepath.Join(top,
				"mcp-scaffold")
			found, err := exec.LookPath("mcp-scaffold")
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(found)
			if err = errors.Join(err, os.WriteFile(program, text, 0o755), os.Chmod(top, 0o755)); err != nil {
				t.Fatal(err)
			}
			own := map[string][]byte{aclName: acl(), "user.note": []byte("mine")}
			if uid == 0 {
				own["security.note"] = []byte("label")
			}
			put := func(path, text string) string {
				t.Helper()
				err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o640))
				for name, value := range own {
					if errors.Is(unix.Lsetxattr(path, name, value, 0), unix.ENOTSUP) {
						t.Skip("no extended attributes here")
					}
				}
				if err = errors.Join(err, filepath.WalkDir(home, func(path string, _ fs.DirEntry, _ error) error {
					return os.Lchown(path, uid, uid)
				})); err != nil {
					t.Fatal(err)
				}
				return path
			}
			kept := func(paths ...string) {
				t.Helper()
				for _, path := range paths {
					for name, value := range own {
						got := make([]byte, 100)
						if n, err := unix.Lgetxattr(path, name, got); err != nil || !bytes.Equal(got[:n], value) {
							t.Errorf("%s of %s: %q, %v", name, path, got[:max(n, 0)], err)
						}
					}
					info, err := os.Stat(path)
					if err != nil || info.Mode() != 0o640 || info.Sys().(*syscall.Stat_t).Uid != uint32(uid) {
						t.Errorf("%s: %v, %v", path, info, err)
					}
				}
			}
			scaffold := func(want int, args ...string) string {
				t.Helper()
				cmd := exec.Command(program, args...)
				cmd.Dir, cmd.Env = project, []string{"HOME=" + home, "PATH=" + top + ":" + os.Getenv("PATH"), "TMPDIR=" + home}
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
				out, err := cmd.CombinedOutput()
				if code := cmd.ProcessState.ExitCode(); code != want {
					t.Fatalf("%s: %d, %v\n%s", args, code, err, out)
				}
				return string(out)
			}
			put(filepath.Join(project, "server.d", "server.meta.json"), `{"name":"demo"}`)
			if err := os.WriteFile(filepath.Join(top, "mcp-bash"), []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}

			file := put(filepath.Join(home, ".cursor", "mcp.json"), "{\"token\":\"secret\"}\n")
			left := put(filepath.Join(home, ".cursor", ".mcp.json.new-0123456789ab"), "secret")
			scaffold(0, "config", "--client", "cursor", "--apply")
			kept(file, file+".mcp-bash.bak")
			if _, err := os.Lstat(left); err == nil {
				t.Error("the copy that a killed run left is still there")
			}
			scaffold(0, "config", "--client", "cursor", "--remove")
			kept(file, file+".mcp-bash.bak")
			if text, err := os.ReadFile(file); err != nil || string(text) != "{\"token\":\"secret\"}\n" {
				t.Errorf("%q, %v", text, err)
			}

			// The path is a symbolic link, and then the file has a second hard link.
			real := put(filepath.Join(home, "dotfiles", "mcp.json"), "{}")
			if err := errors.Join(os.Remove(file), os.Symlink("../dotfiles/mcp.json", file)); err != nil {
				t.Fatal(err)
			}
			scaffold(0, "config", "--client", "cursor", "--apply")
			kept(real, real+".mcp-bash.bak")
			if target, err := os.Readlink(file); err != nil || target != "../dotfiles/mcp.json" {
				t.Errorf("%q, %v", target, err)
			}
			if err := os.Link(real, filepath.Join(home, "other")); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(real)
			out := scaffold(1, "config", "--client", "cursor", "--remove")
			if after, _ := os.ReadFile(real); !strings.Contains(out, "it has 2 names (hard links)") || !bytes.Equal(before,
				after) {
				t.Errorf("%s", out)
			}

			// Other commands that edit a user's files.
			ignore := put(filepath.Join(project, ".gitignore"), "mine\n")
			scaffold(0, "init")
			kept(ignore)
			brew := func(more string) {
				put(filepath.Join(home, "bin", "brew"),
					fmt.Sprintf("#!/bin/sh\nprintf 'Usage: brew [OPTION]...\\n\\n  -a, --all  all\\n%s'\n", more))
				if err := os.Chmod(filepath.Join(home, "bin", "brew"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			brew("")
			scaffold(0, "wrap", filepath.Join(home, "bin", "brew"))
			meta := filepath.Join(project, "tools", "brew", "tool.meta.json")
			text, err = os.ReadFile(meta)
			if err != nil {
				t.Fatal(err)
			}
			put(meta, string(text))
			if err := os.Chmod(meta, 0o640); err != nil {
				t.Fatal(err)
			}
			brew(`  -n, --new  show new\n`)
			scaffold(0, "wrap", "--update", "--force")
			kept(meta)
		})
	}
}
