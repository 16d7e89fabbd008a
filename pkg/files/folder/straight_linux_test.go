package folder

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/test/refuse"
)

// CF-13: no link is followed, even if a filter refuses openat2.
func TestOpenStraight(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, err := range []error{
		os.MkdirAll("a/b", 0o755), os.WriteFile("a/b/file", []byte("x"), 0o600), os.Symlink("file", "a/b/last"),
		os.Symlink("b", "a/middle"), os.Symlink(dir, "a/absolute"), os.Symlink("nowhere", "dangling"),
		unix.Mkfifo("fifo", 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]error{
		"a/b/file": nil, "./a/b/../b//file": nil, "a/b/": nil, "a/b/.": nil, ".": nil, "..": nil, "a": nil, "fifo": nil,
		dir + "/a/b/file": nil, "/": nil, "//": nil, "/..": nil, "/proc/self/fd": errLink, "/proc/self/exe": errLink,
		"a/b/last": errLink, "a/middle": errLink, "a/middle/file": errLink, "a/middle/": errLink, "dangling": errLink,
		"a/absolute/a/b/file": errLink, dir + "/a/absolute/a": errLink, "a/middle/../b/file": errLink,
		"a/b/none": unix.ENOENT, "none/file": unix.ENOENT, "": unix.ENOENT, "a/b/file/": unix.ENOTDIR,
		"a/b/file/.": unix.ENOTDIR, "a/b/file/x": unix.ENOTDIR,
	} {
		for _, flags := range []int{unix.O_PATH, unix.O_RDONLY | unix.O_NONBLOCK} {
			fd, err := OpenStraight(path, flags)
			var opened, named unix.Stat_t
			if err == nil {
				if err := errors.Join(unix.Fstat(fd, &opened), unix.Stat(path, &named)); err != nil {
					t.Error(err)
				}
				if got, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || got != unix.FD_CLOEXEC {
					t.Errorf("%q: descriptor flags %d, %v", path, got, err)
				}
				unix.Close(fd)
			}
			isLink := errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR)
			if want == errLink && !isLink || want != errLink && err != want || opened.Ino != named.Ino {
				t.Errorf("%q with flags %#x: %v, want %v", path, flags, err, want)
			}
		}
	}
	if !refuse.Rerunning() {
		for _, with := range refuse.Errors {
			refuse.Rerun(t, "^TestOpenStraight$", with, unix.SYS_OPENAT2)
		}
	}
}

var errLink = errors.New("a link")

// No descriptor stays open.
func TestOpenStraightCloses(t *testing.T) {
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := count()
	for _, path := range []string{"/usr/bin/env", "/none", "/proc/self/fd/0", "/proc/self/exe", "/"} {
		for range 10 {
			for _, open := range []func(string, int) (int, error){OpenStraight, openStepwise} {
				if fd, err := open(path, unix.O_PATH); err == nil {
					unix.Close(fd)
				}
			}
		}
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors, then %d", before, after)
	}
}

// OpenStraight and openStepwise have the same results.
func FuzzOpenStraight(f *testing.F) {
	for _, path := range []string{"/", "/proc/self/fd", "/usr//lib/.", "..", "a/b", "\x00", "/etc/passwd/", "/x/.."} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if len(path) > 1000 { // the limits of the kernel differ
			return
		}
		fd, err := OpenStraight(path, unix.O_PATH)
		other, otherErr := openStepwise(path, unix.O_PATH)
		if (err == nil) != (otherErr == nil) {
			t.Errorf("%q: %v, stepwise %v", path, err, otherErr)
		}
		for _, fd := range []int{fd, other} {
			if fd >= 0 {
				unix.Close(fd)
			}
		}
	})
}
