// Package secretfile reads and edits files with keys, and files that determine who may use a server. The same rule
// applies to all of them.
package secretfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/files/userfile"
)

// A Rule determines which files are accepted. Only our user, root and the owner of the file may be able to change the
// file, its directories and links to it.
type Rule struct {
	Max      int  // bytes
	Secret   bool // whether other users must not be able to read the file; a group may
	AnyOwner bool // whether root accepts a file of another user, for commands that only read or rewrite the file
}

// errReplaced is the error for a file that was replaced during each try.
var errReplaced = errors.New("it is replaced all the time")

const maxTries = 5

// Read reads a file. The error has no path, unless it is about a directory. The stamp describes the file that was
// opened, also if the error is not nil.
func (r Rule) Read(path string) (text []byte, stamp folder.Stamp, err error) {
	f, _, err := r.open(path)
	if f == nil {
		return nil, stamp, err
	}
	defer f.Close()
	stamp = folder.StampOfFile(f)
	if err != nil {
		return nil, stamp, err
	}
	text, err = boundedfile.ReadAll(f, r.Max)
	return text, stamp, err
}

// open opens a file, and then checks every directory and link on the path. The path must lead to the opened file, so
// the checked file is the one that is read. If the check fails, open returns the file and an error. physical is the
// path without links.
func (r Rule) open(path string) (f *os.File, physical string, err error) {
	for range maxTries {
		if f != nil {
			f.Close()
		}
		if f, err = boundedfile.Open(path); err != nil {
			return nil, "", r.unreadable(path, err)
		}
		var info fs.FileInfo
		if info, err = f.Stat(); err != nil {
			break
		}
		var last fs.FileInfo
		physical, last, err = trust.Follow(path, r.owner(info))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return f, "", remedied(fsys.Cause(err))
		case os.SameFile(info, last):
			return f, physical, r.checkReaders(path, info)
		}
		err = errReplaced
	}
	return f, "", err
}

// unreadable returns the error for a file that cannot be opened.
func (r Rule) unreadable(path string, err error) error {
	cause, ok := errors.AsType[syscall.Errno](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, fs.ErrPermission):
		if info, errStat := os.Stat(path); errStat == nil {
			return &Fault{Reason: "we may not read it", Remedy: remedy(path, info), err: cause}
		}
	}
	return cause
}

// A Fault is the reason why a file is not accepted, with the command that corrects it.
type Fault struct {
	Reason, Remedy string
	err            error
}

func (e *Fault) Error() string { return e.Reason + "; run " + e.Remedy }

// Is is for [errors.Is]. A Fault does not unwrap to its cause, whose text has no command.
func (e *Fault) Is(target error) bool { return errors.Is(e.err, target) }

// Edit replaces the text of a file by the result of change, as [userfile.Edit] does. The file keeps its owner, group
// and mode. A new file belongs to the owner of its folder, and other users cannot read it.
func (r Rule) Edit(ctx context.Context, path string, wait time.Duration,
	change func(userfile.File) ([]byte, error)) error {
	dir, name, err := r.openFolder(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	o := userfile.Options{Max: r.Max, Mode: 0o600, FolderOwner: r.actsForOthers(), Wait: wait}
	_, err = userfile.Edit(ctx, dir, name, o, change)
	return err
}

// openFolder opens the folder of a file. The file itself must satisfy the rule, unless it does not exist yet.
func (r Rule) openFolder(path string) (dir *os.Root, name string, err error) {
	f, physical, err := r.open(path)
	if f != nil {
		defer f.Close()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r.openEmptyFolder(path)
	case err != nil:
		return nil, "", err
	}
	if dir, err = os.OpenRoot(filepath.Dir(physical)); err != nil {
		return nil, "", err
	}
	name = filepath.Base(physical)
	info, err := f.Stat()
	if err == nil {
		var now fs.FileInfo
		if now, err = dir.Lstat(name); err == nil && !os.SameFile(info, now) {
			err = errReplaced
		}
	}
	if err != nil {
		dir.Close()
		return nil, "", err
	}
	return dir, name, nil
}

func (r Rule) openEmptyFolder(path string) (dir *os.Root, name string, err error) {
	folder := filepath.Dir(path)
	if dir, err = os.OpenRoot(folder); err != nil {
		return nil, "", err
	}
	info, err := dir.Stat(".")
	if err == nil {
		var last fs.FileInfo
		_, last, err = trust.Follow(folder, r.owner(info))
		if err == nil && !os.SameFile(info, last) {
			err = errReplaced
		}
	}
	if err != nil {
		dir.Close()
		return nil, "", remedied(err)
	}
	return dir, filepath.Base(path), nil
}

// Stamp returns the stamp of a file without a check. For a file that cannot be opened, it is the stamp of a missing
// file.
func Stamp(path string) folder.Stamp {
	f, err := boundedfile.Open(path)
	if err != nil {
		return folder.Stamp{}
	}
	defer f.Close()
	return folder.StampOfFile(f)
}
