// Package userfile edits files that belong to the user and that other programs edit as well: settings of
// clients, register.json, metadata and scripts of tools.
//
// An edit only changes the text of a file. Owner, group, mode, access control list and
// extended attributes are copied to the new file. If that is impossible, or if the file has
// several names (hard links), Edit returns an error.
//
// The new file replaces the old one in one step, so a failure, a full disk or a signal leaves the old one. If another
// program writes the file during an edit, its text is neither lost nor overwritten on systems that can exchange two
// names (Linux, macOS). On other systems, a short moment remains between the last check and the renaming.
package userfile

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/swap"
)

// Options are the options of an edit.
type Options struct {
	Max    int           // bytes; a larger file is an error
	Mode   fs.FileMode   // of a new file
	Backup string        // the new name of the old file; "": the old file is removed
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

// Edit replaces the text of a file in a directory by the result of change. A nil result removes the file. If the file
// changes during the edit, Edit calls change again. kept reports whether the old file was kept as a backup. The error
// can be an [*atomicfile.LockedError], the context's, or the unwrapped error of change.
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

// mark is part of the names of temporary files. tagLength random bytes follow it.
const (
	mark      = ".new-"
	tagLength = 6
)

// abandoned is the age at which a temporary file is considered left over from a killed edit,
// if directories cannot be locked.
const abandoned = time.Hour

// sweep removes copies of the file that killed edits left, because they can contain secrets. It removes only temporary
// names of edits, and only files that belong to us or to the owner of the file.
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
	known  bool        // the file was read, and the other fields are set
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

var errChanged = errors.New("it changed in the meantime")

// replace replaces a file that has not changed since it was read. A nil text removes it.
func (e *edit) replace(old *version, text []byte) error {
	switch {
	case text == nil:
		return e.remove(old)
	case !old.there():
		return e.create(text)
	}
	fresh, err := e.write(e.name, text, old)
	if err != nil {
		return err
	}
	err = e.exchange(fresh, old)
	if err == nil {
		err = e.retire(fresh)
	} else if errors.Is(err, swap.ErrUnsupported) {
		err = e.overwrite(fresh, old)
	}
	if _, stuck := errors.AsType[*stuckError](err); !stuck {
		e.dir.Remove(fresh) // fails after a renaming
	}
	return err
}

// refuse returns an error if a file cannot be replaced. It changes nothing.
func (e *edit) refuse(old *version) error {
	if !old.there() {
		return nil
	}
	if n := names(old.info); n > 1 {
		return fmt.Errorf("it has %d names (hard links), and the others would keep the old text; "+
			"copy it to a separate file first", n)
	}
	if e.o.Backup != "" {
		if info, err := e.dir.Lstat(e.o.Backup); err == nil && info.IsDir() {
			return fmt.Errorf("the backup cannot be written: %s is a directory", e.path(e.o.Backup))
		}
	}
	return nil
}

// A stuckError has the path at which a version of the file was left.
type stuckError struct {
	path string
	err  error
}

func (e *stuckError) Error() string {
	return fmt.Sprintf("%v; one version of it is in %s", plain(e.err), e.path)
}

// maxExchanges limits how often names are exchanged to restore another program's changes.
const maxExchanges = 100

// exchange exchanges the names of the new and the old file, and verifies that the old one is the version that was read.
// Otherwise it returns errChanged. In that case, the file has the text that other programs wrote last. The temporary
// name has the new file, or the version that those programs replaced.
func (e *edit) exchange(fresh string, old *version) error {
	ours := e.look(fresh)
	put, expected := ours, old
	for try := range maxExchanges {
		err := swap.ExchangeIn(e.list, fresh, e.name)
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrNotExist) && try == 0: // another program removed the file
			return errChanged
		case try == 0:
			return err
		case errors.Is(err, fs.ErrNotExist) && e.putBack(fresh) == nil:
			return errChanged
		default:
			return &stuckError{e.path(fresh), err}
		}
		got := e.look(fresh)
		switch {
		case got.is(expected) && try == 0:
			return nil
		case got.is(expected), expected != old && expected != ours && got.isFile(expected):
			return errChanged // the other program's version has its name again
		}
		put, expected = got, put // restore another program's newer version
	}
	return &stuckError{e.path(fresh), errKeepsChanging}
}

// look reads a file of any type that an edit has just renamed. If the file cannot be edited or is still open for
// writing, the result equals no other version. Programs that open the name after the renaming get another file.
func (e *edit) look(name string) *version {
	unknown := &version{}
	unknown.info, _ = e.dir.Lstat(name)
	f, err := boundedfile.OpenIn(e.dir, name)
	if err != nil {
		return unknown
	}
	defer f.Close()
	if isWritten(f) {
		return unknown
	}
	v, err := e.readFile(f)
	if err != nil || !v.isFile(unknown) {
		return unknown
	}
	return v
}

// retire turns the old file into the backup, with all its attributes.
func (e *edit) retire(name string) error {
	if e.o.Backup == "" {
		return nil // the caller removes the file
	}
	if err := e.dir.Rename(name, e.o.Backup); err != nil {
		if errBack := swap.ExchangeIn(e.list, name, e.name); errBack != nil {
			return &stuckError{e.path(name), errBack}
		}
		return fmt.Errorf("the backup cannot be written: %w", plain(err))
	}
	return nil
}

// overwrite replaces exchange and retire on systems that cannot exchange two names. A change
// between the last check and the renaming is lost.
func (e *edit) overwrite(fresh string, old *version) error {
	if e.o.Backup != "" {
		copied, err := e.write(e.o.Backup, old.text, old)
		if err == nil {
			if err = e.dir.Rename(copied, e.o.Backup); err != nil {
				e.dir.Remove(copied)
			}
		}
		if err != nil {
			return fmt.Errorf("the backup cannot be written: %w", plain(err))
		}
	}
	if !e.look(e.name).is(old) {
		return errChanged
	}
	return e.dir.Rename(fresh, e.name)
}

func (e *edit) create(text []byte) error {
	fresh, err := e.write(e.name, text, &version{})
	if err != nil {
		return err
	}
	defer e.dir.Remove(fresh)
	err = e.dir.Link(fresh, e.name)
	if err == nil {
		return nil
	}
	// Without hard links, a short moment remains between the check and the renaming.
	if _, errThere := e.dir.Lstat(e.name); errors.Is(err, fs.ErrExist) || !errors.Is(errThere, fs.ErrNotExist) {
		return errChanged
	}
	return e.dir.Rename(fresh, e.name)
}

// remove removes the file, or renames it to the backup, and verifies that it is the version that was read.
func (e *edit) remove(old *version) error {
	aside := e.o.Backup
	if aside == "" {
		aside = temporaryName(e.name)
	}
	if err := e.dir.Rename(e.name, aside); errors.Is(err, fs.ErrNotExist) {
		return errChanged
	} else if err != nil {
		return err
	}
	switch {
	case !e.look(aside).is(old):
		if err := e.putBack(aside); err != nil {
			return &stuckError{e.path(aside), err}
		}
		return errChanged
	case e.o.Backup == "":
		return e.dir.Remove(aside)
	}
	return nil
}

// putBack restores the name of a file, unless a newer file has that name.
func (e *edit) putBack(aside string) error {
	err := e.dir.Link(aside, e.name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return e.dir.Remove(aside)
	}
	if _, err := e.dir.Lstat(e.name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return e.dir.Rename(aside, e.name)
}

// write writes and syncs a new file next to another one, with the same access rights if that
// one exists.
func (e *edit) write(base string, text []byte, like *version) (name string, err error) {
	name = temporaryName(base)
	f, err := e.begin(name, like)
	if err != nil {
		return "", plain(err)
	}
	_, err = f.Write(text)
	if err == nil {
		err = e.dress(f, like)
	}
	if err == nil {
		err = f.Sync()
	}
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err != nil {
		e.dir.Remove(name)
		return "", plain(err)
	}
	return name, nil
}

// plain returns the cause of an error without the path, which is a temporary name.
func plain(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

func (e *edit) newFile(name string) (*os.File, error) {
	return e.dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// temporaryName returns a name for a file until it is complete. Discovery ignores names that begin with a dot.
func temporaryName(base string) string {
	var tag [tagLength]byte
	rand.Read(tag[:]) // never fails
	return "." + base + mark + hex.EncodeToString(tag[:])
}
