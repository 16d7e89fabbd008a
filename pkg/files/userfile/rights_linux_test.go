package userfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// acl returns an access control list in the kernel's format, for the owner, user 4242, the
// owning group, the mask and others.
func acl(user, mask uint16) []byte {
	list := binary.LittleEndian.AppendUint32(nil, 2)
	for _, entry := range []struct {
		tag, rights uint16
		id          uint32
	}{{1, 6, ^uint32(0)}, {2, user, 4242}, {4, 0, ^uint32(0)}, {16, mask, ^uint32(0)}, {32, 0, ^uint32(0)}} {
		list = binary.LittleEndian.AppendUint16(list, entry.tag)
		list = binary.LittleEndian.AppendUint16(list, entry.rights)
		list = binary.LittleEndian.AppendUint32(list, entry.id)
	}
	return list
}

const aclName = "system.posix_acl_access"

func attribute(t *testing.T, path, name string) []byte {
	t.Helper()
	value := make([]byte, maxValue)
	n, err := unix.Lgetxattr(path, name, value)
	if errors.Is(err, unix.ENODATA) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return value[:n]
}

// CLI-712: the file and its backup keep the access control list and all extended attributes, even those that only root
// can set.
func TestAttributes(t *testing.T) {
	p := newPlace(t)
	p.put("file", "old")
	want := map[string][]byte{aclName: acl(4, 4), "user.note": []byte("mine"), "user.empty": {}}
	if os.Getuid() == 0 {
		want["security.note"], want["trusted.note"] = []byte("s"), []byte("t")
	}
	for name, value := range want {
		if err := unix.Lsetxattr(p.path("file"), name, value, 0); err != nil {
			t.Skipf("%s: %v", name, err)
		}
	}
	mode := func(name string) os.FileMode {
		info, err := os.Stat(p.path(name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	before := mode("file")
	for _, way := range []string{"exchanged", "copied"} {
		if way == "exchanged" {
			if _, err := p.edit("new", nil); err != nil {
				t.Fatal(err)
			}
		} else {
			e, old, fresh := p.begun("newer")
			if err := e.overwrite(fresh, old); err != nil {
				t.Fatal(err)
			}
		}
		for _, file := range []string{"file", backup} {
			for name, value := range want {
				if got := attribute(t, p.path(file), name); !bytes.Equal(got, value) {
					t.Errorf("%s: %s of %s: %q", way, name, file, got)
				}
			}
			if got := mode(file); got != before {
				t.Errorf("%s: mode of %s: %v, before %v", way, file, got, before)
			}
		}
	}
}

// CLI-712: a directory's default access control list is not added to a file that lacked it.
func TestDefaultList(t *testing.T) {
	p := newPlace(t)
	p.put("file", "old")
	if err := unix.Lsetxattr(p.root.Name(), "system.posix_acl_default", acl(6, 6), 0); err != nil {
		t.Skip(err)
	}
	if _, err := p.edit("new", nil); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"file", backup} {
		if got := attribute(t, p.path(file), aclName); got != nil {
			t.Errorf("%s has the list of its directory", file)
		}
	}
	if info, err := os.Stat(p.path("file")); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// CLI-712: changes of the access rights by another program are detected.
func TestRightsChanged(t *testing.T) {
	p := newPlace(t)
	p.put("file", "old")
	e, old, fresh := p.begun("new")
	if err := unix.Lsetxattr(p.path("file"), "user.note", []byte("theirs"), 0); err != nil {
		t.Skip(err)
	}
	if err := e.exchange(fresh, old); err != errChanged || p.read("file") != "old" ||
		attribute(t, p.path("file"), "user.note") == nil {
		t.Errorf("%v, %q", err, p.read("file"))
	}
}

// CLI-712: a file that another program has open for writing is not edited, because the program may write later.
func TestOpenForWriting(t *testing.T) {
	p := newPlace(t)
	p.put("file", "old")
	writer, err := os.OpenFile(p.path("file"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, old, fresh := p.begun("new")
	if err := e.exchange(fresh, old); err != errChanged {
		t.Skipf("no leases here: %v", err)
	}
	if _, err := writer.WriteString("theirs"); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if p.read("file") != "theirs" {
		t.Errorf("%q", p.read("file"))
	}
	reader, err := os.Open(p.path("file"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := p.edit("new", nil); err != nil || p.read("file") != "new" {
		t.Errorf("with a reader: %v", err)
	}
}

// CLI-712: ordinary users cannot change the owner of a file, so they cannot edit another user's file. They also cannot
// edit a file with an attribute that they can read but not set.
func TestOfOthers(t *testing.T) {
	const alice, mallory = 65533, 65534
	if dir := os.Getenv("MCPBASH_TEST_DIR"); dir != "" {
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"theirs": "its owner 65534 and group 65534 cannot be kept",
			"their group": "its owner 65533 and group 65534 cannot be kept",
			"labelled":    "its extended attribute security.note cannot be kept"} {
			_, err := Edit(t.Context(), root, name, Options{Max: 100}, func(File) ([]byte, error) { return []byte("new"), nil })
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	p := newPlace(t)
	program := p.path("program")
	exe, err := os.Executable()
	if err == nil {
		var text []byte
		if text, err = os.ReadFile(exe); err == nil {
			err = os.WriteFile(program, text, 0o755)
		}
	}
	files := p.path("files")
	err = errors.Join(err, os.Mkdir(files, 0o755), os.Chmod(files, 0o777), os.Chmod(p.root.Name(), 0o755),
		os.Chmod(strings.TrimSuffix(p.root.Name(), "/001"), 0o755))
	for name, owner := range map[string][2]int{"theirs": {mallory, mallory}, "their group": {alice, mallory},
		"labelled": {alice, alice}} {
		file := p.path("files/" + name)
		err = errors.Join(err, os.WriteFile(file, []byte("old"), 0o666), os.Chmod(file, 0o666), os.Chown(file, owner[0],
			owner[1]))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Lsetxattr(p.path("files/labelled"), "security.note", []byte("x"), 0); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(program, "-test.run=^TestOfOthers$", "-test.v")
	cmd.Dir = files
	cmd.Env = append(os.Environ(), "MCPBASH_TEST_DIR="+files)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: alice, Gid: alice}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestOfOthers") {
		t.Errorf("%v\n%s", err, out)
	}
	entries, err := os.ReadDir(files)
	if err != nil || len(entries) != 3 {
		t.Errorf("left: %v, %v", entries, err)
	}
	for _, e := range entries {
		if got := p.read("files/" + e.Name()); got != "old" {
			t.Errorf("%s: %q", e.Name(), got)
		}
	}
}

// CLI-712: root keeps the owner.
func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	p := newPlace(t)
	p.put("file", "old")
	if err := os.Chown(p.path("file"), 4242, 4343); err != nil {
		t.Skip(err)
	}
	if _, err := p.edit("new", nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", backup} {
		info, err := os.Stat(p.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != 4242 || stat.Gid != 4343 {
			t.Errorf("%s belongs to %d:%d", name, stat.Uid, stat.Gid)
		}
	}
}
