package userfile

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/atomicfile"
)

// Options say how a file is edited.
type Options struct {
	Max    int           // bytes; a larger file is refused
	Mode   fs.FileMode   // of a new file
	Backup string        // the name that the old file is given; "": it is removed
	Wait   time.Duration // for another edit in the directory
	Locked bool          // the caller holds the lock of the directory
	DryRun bool          // nothing is written
}

// A File is a file as it was read.
type File struct {
	Text  []byte
	There bool // Text is that of a file, not of none
}

// ErrChanged is the error for a file that others change whenever it is edited.
var ErrChanged = errors.New("it changed again and again meanwhile; quit the program that writes to it and try again")

// maxTries is how often an edit begins anew because somebody else wrote the file meanwhile.
const maxTries = 5

// Edit replaces the text of a file of a directory by what change makes of it, nil to remove the file. change is
// called again when somebody else writes the file meanwhile. It reports whether the old file was kept as backup.
// The error may be an [*atomicfile.LockedError], the context's, or that of change as it is.
func Edit(ctx context.Context, dir *os.Root, name string, o Options, change func(File) ([]byte, error)) (kept bool,
	err error) {
	e := &edit{dir: dir, name: name, o: o}
	if e.list, err = dir.Open("."); err != nil {
		return false, err
	}
	defer e.list.Close()
	if !o.DryRun {
		locked := o.Locked
		if !locked {
			if locked, err = e.lock(ctx); err != nil {
				return false, err
			}
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
	return false, ErrChanged
}

// pause waits before another try, longer each time: somebody else is writing.
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

// An edit is one call of [Edit].
type edit struct {
	dir  *os.Root
	list *os.File // the directory itself
	name string
	o    Options
}

// lock keeps other commands of ours out of the directory. Where a system cannot lock one, what they write is
// noticed all the same.
func (e *edit) lock(ctx context.Context) (locked bool, err error) {
	err = atomicfile.Lock(ctx, e.list, e.dir.Name(), e.o.Wait, atomicfile.TryLock)
	var unable *atomicfile.UnwritableError
	if errors.As(err, &unable) {
		return false, nil
	}
	return err == nil, err
}

// mark is part of the names of files that are not, or no longer, in their place. tagLength bytes follow.
const (
	mark      = ".new-"
	tagLength = 6
)

// abandoned is how long a file must not have changed to be one that a killed edit left, where directories
// cannot be locked.
const abandoned = time.Hour

// sweep removes what edits of the same file left that were killed: copies of it, which may hold secrets. Of the names
// that only an edit gives, those are removed that lead to a file of ours, or of the owner of the file.
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

// A version is what a name led to at a moment.
type version struct {
	info   fs.FileInfo // nil for nothing
	known  bool        // the rest was read
	text   []byte
	rights rights
}

func (v *version) there() bool { return v.info != nil }

// isFile reports whether two versions are the same file.
func (v *version) isFile(w *version) bool {
	return v.there() && w.there() && os.SameFile(v.info, w.info)
}

// is reports whether two versions are the same file with the same text and rights.
func (v *version) is(w *version) bool {
	return v.known && w.known && v.isFile(w) && v.info.Mode() == w.info.Mode() && sameOwner(v.info, w.info) &&
		bytes.Equal(v.text, w.text) && v.rights.equal(w.rights)
}

// read reads what a name leads to. The error is for what is no regular file, is too large, or cannot be read or
// edited.
func (e *edit) read(name string) (*version, error) {
	switch info, err := e.dir.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return &version{}, nil
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("it is a link, which is not followed; edit the file that it leads to")
	}
	f, err := project.OpenRegular(e.dir, name)
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
		return nil, errors.New("it may not be written to; run chmod u+w on it first")
	}
	return v, nil
}

func (e *edit) readFile(f *os.File) (v *version, err error) {
	v = &version{}
	if v.info, err = f.Stat(); err != nil {
		return nil, err
	}
	tooLarge := fmt.Errorf("larger than %d bytes", e.o.Max)
	if v.info.Size() > int64(e.o.Max) {
		return nil, tooLarge
	}
	if v.text, err = io.ReadAll(io.LimitReader(f, int64(e.o.Max)+1)); err != nil {
		return nil, err
	}
	if len(v.text) > e.o.Max {
		return nil, tooLarge
	}
	v.rights, err = rightsOf(f)
	v.known = err == nil
	return v, err
}

// path is where a name of the directory leads, for what takes no descriptors.
func (e *edit) path(name string) string { return filepath.Join(e.dir.Name(), name) }
