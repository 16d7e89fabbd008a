package userfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/swap"
)

// errChanged means that a file is no longer what was read.
var errChanged = errors.New("it changed meanwhile")

// replace puts a text, or nothing for nil, in the place of a file that has not changed since it was read.
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
	var stuck *stuckError
	if !errors.As(err, &stuck) {
		e.dir.Remove(fresh) // what was renamed is not there
	}
	return err
}

// refuse returns an error for a file that cannot be replaced, before anything is changed.
func (e *edit) refuse(old *version) error {
	if !old.there() {
		return nil
	}
	if n := names(old.info); n > 1 {
		return fmt.Errorf("it has %d names (hard links), and the others would keep the old text; "+
			"copy it to a file of its own first", n)
	}
	if e.o.Backup != "" {
		if info, err := e.dir.Lstat(e.o.Backup); err == nil && info.IsDir() {
			return fmt.Errorf("no backup can be made: %s is a directory", e.path(e.o.Backup))
		}
	}
	return nil
}

// A stuckError says where a version of the file was left.
type stuckError struct {
	path string
	err  error
}

func (e *stuckError) Error() string {
	return fmt.Sprintf("%v; a version of it is in %s", plain(e.err), e.path)
}

// maxExchanges is how often names are exchanged to put back what somebody else writes meanwhile.
const maxExchanges = 100

// exchange has a new file and the old one exchange their names, and makes sure that the old one is what was read. The
// error is errChanged where it was not. Then everything is as the others left it, and the new file, or what
// they replaced themselves, has the temporary name.
func (e *edit) exchange(fresh string, old *version) error {
	ours := e.look(fresh)
	put, expected := ours, old
	for try := range maxExchanges {
		err := swap.ExchangeIn(e.list, fresh, e.name)
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrNotExist) && try == 0: // somebody removed it
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
			return errChanged // theirs is in its place again
		}
		put, expected = got, put // what somebody else put there is newer, and goes back
	}
	return &stuckError{e.path(fresh), ErrChanged}
}

// look is read for what lost its name to an edit, which may be anything. What is no file that can be edited, or is
// still being written, is like no other version. Who opens the file by its name from now on opens another one.
func (e *edit) look(name string) *version {
	unknown := &version{}
	unknown.info, _ = e.dir.Lstat(name)
	f, err := project.OpenRegular(e.dir, name)
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

// retire makes the old file the backup, with everything about it.
func (e *edit) retire(name string) error {
	if e.o.Backup == "" {
		return nil // the caller removes it
	}
	if err := e.dir.Rename(name, e.o.Backup); err != nil {
		if errBack := swap.ExchangeIn(e.list, name, e.name); errBack != nil {
			return &stuckError{e.path(name), errBack}
		}
		return fmt.Errorf("no backup can be made: %w", plain(err))
	}
	return nil
}

// overwrite is exchange and retire where the system cannot exchange two names: what is written between looking and
// renaming is lost.
func (e *edit) overwrite(fresh string, old *version) error {
	if e.o.Backup != "" {
		copied, err := e.write(e.o.Backup, old.text, old)
		if err == nil {
			if err = e.dir.Rename(copied, e.o.Backup); err != nil {
				e.dir.Remove(copied)
			}
		}
		if err != nil {
			return fmt.Errorf("no backup can be made: %w", plain(err))
		}
	}
	if !e.look(e.name).is(old) {
		return errChanged
	}
	return e.dir.Rename(fresh, e.name)
}

// create puts a file where none is.
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
	// Without hard links there is a moment between looking and renaming.
	if _, errThere := e.dir.Lstat(e.name); errors.Is(err, fs.ErrExist) || !errors.Is(errThere, fs.ErrNotExist) {
		return errChanged
	}
	return e.dir.Rename(fresh, e.name)
}

// remove takes the file away, and makes sure that it is what was read. In one step it becomes the backup.
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

// putBack gives a file its name back, unless there is a newer one.
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

// write writes a new file beside another, with the rights of that if there is one, and sees to it that it is on the
// disk.
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

// plain is the reason of an error of a file whose name says nothing.
func plain(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

// newFile makes a file that nobody else can read.
func (e *edit) newFile(name string) (*os.File, error) {
	return e.dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// temporaryName is that of a file until it is in its place. Nothing looks at files that begin with a dot.
func temporaryName(base string) string {
	var tag [tagLength]byte
	rand.Read(tag[:]) // never fails
	return "." + base + mark + hex.EncodeToString(tag[:])
}
