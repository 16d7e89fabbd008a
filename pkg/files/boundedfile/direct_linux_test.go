package boundedfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// CLI-119: a direct read takes regular files up to the limit, and follows no link.
func TestReadDirect(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if fd, err := unix.Openat2(unix.AT_FDCWD, dir, &unix.OpenHow{Flags: unix.O_PATH}); err != nil {
		t.Skipf("left out: openat2: %v", err)
	} else {
		unix.Close(fd)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"a/file": "text", "a/empty": "", "a/long": strings.Repeat("x", 1001), "a/large": strings.Repeat("x", mostDirect+1),
		"secret": "no",
	} {
		os.MkdirAll(filepath.Dir(at(name)), 0o755)
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"a/link": "file", "a/out": "../secret", "b": "a", "a/self": "."} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(at("a/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/empty", "a/long", "a/link", "a/out", "b/file", "a/self/file", "a/pipe", "a", "none",
		"a/file/x", "a/large"} {
		if text, ok := ReadDirect(at(name), 1000); ok {
			t.Errorf("%s: %q", name, text)
		}
	}
	if text, ok := ReadDirect(at("a/large"), 1<<30); ok {
		t.Errorf("%d bytes", len(text))
	}
	for _, name := range []string{"/dev/zero", "/dev/null", "/proc/self/status"} {
		if _, ok := ReadDirect(name, 1000); ok {
			t.Error(name)
		}
	}
	if text, ok := ReadDirect(at("a/file"), 4); !ok || string(text) != "text" {
		t.Errorf("%q %v", text, ok)
	}
}
