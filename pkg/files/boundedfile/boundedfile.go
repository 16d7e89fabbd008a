// Package boundedfile reads files that other users may have replaced. It reads only regular
// files, up to a maximum size, and never blocks on a pipe or a device.
package boundedfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"mcp-bash/pkg/files/fsys"
)

// ErrNotRegular is the error for a directory, a pipe, a device or a socket.
var ErrNotRegular = errors.New("not a regular file")

// A TooLargeError means that a text is longer than the limit Max, in bytes.
type TooLargeError struct{ Max int }

func (e *TooLargeError) Error() string { return fmt.Sprintf("larger than %d bytes", e.Max) }

// Open opens a regular file for reading. It does not open pipes and devices, because opening them can have effects. The
// error may be [ErrNotRegular].
func Open(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	return checkRegular(os.OpenFile(path, os.O_RDONLY|NonBlock, 0))
}

// OpenIn is [Open] for a file below a directory.
func OpenIn(dir *os.Root, name string) (*os.File, error) {
	return checkRegular(dir.OpenFile(name, os.O_RDONLY|NonBlock, 0))
}

// OpenBelow opens a regular file through a directory above it. No symbolic link can lead out of the
// directory, even one that is created during the call. root may be the file itself.
func OpenBelow(root, path string) (*os.File, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	if rel == "." {
		if root, rel = filepath.Dir(path), filepath.Base(path); root == path {
			return nil, fs.ErrInvalid // the root directory of the system
		}
	}
	if runtime.GOOS == "windows" && strings.Contains(rel, ":") {
		return nil, fs.ErrNotExist // an alternate data stream
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if info, err := dir.Stat(rel); err == nil && !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	return OpenIn(dir, rel)
}

func checkRegular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, Unreadable(err)
	}
	var info fs.FileInfo
	if info, err = f.Stat(); err == nil && info.Mode().IsRegular() {
		return f, nil
	}
	f.Close()
	return nil, ErrNotRegular
}

// Unreadable returns an error for a file that cannot be read, with the cause of err and without the path.
func Unreadable(err error) error { return fmt.Errorf("cannot be read: %w", fsys.Cause(err)) }

// ReadHead reads the first max bytes of a regular file.
func ReadHead(path string, max int) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, int64(max)))
	if err != nil {
		return nil, Unreadable(err)
	}
	return head, nil
}

// Read reads all of a regular file, at most max bytes. The error may be [ErrNotRegular] or a [*TooLargeError].
func Read(path string, max int) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, max)
}

// ReadIn is [Read] for a file below a directory.
func ReadIn(dir *os.Root, name string, max int) ([]byte, error) {
	f, err := OpenIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, max)
}

// ReadAll reads all of an open file, at most max bytes. It does not rely on the size of the file,
// which can change. The error can be a [*TooLargeError].
func ReadAll(f *os.File, max int) ([]byte, error) {
	if info, err := f.Stat(); err == nil && info.Size() > int64(max) {
		return nil, &TooLargeError{max}
	}
	text, err := readAll(f, max)
	if _, large := errors.AsType[*TooLargeError](err); err != nil && !large {
		err = Unreadable(err)
	}
	return text, err
}

func readAll(r io.Reader, max int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(max)+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > max:
		return nil, &TooLargeError{max}
	}
	return text, nil
}

// ReadStream reads all of a stream, at most max bytes, until ctx ends. The error may be a [*TooLargeError] or the
// cause of the context. In the second case, a goroutine may still read the stream, so the caller must not use it
// again.
func ReadStream(ctx context.Context, r io.Reader, max int) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := readAll(r, max)
		done <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case all := <-done:
		return all.text, all.err
	}
}
