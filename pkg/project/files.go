package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/run/code"
)

// Files of a project are read so that whatever stands in their place does no
// harm: reading never waits, takes no more than it was given room for, and
// follows no link out of the project (P-114).

// maxMetaFile is the size, in bytes, of a file with metadata that is still read.
const maxMetaFile = 1 << 20

// ReadFile reads a regular file of at most max bytes that lies, links resolved,
// in the project or in the same one of its directories that lies elsewhere. The
// error is [fs.ErrNotExist], or says why the file is not read.
func (p *Project) ReadFile(path string, max int) ([]byte, error) {
	return readInside([]string{p.Root, p.home(path)}, path, max)
}

// ReadSetting is [Project.ReadFile] for a file that decides over what runs or what
// may be reached: nobody else can have written it. The error may be an
// [*InsecureError].
func (p *Project) ReadSetting(file code.File, max int) ([]byte, error) {
	text, err := p.ReadFile(file.Path(), max)
	if err == nil {
		err = p.CheckPath(file.Path())
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// readInside is [Project.ReadFile] for a file in one of some directories.
func readInside(dirs []string, path string, max int) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fs.ErrNotExist
	}
	f, err := openInside(dirs, path)
	if err == errOutside { // or so it seems: an absolute link may lead inside
		f, err = openResolved(dirs, path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("a link that leads nowhere")
	case err != nil:
		return nil, err
	}
	defer f.Close()
	return readBounded(f, max)
}

var errOutside = errors.New("outside the project")

// openInside opens a file through the directory it lies in, so that no link, even
// one that changes meanwhile, can lead out.
func openInside(dirs []string, path string) (*os.File, error) {
	for _, dir := range dirs {
		if !inside(dir, path) {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, unreadable(err)
		}
		defer root.Close()
		f, err := OpenRegular(root, strings.TrimPrefix(path[len(dir):], separator))
		if Escapes(err) {
			return nil, errOutside
		}
		return f, err
	}
	return nil, errOutside
}

// openResolved is openInside where only the physical path tells.
func openResolved(dirs []string, path string) (*os.File, error) {
	physical, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, unreadable(err)
	}
	var resolved []string
	for _, dir := range dirs {
		if dir, err := filepath.EvalSymlinks(dir); err == nil {
			resolved = append(resolved, dir)
		}
	}
	f, err := openInside(resolved, physical)
	if err == errOutside {
		err = fmt.Errorf("%w: %s", errOutside, physical)
	}
	return f, err
}

// OpenFile is [OpenRegular] for a path, wherever it leads.
func OpenFile(path string) (*os.File, error) {
	f, err := boundedfile.Open(path)
	return f, unreadable(err)
}

// ReadRegular reads a regular file of at most max bytes, wherever it lies.
func ReadRegular(path string, max int) ([]byte, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, max)
}

// ReadHead reads the first bytes of a regular file, max at most, wherever it lies.
func ReadHead(path string, max int) ([]byte, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, int64(max)))
	if err != nil {
		return nil, unreadable(err)
	}
	return head, nil
}

// OpenRegular opens a file for reading unless it is something that could make
// the reader wait, or no file at all.
func OpenRegular(dir *os.Root, name string) (*os.File, error) {
	f, err := boundedfile.OpenIn(dir, name)
	return f, unreadable(err)
}

// OpenBelow opens a regular file through a directory above it, so no symbolic link can lead out of
// the directory, even one created during the call. root may be the file itself. OpenBelow does not
// open other kinds of files, because opening a device or a FIFO can have effects or block.
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
	info, err := dir.Stat(rel)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	return OpenRegular(dir, rel)
}

// readBounded reads all of a file, which may say what it likes of its size.
func readBounded(f *os.File, max int) ([]byte, error) {
	text, err := boundedfile.ReadAll(f, max)
	return text, unreadable(err)
}

// unreadable is an error of reading in plain words.
func unreadable(err error) error {
	var large *boundedfile.TooLargeError
	if err == nil || errors.Is(err, boundedfile.ErrNotRegular) || errors.As(err, &large) {
		return err
	}
	return fmt.Errorf("cannot be read: %w", PlainError(err))
}

// PlainError is the reason alone, without the operation and the path.
func PlainError(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// Escapes reports whether a path was refused by its [os.Root] for leading out.
func Escapes(err error) bool {
	return errors.Is(err, errEscapes())
}

// errEscapes is the error of package os, which does not export it.
var errEscapes = sync.OnceValue(func() error {
	_, err := os.OpenInRoot(separator, "..")
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
})

// FileURI is the URI of a path: every byte escaped but
// those that need not be (T-232, R-52).
func FileURI(path string) string {
	const hex = "0123456789ABCDEF"
	uri := []byte("file://")
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/dir
		uri = append(uri, '/')
	}
	for _, c := range []byte(path) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if letter || strings.IndexByte(".~_-/:", c) >= 0 {
			uri = append(uri, c)
		} else {
			uri = append(uri, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(uri)
}
