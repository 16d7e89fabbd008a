//go:build unix

package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// dir returns a new folder with a short path.
func dir(t *testing.T) string {
	t.Helper()
	d, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(d) })
	return d
}

func listen(t *testing.T, path string) *Listener {
	t.Helper()
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// answers reports whether a server listens at a path.
func answers(path string) bool {
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// only checks that a folder has these files alone.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != len(names) {
		t.Errorf("%v %v, not %q", list, err, names)
	}
	for i, e := range list {
		if i < len(names) && e.Name() != names[i] {
			t.Errorf("%s, not %s", e.Name(), names[i])
		}
	}
}

// H-3: the file has mode 0600, and is the only one. It is removed at the end.
func TestListen(t *testing.T) {
	d := dir(t)
	path := filepath.Join(d, "s")
	l := listen(t, path)
	if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Error(info, err)
	}
	if !answers(path) {
		t.Error("nobody listens")
	}
	only(t, d, "s")
	l.Close()
	only(t, d)
	l.Close()
}

// H-3: a server removes its own file only. Another server may have put its file at the same path meanwhile.
func TestRemoveOwnOnly(t *testing.T) {
	path := filepath.Join(dir(t), "s")
	for range 20 { // a file system may use the number of a removed file again
		first := listen(t, path)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		second := listen(t, path)
		first.Close()
		if !answers(path) {
			t.Fatal("the end of a server removed the file of another one")
		}
		second.Close()
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	l := listen(t, path)
	os.Remove(path)
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Error("a file that is no socket was removed")
	}
}

// H-3: the file is removed in the folder where it was made, whatever its path means later.
func TestMovedFolder(t *testing.T) {
	d := dir(t)
	os.Mkdir(filepath.Join(d, "a"), 0o700)
	first := listen(t, filepath.Join(d, "a", "s"))
	os.Rename(filepath.Join(d, "a"), filepath.Join(d, "b"))
	os.Mkdir(filepath.Join(d, "a"), 0o700)
	listen(t, filepath.Join(d, "a", "s"))
	first.Close()
	only(t, filepath.Join(d, "b"))
	if !answers(filepath.Join(d, "a", "s")) {
		t.Error("the file of another server was removed")
	}
}

// H-3: a dead file is replaced, and every other file stays.
func TestReplace(t *testing.T) {
	d := dir(t)
	path := filepath.Join(d, "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_, err = Listen(path)
	var inUse *InUseError
	if !errors.As(err, &inUse) {
		t.Errorf("a live socket: %v", err)
	}
	if want := fmt.Sprintf("process %d (", os.Getpid()); shortcut != "" && !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%v\nwant %s", err, want)
	}
	dead.Close()
	listen(t, path)
	if _, err = Listen(path); !errors.As(err, &inUse) {
		t.Errorf("our own live socket: %v", err)
	}

	file := filepath.Join(d, "file")
	os.WriteFile(file, []byte("x"), 0o600)
	link := filepath.Join(d, "link")
	os.Symlink("s", link)
	for _, other := range []string{file, link, d} {
		if _, err := Listen(other); err == nil || !strings.Contains(err.Error(), "not a socket") {
			t.Errorf("%s: %v", other, err)
		}
	}
	only(t, d, "file", "link", "s")
}

// H-3: a server whose queue of connections is full, and a socket of another type, are alive.
func TestBusyServer(t *testing.T) {
	d := dir(t)
	full := filepath.Join(d, "full")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: full}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	for range 10 { // as many as the queue takes
		c, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(c)
		syscall.SetNonblock(c, true)
		syscall.Connect(c, &syscall.SockaddrUnix{Name: full})
	}
	datagrams := filepath.Join(d, "datagrams")
	other, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: datagrams, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, path := range []string{full, datagrams} {
		if shortcut == "" && path == full { // other systems report a full queue as they report an ended server
			continue
		}
		var inUse *InUseError
		if l, err := Listen(path); !errors.As(err, &inUse) {
			if t.Errorf("%s was replaced: %v", path, err); err == nil {
				l.Close()
			}
		}
	}
}

// H-3: of servers that start at the same time, one gets the path.
func TestStartAtOnce(t *testing.T) {
	d := dir(t)
	path := filepath.Join(d, "s")
	for range 10 {
		var all sync.WaitGroup
		var mu sync.Mutex
		var got []*Listener
		for range 8 {
			all.Go(func() {
				l, err := Listen(path)
				mu.Lock()
				defer mu.Unlock()
				var inUse *InUseError
				if err == nil {
					got = append(got, l)
				} else if !errors.As(err, &inUse) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(got) != 1 || !answers(path) {
			t.Fatalf("%d servers have the path", len(got))
		}
		only(t, d, "s")
		got[0].Close()
	}
}

// H-1: paths that cannot have a socket are errors, which name the limit and what to do.
func TestPaths(t *testing.T) {
	d := dir(t)
	longest := filepath.Join(d, strings.Repeat("x", maxPath-len(d)-1))
	short := filepath.Join(d, strings.Repeat("d", maxPath-len(d)-3))
	os.Mkdir(short, 0o700)
	if shortcut != "" { // elsewhere, the path of the file before it is moved can be too long
		for _, path := range []string{longest, filepath.Join(short, "s")} {
			if l, err := Listen(path); err != nil || !answers(path) {
				t.Errorf("%d bytes: %v", len(path), err)
			} else {
				l.Close()
			}
		}
	}
	var tooLong *TooLongError
	if _, err := Listen(longest + "x"); !errors.As(err, &tooLong) ||
		!strings.Contains(err.Error(), fmt.Sprintf("has %d bytes, and the path of a socket has at most %d; choose", maxPath+1,
			maxPath)) {
		t.Error(err)
	}
	for path, want := range map[string]string{
		"": "names no file", d + "/": "names no file", "@name": "./@name", d + "/none/s": "no such file",
		d + "/a\x00b": "invalid",
	} {
		if l, err := Listen(path); err == nil || !strings.Contains(err.Error(), want) {
			if t.Errorf("%q: %v, not %s", path, err, want); err == nil {
				l.Close()
			}
		}
	}
	t.Chdir(d)
	for _, path := range []string{"s", "./@name"} { // relative paths
		if l, err := Listen(path); err != nil || !answers(path) {
			t.Errorf("%s: %v", path, err)
		} else {
			l.Close()
		}
	}
}
