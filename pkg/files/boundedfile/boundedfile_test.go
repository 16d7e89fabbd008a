package boundedfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func put(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// CLI-119: a file is read up to its limit, and not beyond.
func TestLimit(t *testing.T) {
	const max = 1000
	for size, fits := range map[int]bool{0: true, max - 1: true, max: true, max + 1: false, 10 * max: false} {
		text := strings.Repeat("x", size)
		file := put(t, text)
		got, err := Read(file, max)
		checkRead(t, got, err, text, fits)
		got, err = ReadStream(t.Context(), strings.NewReader(text), max)
		checkRead(t, got, err, text, fits)
	}
}

func checkRead(t *testing.T, got []byte, err error, text string, fits bool) {
	t.Helper()
	var large *TooLargeError
	switch {
	case fits && (err != nil || string(got) != text):
		t.Errorf("%d bytes: %d read, %v", len(text), len(got), err)
	case !fits && (!errors.As(err, &large) || large.Max != 1000 || got != nil):
		t.Errorf("%d bytes: %d read, %v", len(text), len(got), err)
	}
}

// CLI-119: reading an endless stream stops at the limit.
func TestEndless(t *testing.T) {
	stream := &endless{}
	var large *TooLargeError
	if _, err := ReadStream(t.Context(), stream, 1<<20); !errors.As(err, &large) || stream.read > 1<<22 {
		t.Errorf("%d bytes read, %v", stream.read, err)
	}
}

type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	clear(p)
	e.read += len(p)
	return len(p), nil
}

// CLI-119: a directory is an error. A link to a file is followed.
func TestKinds(t *testing.T) {
	file := put(t, "text")
	link := filepath.Join(filepath.Dir(file), "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(link, 10); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := Read(filepath.Dir(file), 10); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	dir, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := OpenIn(dir, "."); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	if _, err := Read(filepath.Join(file, "none"), 10); err == nil {
		t.Error("read")
	}
}

// CLI-119: reading stops when the context ends, and its cause is the error.
func TestGivenUp(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	late := errors.New("late")
	go func() {
		w.Write([]byte("x")) // returns when ReadStream reads
		cancel(late)
	}()
	if text, err := ReadStream(ctx, r, 10); err != late || text != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// An error of the stream is returned unchanged.
func TestBroken(t *testing.T) {
	broken := errors.New("broken")
	in := io.MultiReader(bytes.NewReader([]byte("x")), errReader{broken})
	if _, err := ReadStream(t.Context(), in, 10); err != broken {
		t.Error(err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }
