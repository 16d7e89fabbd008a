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
	"iter"
	"os"
	"path/filepath"
	"time"
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

// left returns the content of the regular file with a name. The script may have put another one in the place of
// our file. If that is not regular, left returns the content of our file.
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
