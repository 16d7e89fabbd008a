package filecache

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/files/folder"
)

// place returns the absolute path of a name in a temporary directory without symbolic links.
func place(t *testing.T) func(name string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, &unix.OpenHow{Flags: unix.O_RDONLY})
	if err != nil {
		t.Skipf("left out: openat2: %v", err)
	}
	defer unix.Close(fd)
	if !isLocal(fd) {
		t.Skip("left out: the temporary directory is on an unknown file system")
	}
	return func(name string) string { return filepath.Join(dir, name) }
}

func write(t *testing.T, file, text string) {
	t.Helper()
	os.MkdirAll(filepath.Dir(file), 0o755)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// later returns a cache whose clock is ahead, so that each new file counts as unchanged for a long time.
func later() *Cache {
	c := New()
	began := time.Now().Add(time.Minute)
	c.now = func() time.Time { return began }
	return c
}

// CLI-119: Read returns regular files up to the limit, and follows no link.
func TestRead(t *testing.T) {
	at := place(t)
	for name, text := range map[string]string{
		"a/file": "text", "a/empty": "", "a/long": strings.Repeat("x", 1001), "a/large": strings.Repeat("x", mostRead+1),
		"secret": "no",
	} {
		write(t, at(name), text)
	}
	for link, target := range map[string]string{"a/link": "file", "a/out": "../secret", "b": "a", "a/self": "."} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(at("a/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Cache{nil, later()} {
		for _, name := range []string{"a/empty", "a/long", "a/link", "a/out", "b/file", "a/self/file", "a/pipe", "a", "none",
			"a/file/x", "a/large"} {
			if text, ok := c.Read(at(name), 1000); ok {
				t.Errorf("%s: %q", name, text)
			}
		}
		if text, ok := c.Read(at("a/large"), 1<<30); ok {
			t.Errorf("%d bytes", len(text))
		}
		for _, name := range []string{"/dev/zero", "/dev/null", "/proc/self/status"} {
			if _, ok := c.Read(name, 1000); ok {
				t.Error(name)
			}
		}
		for range 2 {
			if text, ok := c.Read(at("a/file"), 4); !ok || string(text) != "text" {
				t.Errorf("%q %v", text, ok)
			}
			if text, ok := c.Read(at("a/file"), 3); ok {
				t.Errorf("%q is longer than 3 bytes", text)
			}
		}
	}
}

// RES-86: a change is detected at once, even if the size is the same.
func TestFresh(t *testing.T) {
	at, c := place(t), New()
	for i := range 1000 {
		want := fmt.Sprintf("%04d", i)
		write(t, at("file"), want)
		for range 2 {
			if text, ok := c.Read(at("file"), 10); !ok || string(text) != want {
				t.Fatalf("%q %v, not %q", text, ok, want)
			}
		}
	}
}

// RES-86: a text is not kept if another change could come within the same tick of the file system's clock.
func TestUnsettled(t *testing.T) {
	at, c := place(t), New()
	write(t, at("file"), "text")
	changed := time.Unix(0, folder.StampOfPath(at("file")).Ctime)
	for age, want := range map[time.Duration]int{0: 0, 90 * time.Millisecond: 0, 3 * time.Second: 1} {
		clear(c.texts)
		c.now = func() time.Time { return changed.Add(age) }
		if _, ok := c.Read(at("file"), 10); !ok || len(c.texts) != want {
			t.Errorf("%v after the change: %d texts kept, not %d", age, len(c.texts), want)
		}
	}
}

// RES-86: an unchanged file is read again only after keepFor.
func TestKept(t *testing.T) {
	at, c := place(t), later()
	write(t, at("file"), "text")
	first, ok := c.Read(at("file"), 10)
	second, again := c.Read(at("file"), 10)
	if !ok || !again || &first[0] != &second[0] {
		t.Error("the file was read twice")
	}
	file := at("file")
	if n := testing.AllocsPerRun(100, func() { c.Read(file, 10) }); n > 1 { // the system call's path
		t.Errorf("%v allocations", n)
	}
	now := c.now().Add(keepFor)
	c.now = func() time.Time { return now }
	if third, ok := c.Read(at("file"), 10); !ok || &third[0] == &first[0] {
		t.Errorf("the file was not read after %v", keepFor)
	}
}

// RES-86: a kept text is not returned if its path now names another file.
func TestReplaced(t *testing.T) {
	for name, replace := range map[string]func(at func(string) string) error{
		"removed": func(at func(string) string) error { return os.Remove(at("a/file")) },
		"link": func(at func(string) string) error {
			return cmp.Or(os.Rename(at("a/file"), at("a/other")), os.Symlink("other", at("a/file")))
		},
		"link above": func(at func(string) string) error {
			return cmp.Or(os.Rename(at("a"), at("b")), os.Symlink("c", at("a")), os.Mkdir(at("c"), 0o755),
				os.WriteFile(at("c/file"), []byte("TEXT"), 0o644))
		},
		"pipe": func(at func(string) string) error {
			return cmp.Or(os.Remove(at("a/file")), unix.Mkfifo(at("a/file"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			at, c := place(t), later()
			write(t, at("a/file"), "text")
			if _, ok := c.Read(at("a/file"), 10); !ok {
				t.Fatal("not read")
			}
			if err := replace(at); err != nil {
				t.Fatal(err)
			}
			if text, ok := c.Read(at("a/file"), 10); ok {
				t.Errorf("%q", text)
			}
		})
	}
	at, c := place(t), later()
	write(t, at("file"), "text")
	write(t, at("new"), "TEXT")
	c.Read(at("file"), 10)
	if err := os.Rename(at("new"), at("file")); err != nil {
		t.Fatal(err)
	}
	if text, ok := c.Read(at("file"), 10); !ok || string(text) != "TEXT" {
		t.Errorf("%q %v", text, ok)
	}
}

// RES-86: a link that replaced the folder of a kept text is detected after keepFor.
func TestLinkToSameFile(t *testing.T) {
	at, c := place(t), later()
	write(t, at("a/file"), "text")
	c.Read(at("a/file"), 10)
	if err := cmp.Or(os.Rename(at("a"), at("b")), os.Symlink("b", at("a"))); err != nil {
		t.Fatal(err)
	}
	now := c.now().Add(keepFor - 1)
	c.now = func() time.Time { return now }
	if text, ok := c.Read(at("a/file"), 10); !ok || string(text) != "text" {
		t.Errorf("%q %v", text, ok)
	}
	now = now.Add(1)
	if text, ok := c.Read(at("a/file"), 10); ok {
		t.Errorf("%q through a link", text)
	}
}

// The size of a kept text is limited to mostKept bytes, and the size of all texts to mostBytes.
func TestBounds(t *testing.T) {
	at, c := place(t), later()
	for _, size := range []int{mostKept, mostKept + 1} {
		write(t, at("file"), strings.Repeat("x", size))
		c.Read(at("file"), mostRead)
		if kept := len(c.texts) == 1; kept != (size == mostKept) {
			t.Errorf("%d bytes: kept %v", size, kept)
		}
		clear(c.texts)
		c.bytes = 0
	}
	for i := range 2 * mostBytes / mostKept {
		file := at(fmt.Sprint(i))
		write(t, file, strings.Repeat("x", mostKept))
		for range 2 {
			c.Read(file, mostRead)
			sum := 0
			for path, k := range c.texts {
				sum += len(path) + len(k.text)
			}
			if sum != c.bytes || sum > mostBytes || c.texts[file].text == nil {
				t.Fatalf("%d bytes, counted as %d", sum, c.bytes)
			}
		}
	}
}

// Change times are used only on file systems of this kernel.
func TestLocal(t *testing.T) {
	fd, err := unix.Open("/proc/self/status", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if isLocal(fd) {
		t.Error("/proc counts as a local file system")
	}
}
