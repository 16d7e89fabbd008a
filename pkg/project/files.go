package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/text/shell"
)

// maxMetaFile limits files with metadata, in bytes.
const maxMetaFile = 1 << 20

const separator = string(filepath.Separator)

// ReadFile reads a regular file of at most max bytes. After resolving symbolic links, the file must be in the project,
// or in the directory of the project that is elsewhere and contains the path (P-114). ReadFile never blocks. The error
// is [fs.ErrNotExist], or the reason why the file is not read.
func (p *Project) ReadFile(path string, max int) ([]byte, error) {
	return readInside([]string{p.Root, p.dirOf(path)}, path, max)
}

// ReadSetting is [Project.ReadFile] for a file that decides which code runs, or what the code can access. Other users
// must not be able to write it. The error may be a [*trust.InsecureError].
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

// CheckPath is [trust.CheckPath] for a path of the project.
func (p *Project) CheckPath(path string) error { return trust.CheckPath(p.Root, p.dirOf(path), path) }

// CheckTrusted checks a file of the server directory that decides which code runs (R-144, T-31). The error may be a
// [*trust.InsecureError].
func (p *Project) CheckTrusted(file code.File) error {
	return trust.CheckFile(p.Root, p.dirOf(file.Path()), file.Path())
}

// Brief returns the reason why a file of the project is insecure. Clients see it, so its paths are relative to the
// project (R-144a).
func (p *Project) Brief(e *trust.InsecureError) string { return e.Brief(p.briefPath(e.Path)) }

// briefPath returns a path for people, and as a word of a shell command. It is relative to the project, or to a server
// directory elsewhere.
func (p *Project) briefPath(path string) (shown, word string) {
	below := func(dir string) string {
		rel, _ := filepath.Rel(dir, path)
		return filepath.ToSlash(rel)
	}
	const server = "$MCPBASH_SERVER_DIR"
	switch {
	case path == p.Root:
		return "the project root", "."
	case fsys.Within(p.Root, path):
		return below(p.Root), shell.Quote(below(p.Root))
	case path == p.Server:
		return server, `"` + server + `"`
	case fsys.Within(p.Server, path):
		return server + "/" + below(p.Server), `"` + server + `"/` + shell.Quote(below(p.Server))
	}
	return filepath.Base(path), shell.Quote(filepath.Base(path))
}

// dirOf returns the directory outside of the project root that contains a path, or the root.
func (p *Project) dirOf(path string) string {
	for _, dir := range p.Dirs.all() {
		if !fsys.Within(p.Root, dir) && fsys.Within(dir, path) {
			return dir
		}
	}
	return p.Root
}

// readInside is [Project.ReadFile] for a file in one of several directories.
func readInside(dirs []string, path string, max int) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fs.ErrNotExist
	}
	f, err := openInside(dirs, path)
	if err == errOutside { // an absolute link may still lead inside
		f, err = openResolved(dirs, path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("a link that leads nowhere")
	case err != nil:
		return nil, err
	}
	defer f.Close()
	return boundedfile.ReadAll(f, max)
}

var errOutside = errors.New("outside the project")

// openInside opens a file through its directory, so that no link leads out, even one that changes meanwhile.
func openInside(dirs []string, path string) (*os.File, error) {
	for _, dir := range dirs {
		if path == dir || !fsys.Within(dir, path) {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, boundedfile.Unreadable(err)
		}
		defer root.Close()
		f, err := boundedfile.OpenIn(root, strings.TrimPrefix(path[len(dir):], separator))
		if fsys.Escapes(err) {
			return nil, errOutside
		}
		return f, err
	}
	return nil, errOutside
}

// openResolved is [openInside] for a path whose links are resolved first.
func openResolved(dirs []string, path string) (*os.File, error) {
	physical, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, boundedfile.Unreadable(err)
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
			uri = fmt.Appendf(uri, "%%%02X", c)
		}
	}
	return string(uri)
}
