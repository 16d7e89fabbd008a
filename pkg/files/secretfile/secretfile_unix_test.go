//go:build unix

package secretfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/userfile"
)

var secret = Rule{Max: 100, Secret: true}

// service is the user of the server in images.
const service = 65532

// pathVariable makes the test program print a file as another user.
const pathVariable = "SECRETFILE_TEST_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(pathVariable); path != "" {
		text, _, err := secret.Read(path)
		fmt.Print(string(text), err)
		return
	}
	os.Exit(m.Run())
}

// readAs reads a file as another user. Only root can.
func readAs(t *testing.T, id uint32, path string) string {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), pathVariable+"="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func needsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
}

func write(t *testing.T, path, text string, mode fs.FileMode, uid, gid int) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode))
	if os.Geteuid() == 0 {
		must(t, os.Chown(path, uid, gid))
	}
}

// newFolder makes a folder that other users may enter.
func newFolder(t *testing.T) string {
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755))
	return dir
}

// obey runs the command that an error names.
func obey(t *testing.T, message string) {
	t.Helper()
	_, command, found := strings.Cut(message, "; run ")
	if !found {
		t.Fatalf("%s: it names no command", message)
	}
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", command, err, out)
	}
}

// H-245: after the command that the message names, the file is accepted.
func TestRemedies(t *testing.T) {
	dir := newFolder(t)
	path := filepath.Join(dir, "it's")
	for mode, want := range map[fs.FileMode]string{
		0o600: "", 0o400: "", 0o640: "", 0o440: "",
		0o644: "mode 0644, others can read it; run chmod 600 ",
		0o604: "mode 0604, others can read it; run chmod 600 ",
		0o602: "(mode 0602, others can write to it; run chmod o-w ",
		0o666: "(mode 0666, ",
	} {
		write(t, path, "text", mode, os.Geteuid(), os.Getegid())
		text, _, err := secret.Read(path)
		if want == "" {
			if err != nil || string(text) != "text" {
				t.Errorf("%o: %q %v", mode, text, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) || text != nil {
			t.Errorf("%o: %q %v", mode, text, err)
		}
		for range 2 { // a file that others may read and write has two faults
			if err != nil {
				obey(t, strings.TrimSuffix(err.Error(), ")"))
				text, _, err = secret.Read(path)
			}
		}
		if err != nil || string(text) != "text" {
			t.Errorf("%o: %v", mode, err)
		}
		must(t, os.Remove(path))
	}
	write(t, path, "text", 0o644, os.Geteuid(), os.Getegid())
	if text, _, err := (Rule{Max: 4}).Read(path); err != nil || string(text) != "text" {
		t.Errorf("a public file: %q %v", text, err)
	}
	if _, _, err := (Rule{Max: 3}).Read(path); err == nil {
		t.Error("a file that is too large")
	}
	must(t, os.Remove(path), syscall.Mkfifo(path, 0o600))
	for _, path := range []string{dir, path} {
		if _, _, err := secret.Read(path); !errors.Is(err, boundedfile.ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, _, err := secret.Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if Stamp(filepath.Join(dir, "none")) != (folder.Stamp{}) {
		t.Error("a stamp of nothing")
	}
}

// H-245: the file that was read is the one that was checked, even while another process replaces it.
func TestExchangedFile(t *testing.T) {
	dir := newFolder(t)
	path, next := filepath.Join(dir, "file"), filepath.Join(dir, "next")
	write(t, path, "good", 0o600, os.Geteuid(), os.Getegid())
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			text, mode := "good", fs.FileMode(0o600)
			if i%2 == 0 {
				text, mode = "bad", 0o666
			}
			if os.WriteFile(next, []byte(text), mode) != nil || os.Chmod(next, mode) != nil || os.Rename(next, path) != nil {
				return
			}
		}
	}()
	read := 0
	for range 2000 {
		text, _, err := secret.Read(path)
		if err == nil {
			read++
			if string(text) != "good" {
				t.Errorf("%q passed", text)
			}
		}
	}
	stop()
	<-done
	t.Log(read, "were read")
}

// H-245: files as Kubernetes and systemd provide them to a server that is not root.
func TestMounts(t *testing.T) {
	needsRoot(t)
	dir := newFolder(t)
	volume := filepath.Join(dir, "volume") // like kubelet's volume for a Secret with fsGroup
	must(t, os.MkdirAll(volume+"/..2026", 0o755), os.Chmod(volume, 0o777|fs.ModeSticky|fs.ModeSetgid),
		os.Chown(volume, 0, service), os.Symlink("..2026", volume+"/..data"),
		os.Symlink("..data/key", volume+"/key"))
	for name, tc := range map[string]struct {
		mode     fs.FileMode
		uid, gid int
		want     string
	}{
		"a Secret, 0440":                {0o440, 0, service, "text<nil>"},
		"a Secret, 0640":                {0o640, 0, service, "text<nil>"},
		"a credential of systemd, 0400": {0o400, service, service, "text<nil>"},
		"a credential of systemd, 0440": {0o440, 0, service, "text<nil>"},
		"a Secret without a mode": {0o644, 0, 0,
			"mode 0644, others can read it; run chgrp 65532 PATH && chmod 640 PATH"},
		"a file of root":           {0o600, 0, 0, "we may not read it; run chgrp 65532 PATH && chmod 640 PATH"},
		"its own file, unreadable": {0, service, service, "we may not read it; run chmod 600 PATH"},
		"a file of another user":   {0o640, 1234, service, "owned by uid 1234"},
		"another user's, readable": {0o644, 1234, 1234, "; run chown -h 65532 REAL"},
	} {
		t.Run(name, func(t *testing.T) {
			path, real := volume+"/key", volume+"/..2026/key"
			os.Remove(real)
			write(t, real, "text", tc.mode, tc.uid, tc.gid)
			got := readAs(t, service, path)
			want := strings.NewReplacer("PATH", path, "REAL", real).Replace(tc.want)
			if !strings.Contains(got, want) {
				t.Errorf("%s, not %s", got, want)
			}
			for range 2 {
				if got != "text<nil>" {
					obey(t, got)
					got = readAs(t, service, path)
				}
			}
			if got != "text<nil>" {
				t.Errorf("after the commands: %s", got)
			}
		})
	}
}

// H-245: root reads and rewrites another user's file for this user. Root accepts no such file for its own decisions.
func TestRootActsForOthers(t *testing.T) {
	needsRoot(t)
	dir := newFolder(t)
	theirs := filepath.Join(dir, "theirs")
	path := filepath.Join(theirs, "file")
	must(t, os.Mkdir(theirs, 0o750), os.Chown(theirs, service, service))
	write(t, path, "text", 0o640, service, 1234)
	editor := Rule{Max: 100, Secret: true, AnyOwner: true}
	if text, _, err := editor.Read(path); err != nil || string(text) != "text" {
		t.Errorf("%q %v", text, err)
	}
	_, _, err := secret.Read(path)
	if want := "; run chown -h 0 " + theirs; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("a server of root: %v", err)
	}
	change := func(userfile.File) ([]byte, error) { return []byte("new"), nil }
	edit := func(path string) error { return editor.Edit(t.Context(), path, time.Minute, change) }
	check := func(path string, mode fs.FileMode, gid uint32) {
		t.Helper()
		info, err := os.Stat(path)
		must(t, err)
		if st := stat(info); info.Mode() != mode || st.Uid != service || st.Gid != gid {
			t.Errorf("%s has mode %v, owner %d and group %d", path, info.Mode(), st.Uid, st.Gid)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "new" {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}
	must(t, edit(path))
	check(path, 0o640, 1234)
	must(t, edit(filepath.Join(theirs, "another")))
	check(filepath.Join(theirs, "another"), 0o600, service)

	// The other user could put any file at these paths.
	ours, link, hard := filepath.Join(dir, "ours"), filepath.Join(theirs, "link"), filepath.Join(theirs, "hard")
	write(t, ours, "ours", 0o600, 0, 0)
	write(t, filepath.Join(theirs, "roots"), "ours", 0o600, 0, 0)
	write(t, filepath.Join(theirs, "others"), "ours", 0o600, 1234, 1234)
	must(t, os.Symlink(ours, link), os.Lchown(link, service, service), os.Link(ours, hard))
	for _, path := range []string{link, hard, filepath.Join(theirs, "roots"), filepath.Join(theirs, "others")} {
		if text, _, err := editor.Read(path); err == nil {
			t.Errorf("%s is read: %s", path, text)
		}
		if err := edit(path); err == nil {
			t.Errorf("%s is edited", path)
		}
	}
	if text, err := os.ReadFile(ours); err != nil || string(text) != "ours" {
		t.Errorf("%q %v", text, err)
	}
}
