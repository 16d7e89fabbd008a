package userfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/swap"
)

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
	var stuck *stuckError
	if !errors.As(err, &stuck) {
		e.dir.Remove(fresh) // missing if it was renamed
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

// exchange exchanges the names of the new and the old file, and verifies that the old one is
// what was read. Otherwise it returns errChanged. In that case, the file has the text that
// other programs wrote last. The temporary name has the new file, or the version that those
// programs replaced.
func (e *edit) exchange(fresh string, old *version) error {
	ours := e.look(fresh)
	put, expected := ours, old
	for try := range maxExchanges {
		err := swap.ExchangeIn(e.list, fresh, e.name)
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrNotExist) && try == 0: // another program removed it
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
			return errChanged // the other program's version is in place again
		}
		put, expected = got, put // another program's newer version must be restored
	}
	return &stuckError{e.path(fresh), errKeepsChanging}
}

// look is read for a file that an edit has just renamed, whatever type it has. If the file
// cannot be edited or is still open for writing, the result equals no other version.
// Programs that open the name after the renaming get another file.
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

// remove removes the file, or renames it to the backup, and verifies that it is what was
// read.
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

// temporaryName returns a name for a file until it is complete. Discovery ignores names that
// begin with a dot.
func temporaryName(base string) string {
	var tag [tagLength]byte
	rand.Read(tag[:]) // never fails
	return "." + base + mark + hex.EncodeToString(tag[:])
}
