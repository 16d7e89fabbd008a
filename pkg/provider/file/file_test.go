//go:build unix

package file

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/provider"
)

// While a file is read, another goroutine replaces it by links that lead out of the roots. The result is the file or an
// error (RES-82, RES-83).
func TestSwappedWhileReading(t *testing.T) {
	dir := place(t)
	p := reader(dir, "{T}/root")
	file, sub := filepath.Join(dir, "root/swap"), filepath.Join(dir, "root/swapdir")
	spare := filepath.Join(dir, "root/spare")
	write := func(name, content string) {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Error(err)
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			write(spare, "inside")
			os.Rename(spare, file)
			os.Symlink("../secret.txt", spare)
			os.Rename(spare, file)
			os.Symlink(filepath.Join(dir, "secret.txt"), spare)
			os.Rename(spare, file)
			os.Remove(sub)
			os.Symlink("../root1", sub)
			os.Remove(sub)
			os.Mkdir(sub, 0o755)
			write(filepath.Join(sub, "s.txt"), "inside")
			os.Remove(filepath.Join(sub, "s.txt"))
		}
	}()
	seen := map[string]int{}
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		for _, uri := range []string{"file://" + file, "file://" + sub + "/s.txt"} {
			got := outcome(t, p, uri)
			seen[got]++
			switch got {
			case "inside", "", "!2", "!3":
			default:
				t.Fatalf("%s: %q", uri, got)
			}
		}
	}
	close(stop)
	<-stopped
	if seen["inside"] == 0 || seen["!2"] == 0 {
		t.Errorf("the race was none: %v", seen)
	}
}

// A file that could block the reader is an error, and is not opened. Opening a FIFO would unblock its writer (RES-82).
func TestFIFOIsNotOpened(t *testing.T) {
	dir := place(t)
	p := reader(dir, "{T}/root")
	fifo := filepath.Join(dir, "root/fifo")
	for range 50 {
		if got := outcome(t, p, "file://"+fifo); got != "!3" {
			t.Fatal(got)
		}
		if fd, err := unix.Open(fifo, unix.O_WRONLY|unix.O_NONBLOCK, 0); !errors.Is(err, unix.ENXIO) {
			unix.Close(fd)
			t.Fatalf("somebody has it open: %v", err)
		}
	}
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(socket)
	t.Chdir(filepath.Join(dir, "root")) // the path of a socket has a short limit
	if err := unix.Bind(socket, &unix.SockaddrUnix{Name: "sock"}); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, p, "file://"+dir+"/root/sock"); got != "!3" {
		t.Error(got)
	}
	if got := outcome(t, reader(dir, "/dev"), "file:///dev/null"); got != "!3" {
		t.Error("a device:", got)
	}
}

// RES-46: Read returns at most limit bytes, and needs little more memory.
func TestLimit(t *testing.T) {
	dir := place(t)
	p := reader(dir, "{T}/root")
	file := filepath.Join(dir, "root/big")
	for size, ok := range map[int]bool{0: true, 1: true, 999: true, 1000: true, 1001: false, 5000: false} {
		want := bytes.Repeat([]byte("x"), size)
		os.WriteFile(file, want, 0o644)
		got, err := p.Read(t.Context(), "file://"+file, 1000)
		var f *provider.Failure
		switch {
		case ok && (err != nil || !bytes.Equal(got, want)):
			t.Errorf("%d: %d bytes, %v", size, len(got), err)
		case !ok && (!errors.As(err, &f) || *f != *provider.OverLimit(1000)):
			t.Errorf("%d: %v", size, err)
		}
	}
	os.Truncate(file, 1<<40) // a hole: no blocks on disk
	if _, err := p.Read(t.Context(), "file://"+file, 1<<20); err == nil {
		t.Error("a tebibyte was read")
	}
	// Files of /proc report size 0 and have content.
	if got, err := reader(dir, "/proc/self").Read(t.Context(), "file:///proc/self/status", limit); err == nil &&
		!strings.HasPrefix(string(got), "Name:") {
		t.Errorf("%q", got)
	}
}

func TestUnreadable(t *testing.T) {
	dir := place(t)
	p := reader(dir, "{T}/root")
	os.Chmod(filepath.Join(dir, "root/f.txt"), 0)
	os.Chmod(filepath.Join(dir, "root/sub"), 0)
	defer os.Chmod(filepath.Join(dir, "root/sub"), 0o755)
	asRoot := os.Geteuid() == 0 // root can read everything
	for _, name := range []string{"f.txt", "sub/g.txt"} {
		got := outcome(t, p, "file://"+dir+"/root/"+name)
		if asRoot == (got == "!3") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestCancelled(t *testing.T) {
	dir := place(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	os.WriteFile(filepath.Join(dir, "root/big"), make([]byte, 1000), 0o644)
	if _, err := reader(dir, "{T}/root").Read(ctx, "file://"+dir+"/root/big", limit); !errors.Is(err, why) {
		t.Error(err)
	}
}

// RES-144: equal stamps mean equal content. A recent change has no stamp.
func TestStamp(t *testing.T) {
	dir := place(t)
	p := reader(dir, "{T}/root")
	file := filepath.Join(dir, "root/with space.txt")
	uri := "file://" + dir + "/root/with%20space.txt"
	if _, ok := p.Stamp(uri); ok {
		t.Error("a file that changed a moment ago has a stamp")
	}
	settle := func() provider.Stamp {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if s, ok := p.Stamp(uri); ok {
				return s
			}
		}
		t.Fatal("it never settles")
		return provider.Stamp{}
	}
	first := settle()
	if s, ok := p.Stamp(uri); !ok || s != first {
		t.Errorf("%v, then %v", first, s)
	}
	info, _ := os.Stat(file)
	os.WriteFile(file, []byte("ecaps"), 0o644) // same size and time as before
	os.Chtimes(file, info.ModTime(), info.ModTime())
	if s, ok := p.Stamp(uri); ok && s == first {
		t.Error("another content, the same stamp")
	}
	for _, none := range []string{"", "file://%00", "file://" + dir + "/root", "file://" + dir + "/root/none",
		"file://" + dir + "/root/empty", "file://" + dir + "/root/fifo", uri + "?x"} {
		if _, ok := p.Stamp(none); ok {
			t.Errorf("%q has a stamp", none)
		}
	}
}

func FuzzRead(f *testing.F) {
	dir := place(f)
	p := reader(dir, "{T}/root")
	for _, uris := range hostile {
		for _, uri := range uris {
			f.Add(uri)
		}
	}
	f.Fuzz(func(t *testing.T, uri string) {
		outcome(t, p, strings.ReplaceAll(uri, "{T}", dir))
		list, plain, err := names(uri, dir)
		if err != nil {
			return
		}
		if plain >= len(list) {
			t.Fatalf("%q: %d of %d", uri, plain, len(list))
		}
		for _, name := range list {
			if !filepath.IsAbs(name) || filepath.Clean(name) != name || strings.ContainsRune(name, 0) {
				t.Errorf("%q means %q", uri, name)
			}
		}
	})
}
