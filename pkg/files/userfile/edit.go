package userfile

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/boundedfile"
)

// Options are the options of an edit.
type Options struct {
	Max    int           // bytes; a larger file is an error
	Mode   fs.FileMode   // of a new file
	Backup string        // the new name of the old file; "": it is removed
	Wait   time.Duration // how long to wait for another edit in the directory
	DryRun bool          // whether to write nothing

	FolderOwner bool // whether a new file gets the owner and group of the directory
}

// A File is the state of a file before an edit.
type File struct {
	Text  []byte
	There bool // the file exists
}

// errKeepsChanging is the error for a file that changed during each try of an edit.
var errKeepsChanging = errors.New("it keeps changing; quit the program that writes to it and try again")

// maxTries limits how often an edit starts again because the file has changed.
const maxTries = 5

// Edit replaces the text of a file in a directory by the result of change. A nil result
// removes the file. If the file changes during the edit, Edit calls change again. kept
// reports whether the old file was kept as a backup. The error can be an
// [*atomicfile.LockedError], the context's, or that of change, unwrapped.
func Edit(ctx context.Context, dir *os.Root, name string, o Options, change func(File) ([]byte, error)) (kept bool,
	err error) {
	e := &edit{dir: dir, name: name, o: o}
	if e.list, err = dir.Open("."); err != nil {
		return false, err
	}
	defer e.list.Close()
	if !o.DryRun {
		locked, err := e.lock(ctx)
		if err != nil {
			return false, err
		}
		e.sweep(locked)
	}
	for try := range maxTries {
		if err := pause(ctx, try); err != nil {
			return false, err
		}
		old, err := e.read(name)
		if err != nil {
			return false, err
		}
		text, err := change(File{old.text, old.there()})
		if err != nil || old.there() == (text != nil) && bytes.Equal(old.text, text) {
			return false, err
		}
		if err := e.refuse(old); err != nil || o.DryRun {
			return false, err
		}
		if err = e.replace(old, text); err != errChanged {
			return err == nil && old.there() && o.Backup != "", err
		}
	}
	return false, errKeepsChanging
}

// pause waits before the next try, longer each time, because another program is writing.
func pause(ctx context.Context, try int) error {
	if try == 0 {
		return context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Millisecond << (2 * try)):
		return nil
	}
}

type edit struct {
	dir  *os.Root
	list *os.File // the directory itself
	name string
	o    Options
}

// lock excludes other mcp-bash commands from the directory. On systems that cannot lock a
// directory, it returns false, and changes by other commands are still detected.
func (e *edit) lock(ctx context.Context) (locked bool, err error) {
	err = atomicfile.Lock(ctx, e.list, e.dir.Name(), e.o.Wait)
	if _, ok := errors.AsType[*atomicfile.UnwritableError](err); ok {
		return false, nil
	}
	return err == nil, err
}

// mark is part of the names of temporary files. tagLength random bytes follow.
const (
	mark      = ".new-"
	tagLength = 6
)

// abandoned is the age at which a temporary file is considered left over from a killed edit,
// if directories cannot be locked.
const abandoned = time.Hour

// sweep removes copies of the file that killed edits left, as these can contain secrets. It
// only removes temporary names of edits, and only files that belong to us or to the owner of
// the file.
func (e *edit) sweep(locked bool) {
	names, _ := e.list.Readdirnames(-1)
	for _, name := range names {
		if !e.isTemporary(name) {
			continue
		}
		info, err := e.dir.Lstat(name)
		if err == nil && info.Mode().IsRegular() && e.isOwn(info) && (locked || time.Since(info.ModTime()) > abandoned) {
			e.dir.Remove(name)
		}
	}
}

func (e *edit) isTemporary(name string) bool {
	for _, base := range []string{e.name, e.o.Backup} {
		tag, found := strings.CutPrefix(name, "."+base+mark)
		if _, err := hex.DecodeString(tag); base != "" && found && err == nil && len(tag) == 2*tagLength {
			return true
		}
	}
	return false
}

func (e *edit) isOwn(info fs.FileInfo) bool {
	if sameOwner(info, nil) {
		return true
	}
	file, err := e.dir.Lstat(e.name)
	return err == nil && sameOwner(info, file)
}

type version struct {
	info   fs.FileInfo // nil: no file
	known  bool        // the other fields were read
	text   []byte
	rights rights
}

func (v *version) there() bool { return v.info != nil }

// isFile reports whether two versions are the same file, with any text.
func (v *version) isFile(w *version) bool {
	return v.there() && w.there() && os.SameFile(v.info, w.info)
}

// is reports whether two versions are the same file with the same text and rights.
func (v *version) is(w *version) bool {
	return v.known && w.known && v.isFile(w) && v.info.Mode() == w.info.Mode() && sameOwner(v.info, w.info) &&
		bytes.Equal(v.text, w.text) && v.rights.equal(w.rights)
}

// read reads the file with a name. It returns an error if the file is not a regular file, is
// too large, or cannot be read or edited.
func (e *edit) read(name string) (*version, error) {
	switch info, err := e.dir.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return &version{}, nil
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("it is a symbolic link; edit its target instead")
	}
	f, err := boundedfile.OpenIn(e.dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return &version{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v, err := e.readFile(f)
	if err != nil {
		return nil, err
	}
	if v.info.Mode().Perm()&0o200 == 0 {
		return nil, errors.New("it is not writable; run chmod u+w on it first")
	}
	return v, nil
}

func (e *edit) readFile(f *os.File) (v *version, err error) {
	v = &version{}
	if v.info, err = f.Stat(); err != nil {
		return nil, err
	}
	if v.text, err = boundedfile.ReadAll(f, e.o.Max); err != nil {
		return nil, err
	}
	v.rights, err = rightsOf(f)
	v.known = err == nil
	return v, err
}

// path returns the path of a name in the directory, for calls that take no descriptor.
func (e *edit) path(name string) string { return filepath.Join(e.dir.Name(), name) }
