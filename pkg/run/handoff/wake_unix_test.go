//go:build unix

package handoff

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// fifo creates a FIFO and opens it as scripts do, so that reads do not block.
func fifo(t *testing.T, path string) *os.File {
	t.Helper()
	check(t, unix.Mkfifo(path, 0o600))
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	check(t, err)
	file := os.NewFile(uintptr(fd), path)
	t.Cleanup(func() { file.Close() })
	return file
}

// pending returns the content of a FIFO, at most limit bytes.
func pending(t *testing.T, file *os.File, limit int) string {
	t.Helper()
	buf := make([]byte, limit)
	n, err := unix.Read(int(file.Fd()), buf)
	if err != nil && !errors.Is(err, unix.EAGAIN) {
		t.Fatal(err)
	}
	return string(buf[:max(n, 0)])
}

// T-129: each wake writes one byte, which ends the script's read.
func TestWake(t *testing.T) {
	p, _ := newPool(t)
	d := take(t, p)
	file := fifo(t, d.Input.Path("wake"))
	d.Input.Wake("wake")
	d.Input.Wake("wake")
	if got := pending(t, file, 10); got != "\n\n" {
		t.Errorf("%q", got)
	}
	// A directory with a FIFO in it is clean for the next call, which creates a new one.
	p.Give(d, true)
	next := take(t, p)
	defer p.Give(next, false)
	if what := isNew(next); what != "" {
		t.Errorf("not as new: %s", what)
	}
	next.Input.Wake("wake")
	if got := pending(t, file, 10); got != "" {
		t.Errorf("the next call woke the last one: %q", got)
	}
}

// T-110, T-129: for any type of file in the place of the FIFO, the server neither blocks nor
// writes to it.
func TestWakeHostile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "victim")
	check(t, os.WriteFile(outside, []byte("mine"), 0o600))
	all := plants(outside) // "pipe" is a FIFO without a reader
	stranger := fifo(t, filepath.Join(t.TempDir(), "stranger"))
	all["link to a pipe outside"] = func(path string) error { return os.Symlink(stranger.Name(), path) }
	all["file"] = func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) }
	all["no permission"] = func(path string) error { return unix.Mkfifo(path, 0) }
	all["terminal"] = func(path string) error { return os.Symlink("/dev/ptmx", path) }
	all["nothing"] = func(string) error { return nil }
	for name, plant := range all {
		t.Run(name, func(t *testing.T) {
			p, _ := newPool(t)
			d := take(t, p)
			defer p.Give(d, false)
			path := d.Input.Path("wake")
			check(t, plant(path))
			d.Input.Wake("wake")
			if content, err := os.ReadFile(outside); err != nil || string(content) != "mine" {
				t.Errorf("the file outside: %q, %v", content, err)
			}
			if got := pending(t, stranger, 10); got != "" {
				t.Errorf("the pipe outside: %q", got)
			}
			switch content, err := d.Input.Read("wake", 10); {
			case name == "file" && string(content) != "mine":
				t.Errorf("the file was written to: %q, %v", content, err)
			case name == "nothing" && err == nil:
				t.Error("it made something")
			}
		})
	}
}

// A FIFO that is full or has no reader does not block or end the server.
func TestWakeFullAndDeserted(t *testing.T) {
	p, _ := newPool(t)
	d := take(t, p)
	defer p.Give(d, false)
	file := fifo(t, d.Input.Path("wake"))
	full := 0
	for block := make([]byte, 4096); ; {
		n, err := unix.Write(int(file.Fd()), block)
		if err != nil {
			if block = block[:len(block)/2]; len(block) == 0 {
				break
			}
			continue
		}
		full += n
	}
	d.Input.Wake("wake")
	if got := pending(t, file, full+1); len(got) != full {
		t.Errorf("%d bytes of %d", len(got), full)
	}
	file.Close()
	d.Input.Wake("wake")
}

// T-129: the waiting shell continues.
func TestWakeShell(t *testing.T) {
	p, _ := newPool(t)
	d := take(t, p)
	defer p.Give(d, false)
	check(t, unix.Mkfifo(d.Input.Path("wake"), 0o600))
	cmd := exec.Command("sh", "-c", `{ echo ready && read -r byte && echo woken; } <>"$1"`, "sh", d.Input.Path("wake"))
	pipe, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	out := bufio.NewReader(pipe)
	for _, want := range []string{"ready\n", "woken\n"} {
		if line, err := out.ReadString('\n'); line != want {
			t.Fatalf("%q, %v", line, err)
		}
		d.Input.Wake("wake")
	}
	check(t, cmd.Wait())
}
