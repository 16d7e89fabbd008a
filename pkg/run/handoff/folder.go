package handoff

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Folder is a directory that a script can write to. All methods use the descriptor that
// was opened before the script started, even if the script has moved the directory.
type Folder struct {
	path   string // the path for the script
	root   *os.Root
	list   *os.File        // the same directory, for listing
	broken map[string]bool // names of files that cannot be removed
}

func openFolder(parent *os.Root, name string) (f Folder, err error) {
	if f.root, err = parent.OpenRoot(name + thisDir); err == nil {
		f.list, err = f.root.Open(".")
	}
	return f, err
}

func (f *Folder) close() {
	if f.root != nil {
		f.root.Close()
	}
	f.list.Close() // Close accepts nil
}

// Path returns the path of a name for the script.
func (f *Folder) Path(name string) string { return filepath.Join(f.path, name) }

// Create creates a file that does not exist yet.
func (f *Folder) Create(name string, content []byte) error { return Create(f.root, name, content) }

// Put atomically creates a file with its content. It replaces any file with that name.
func (f *Folder) Put(name string, content []byte) error { return Put(f.root, name, content) }

// Reserve reserves disk space for a file of size bytes that will be created later. If the
// disk fills up in the meantime, the file can still be written.
func (f *Folder) Reserve(size int) (*Reserved, error) {
	r := &Reserved{folder: f, aside: Unique(aside)}
	file, err := f.root.OpenFile(r.aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL|nonblock, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(make([]byte, size))
	if err == nil {
		r.file, err = file.Stat()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		r.Drop()
		return nil, err
	}
	return r, nil
}

// A Reserved is reserved disk space, see [Folder.Reserve].
type Reserved struct {
	folder *Folder
	aside  string
	file   fs.FileInfo // identifies the file if the script replaces it
}

// Put is [Folder.Put] with the reserved space.
func (r *Reserved) Put(name string, content []byte) error {
	file, err := r.folder.root.OpenFile(r.aside, os.O_WRONLY|nonblock, 0)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(info, r.file) {
		err = fmt.Errorf("%s was replaced", file.Name())
	}
	if err == nil {
		_, err = file.Write(content)
	}
	if err == nil {
		err = file.Truncate(int64(len(content)))
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = r.folder.root.Rename(r.aside, name)
	}
	if err != nil {
		r.Drop()
	}
	return err
}

// Drop releases the space.
func (r *Reserved) Drop() { r.folder.root.Remove(r.aside) }

// Take returns the content of a file that the script has renamed into place, and removes it.
// found is false if there is no such file. An empty file stays, because a script that does
// not rename is about to write it. content is nil if the file is not regular, cannot be
// read, or has more than limit bytes.
func (f *Folder) Take(name string, limit int) (content []byte, found bool) {
	if f.broken[name] {
		return nil, false
	}
	if info, err := f.root.Lstat(name); err != nil || info.Mode().IsRegular() && info.Size() == 0 {
		return nil, false
	}
	content, err := f.Read(name, limit)
	if err != nil {
		content = nil
	}
	if f.root.Remove(name) != nil { // for example, a directory that is not empty
		if f.broken == nil {
			f.broken = make(map[string]bool)
		}
		f.broken[name] = true
	}
	return content, true
}

// ErrTooLarge is the error for a file above the limit.
var ErrTooLarge = errors.New("too large")

// Read returns the content of a regular file of at most limit bytes.
func (f *Folder) Read(name string, limit int) ([]byte, error) {
	file, err := f.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, limit)
}

func readAll(file *os.File, limit int) ([]byte, error) {
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", file.Name())
	case info.Size() > int64(limit):
		return nil, ErrTooLarge
	}
	content, err := io.ReadAll(io.NewSectionReader(file, 0, int64(limit)+1))
	if err == nil && len(content) > limit {
		err = ErrTooLarge
	}
	return content, err
}

// strays is the number of files from which a directory is not cleared, but removed later.
const strays = 32

// clear removes all files except those to keep. It reports whether it succeeded and the kept
// names exist. It changes nothing in a directory with many files.
func (f *Folder) clear(keep ...string) bool {
	if _, err := f.list.Seek(0, io.SeekStart); err != nil {
		return false
	}
	names, err := f.list.Readdirnames(len(keep) + strays)
	if err != nil && err != io.EOF || len(names) == len(keep)+strays {
		return false
	}
	kept := 0
	for _, name := range names {
		if slices.Contains(keep, name) {
			kept++
		} else if f.root.Remove(name) != nil {
			return false
		}
	}
	f.broken = nil
	return kept == len(keep)
}
