// Package handoff manages the directories in which the server and a script exchange files.
// The script writes progress, logs, errors and embedded resources. The server writes answers
// and the cancel marker (tools section 6).
//
// A script can do anything to these files, and its child processes can do so after its end.
// Therefore the server opens the directory and its files before the script starts, and reads
// only the files that it opened.
//
// Files that appear later are created or opened below the directory's descriptor. The server
// never follows a symbolic link out of the directory, and never waits for a pipe or a lease.
// Each read is limited to a number of bytes. A script can block nothing here, so ending a
// script never blocks either.
package handoff

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The names that exist in a new hand-off directory.
const (
	progressName  = "progress.ndjson"
	logsName      = "logs.ndjson"
	errorsName    = "error.json"
	resourcesName = "resources"
	inputName     = "input"
	tempName      = "tmp"
)

// A Dir is the hand-off directory of one call. It has four files and two directories, for
// questions and for temporary files, which are empty when the script starts. More files can
// appear later.
type Dir struct {
	Folder
	Input     Folder // for questions and their answers
	Progress  *os.File
	Logs      *os.File
	Errors    *os.File
	Resources *os.File

	initial initial   // as it was made
	parent  *os.Root  // the private directory that contains it
	above   string    // its path
	name    string    // in parent
	idle    time.Time // when it was last used
}

func newDir(parent *os.Root, above, name string) (*Dir, error) {
	if err := parent.Mkdir(name, 0o700); err != nil {
		return nil, err
	}
	d := &Dir{parent: parent, above: above, name: name}
	if err := d.fill(name); err != nil {
		d.remove()
		return nil, err
	}
	return d, nil
}

func (d *Dir) fill(name string) (err error) {
	if d.Folder, err = openFolder(d.parent, name); err != nil {
		return err
	}
	for name, file := range d.files() {
		if *file, err = d.root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
	}
	if err = errors.Join(d.root.Mkdir(inputName, 0o700), d.root.Mkdir(tempName, 0o700)); err != nil {
		return err
	}
	if d.Input, err = openFolder(d.root, inputName); err != nil {
		return err
	}
	d.moved(name)
	return d.remember()
}

// files yields the files that exist from the start.
func (d *Dir) files() iter.Seq2[string, **os.File] {
	return func(yield func(string, **os.File) bool) {
		_ = yield(progressName, &d.Progress) && yield(logsName, &d.Logs) && yield(errorsName, &d.Errors) &&
			yield(resourcesName, &d.Resources)
	}
}

var ownNames = []string{progressName, logsName, errorsName, resourcesName, inputName, tempName}

func (d *Dir) moved(name string) {
	d.name = name
	d.path = filepath.Join(d.above, name)
	d.Input.path = d.Path(inputName)
}

// ErrorsPath and the following methods return the paths of the files for the script.
func (d *Dir) ErrorsPath() string    { return d.Path(errorsName) }
func (d *Dir) ResourcesPath() string { return d.Path(resourcesName) }
func (d *Dir) ProgressPath() string  { return d.Path(progressName) }
func (d *Dir) LogsPath() string      { return d.Path(logsName) }
func (d *Dir) InputPath() string     { return d.Path(inputName) }
func (d *Dir) TempPath() string      { return d.Path(tempName) }

// ReadErrors returns the content that the script wrote to the error file, or nil.
func (d *Dir) ReadErrors(limit int) ([]byte, error) { return d.left(errorsName, d.Errors, limit) }

// ReadResources returns the list of files that the script wants to embed, or nil.
func (d *Dir) ReadResources(limit int) ([]byte, error) {
	return d.left(resourcesName, d.Resources, limit)
}

// left returns the content of the regular file with a name. The script may have replaced our file. If the new file is
// not regular, left returns the content of our file.
func (d *Dir) left(name string, ours *os.File, limit int) ([]byte, error) {
	if info, err := d.root.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil, nil
	}
	if content, err := d.Read(name, limit); err == nil || errors.Is(err, ErrTooLarge) {
		return content, err
	}
	return readAll(ours, limit)
}

func (d *Dir) close() {
	for _, file := range d.files() {
		(*file).Close() // Close accepts nil
	}
	d.Input.close()
	d.Folder.close()
}

func (d *Dir) remove() {
	d.close()
	d.parent.RemoveAll(d.name)
}

// Create creates a file with mode 0600 below a directory that scripts can write to. The file
// must not exist yet.
func Create(dir *os.Root, name string, content []byte) error {
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|nonblock, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// OpenAppend opens a regular file for appending, below a directory that scripts can write
// to. It creates a missing file with mode 0600.
func OpenAppend(dir *os.Root, name string) (*os.File, error) {
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, fmt.Errorf("%s is not a regular file", file.Name())
	}
	return file, nil
}

// OpenDir opens a directory. Unlike [os.OpenRoot], it never waits for a pipe in the
// directory's place.
func OpenDir(path string) (*os.Root, error) { return os.OpenRoot(path + thisDir) }

// thisDir at the end of a path makes the system look for a directory.
const thisDir = string(os.PathSeparator) + "."

// Put is [Create] for a file that appears atomically with its content. It replaces any file
// with that name.
func Put(dir *os.Root, name string, content []byte) error {
	hidden := Unique(aside)
	err := Create(dir, hidden, content)
	if err == nil {
		err = dir.Rename(hidden, name)
	}
	if err != nil {
		dir.Remove(hidden)
	}
	return err
}

// aside is the prefix of files that must not be visible yet.
const aside = ".put-"

// Unique returns an unpredictable file name with a prefix.
func Unique(prefix string) string {
	var tag [8]byte
	rand.Read(tag[:]) // never fails
	return prefix + hex.EncodeToString(tag[:])
}

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

// strays is the number of additional files from which clear does nothing, and the whole directory is removed later.
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
