package handoff

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"mcp-bash/pkg/files/folder"
)

// The names that exist in a new hand-off directory (T-69, T-70, T-128).
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

	self   fs.FileInfo            // identifies the directory if a script replaces it
	own    map[string]fs.FileInfo // the same for the names in ownNames
	temp   folder.Stamp           // of the empty directory for temporary files; zero: it must be read
	parent *os.Root               // the private directory that contains it
	above  string                 // its path
	name   string                 // in parent
	idle   time.Time              // when it was last used
}

func newDir(parent *os.Root, above, name string) (*Dir, error) {
	if err := parent.Mkdir(name, 0o700); err != nil {
		return nil, err
	}
	d := &Dir{own: make(map[string]fs.FileInfo, len(ownNames)), parent: parent, above: above}
	err := d.fill(name)
	d.moved(name)
	if err != nil {
		d.remove()
		return nil, err
	}
	return d, nil
}

func (d *Dir) fill(name string) (err error) {
	if d.Folder, err = openFolder(d.parent, name); err != nil {
		return err
	}
	if d.self, err = d.list.Stat(); err != nil {
		return err
	}
	for name, file := range d.files() {
		if *file, err = d.root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
		if d.own[name], err = (*file).Stat(); err != nil {
			return err
		}
	}
	if err = d.root.Mkdir(inputName, 0o700); err != nil {
		return err
	}
	if d.Input, err = openFolder(d.root, inputName); err != nil {
		return err
	}
	if d.own[inputName], err = d.Input.list.Stat(); err != nil {
		return err
	}
	if err = d.root.Mkdir(tempName, 0o700); err != nil {
		return err
	}
	d.own[tempName], err = d.root.Lstat(tempName)
	return err
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

// left returns the content of one of our files, or of the regular file that the script has
// put in its place.
func (d *Dir) left(name string, ours *os.File, limit int) ([]byte, error) {
	there := d.ownAt(name)
	switch {
	case there == nil:
		if content, err := d.Read(name, limit); err == nil || errors.Is(err, ErrTooLarge) {
			return content, err
		}
	case there.Size() == 0:
		return nil, nil
	}
	return readAll(ours, limit)
}

// ownAt returns the file with a name, or nil if it is not the file that we created.
func (d *Dir) ownAt(name string) fs.FileInfo {
	there, err := d.root.Lstat(name)
	if err != nil || !os.SameFile(there, d.own[name]) {
		return nil
	}
	return there
}

// reset restores the initial state of a directory, and reports whether that was possible.
func (d *Dir) reset() bool {
	if there, err := d.parent.Lstat(d.name); err != nil || !os.SameFile(there, d.self) {
		return false
	}
	if !d.clear(ownNames...) || d.ownAt(inputName) == nil || !d.Input.clear() || !d.clearTemp() {
		return false
	}
	for name, file := range d.files() {
		there := d.ownAt(name)
		if there == nil || there.Mode() != fs.FileMode(0o600) || !isSoleHolder(*file) {
			return false
		}
		if there.Size() > 0 && (*file).Truncate(0) != nil {
			return false
		}
	}
	return true
}

// clearTemp removes the temporary files that a call has left. If the directory is unchanged since it was empty, one
// system call is enough. Otherwise it is opened, and is not kept open.
func (d *Dir) clearTemp() bool {
	if now := folder.StampOfPath(d.TempPath()); now.Exists() && now == d.temp {
		return true
	}
	d.temp = folder.Stamp{}
	if there := d.ownAt(tempName); there == nil || there.Mode() != fs.ModeDir|0o700 {
		return false
	}
	list, err := d.root.Open(tempName + thisDir)
	if err != nil {
		return false
	}
	defer list.Close()
	names, err := list.Readdirnames(strays)
	if err != nil && err != io.EOF || len(names) == strays {
		return false
	}
	for _, name := range names {
		if d.root.Remove(filepath.Join(tempName, name)) != nil {
			return false
		}
	}
	if empty := folder.StampOfFile(list); empty.Settled(time.Now()) {
		d.temp = empty
	}
	return true
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
