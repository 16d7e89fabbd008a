// Package trust checks that no other user can change a file that our programs run or rely on. A file passes if our user
// or root owns it, and neither other users nor a group with other members can write to it.
package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/text/shell"
)

// CheckOwn checks a file whose [os.Lstat] result is info. It must not be a symbolic link. CheckOwn does not check the
// directories above the file. Use it for files of killed runs, and in directories where other users can create files.
// The error is an [*InsecureError].
func CheckOwn(path string, info fs.FileInfo) error {
	if isLink(info) {
		return &InsecureError{Path: path, Reason: "symlink", flaw: flawLink}
	}
	return distrust(path, info, false, nobody)
}

// nobody means that only our user and root may change a file.
const nobody = 0

// An InsecureError means that other users can change a file, or that this is unknown.
type InsecureError struct {
	Path       string // the file, or a directory that leads to it
	Reason     string // without paths
	WrongOwner bool   // the file belongs to another user
	dir        string // the directory that Reason is about, or ""
	remedy     string // a command without the path, or ""
	flaw       flaw
}

type flaw int

// The flaws that one command corrects. flawOther is any other flaw.
const (
	flawOther flaw = iota
	flawWritable
	flawLink
	flawNotRegular
)

func (e *InsecureError) Error() string { return e.Text(shell.Quote) }

// Text returns the error as text. word writes a path as a word of a shell command.
func (e *InsecureError) Text(word func(path string) string) string {
	return word(e.Path) + " (" + e.Why(word) + ")"
}

// Why returns the reason with the remedy (T-41a).
func (e *InsecureError) Why(word func(path string) string) string {
	why := e.Reason
	if e.dir != "" {
		why += " " + word(e.dir)
	}
	if e.remedy != "" {
		why += "; run " + e.remedy + " " + word(e.Path)
	}
	return why
}

// Brief returns the error as text. shown is the path for people, and word is the path as a word of a shell command.
func (e *InsecureError) Brief(shown, word string) string {
	switch e.flaw {
	case flawWritable:
		return shown + " is group- or world-writable (fix: chmod g-w,o-w " + word + ")"
	case flawLink:
		kind := "regular file"
		if info, err := os.Stat(e.Path); err == nil && info.IsDir() {
			kind = "directory"
		}
		return shown + " is a symlink (replace it with a " + kind + ")"
	case flawNotRegular:
		return shown + " is not a regular file"
	}
	return shown + " (" + e.Why(func(string) string { return word }) + ")"
}

// CheckPath checks a file and every directory on the path to it. It begins at root if dir is below root, else at dir.
// The path is in dir. The error is an [*InsecureError]. If the directories pass and the file is missing, the error
// comes from [os.Lstat].
func CheckPath(root, dir, path string) error {
	w := newWalk(root, dir, path)
	_, _, err := w.follow(w.path)
	return err
}

// Follow checks a file and all directories above it, from the root directory of the system. It accepts shared
// directories such as /tmp above the file, because only the owner of an entry can replace it there. Links are followed.
// The user owner may also be able to change the file and directories, if owner is not 0. Follow returns the path
// without links and the file. The error is an [*InsecureError]. If the directories pass and the file is missing, the
// error comes from [os.Lstat].
func Follow(path string, owner int) (physical string, info fs.FileInfo, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", nil, err
	}
	return (&pathWalk{top: "no directory", owner: owner}).follow(abs)
}

// CheckFile is [CheckPath] for a regular file. Neither the file nor its directory may be a symbolic link.
func CheckFile(root, dir, file string) error {
	for _, path := range []string{filepath.Dir(file), file} {
		if info, err := os.Lstat(path); err == nil && isLink(info) {
			return &InsecureError{Path: path, Reason: "symlink", flaw: flawLink}
		}
	}
	w := newWalk(root, dir, file)
	_, info, err := w.follow(w.path)
	if err == nil && !info.Mode().IsRegular() {
		return &InsecureError{Path: file, Reason: "not a regular file", flaw: flawNotRegular}
	}
	return err
}

// CheckScript is [CheckPath] for a script, which must be in dir after resolving symbolic links. The error is
// errMissing or an [*InsecureError].
func CheckScript(root, dir, file string) error {
	w := newWalk(root, dir, file)
	physical, info, err := w.follow(w.path)
	if insecure, ok := errors.AsType[*InsecureError](err); ok {
		return insecure
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &InsecureError{Path: file, Reason: fsys.Cause(err).Error()}
	}
	if physical != w.path || !below(w.dir, physical) { // the path has links, or leads out of the directory
		if physicalDir, _, err := w.follow(w.dir); err != nil || !below(physicalDir, physical) {
			return &InsecureError{Path: file, Reason: "leads out of", dir: dir}
		}
	}
	if err != nil || !info.Mode().IsRegular() {
		return errMissing
	}
	return nil
}

var errMissing = errors.New("tool executable missing")

func below(dir, path string) bool { return path != dir && fsys.Within(dir, path) }

// A pathWalk follows a path downwards, one name at a time. It checks each directory before it looks up a name in it.
// Nobody else can change the content of a directory that passed. So a program that uses the path later gets the files
// that were checked.
//
// The checks begin below top. If a path or a link leads elsewhere, they begin at the root directory of the system.
// Other users may write to a sticky directory there, because they cannot replace our files in it.
type pathWalk struct {
	top   string // without symbolic links
	dir   string
	path  string
	owner int // a user who may change files and directories, or nobody

	at   string      // the position, without symbolic links
	info fs.FileInfo // the file at this position
	rest string      // the names after this position
}

func newWalk(root, dir, path string) *pathWalk {
	if fsys.Within(root, dir) {
		return &pathWalk{top: root, dir: dir, path: path}
	}
	if physical, err := filepath.EvalSymlinks(dir); err == nil {
		if fsys.Within(dir, path) {
			path = physical + path[len(dir):]
		}
		dir = physical
	}
	return &pathWalk{top: dir, dir: dir, path: path}
}

const maxLinks = 40

const separator = string(filepath.Separator)

// follow walks to the end of a path. It returns the path without links, and the file at its end. If the file is
// missing, it returns the path that the file would have.
func (w *pathWalk) follow(path string) (physical string, info fs.FileInfo, err error) {
	w.rest = ""
	err = w.prepend(path)
	for links := 0; err == nil && w.rest != ""; {
		var name, link string
		name, w.rest, _ = strings.Cut(w.rest, separator)
		switch name {
		case "", ".":
		case "..":
			err = w.jump(filepath.Dir(w.at), w.rest)
		default:
			if link, err = w.step(name); link == "" {
				break
			}
			if links++; links > maxLinks {
				err = &InsecureError{Path: path, Reason: "too many symbolic links"}
			} else {
				err = w.prepend(link)
			}
		}
	}
	if err != nil {
		return filepath.Join(w.at, w.rest), nil, err
	}
	return w.at, w.info, nil
}

// prepend continues with another path, before the rest.
func (w *pathWalk) prepend(path string) error {
	rest := separator + w.rest
	switch {
	case !filepath.IsAbs(path):
		w.rest = path + rest
		return nil
	case fsys.Within(w.top, path):
		return w.jump(w.top, path[len(w.top):]+rest)
	}
	volume := filepath.VolumeName(path)
	return w.jump(volume+separator, path[len(volume):]+rest)
}

// jump continues from a directory that is not a symbolic link.
func (w *pathWalk) jump(dir, rest string) (err error) {
	w.at, w.rest = dir, rest
	if w.info, err = w.check(dir); err == nil && isLink(w.info) {
		err = &InsecureError{Path: dir, Reason: "symlink", flaw: flawLink}
	}
	return err
}

// step continues with a name in the current directory. If the name is a symbolic link, step returns the link instead.
func (w *pathWalk) step(name string) (link string, err error) {
	next := strings.TrimSuffix(w.at, separator) + separator + name
	info, err := w.check(next)
	if err == nil && isLink(info) {
		link, err = os.Readlink(next)
		return filepath.FromSlash(link), err
	}
	w.at, w.info = next, info
	return "", err
}

func (w *pathWalk) check(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	shared := info.IsDir() && info.Mode()&fs.ModeSticky != 0 && !fsys.Within(w.top, path)
	if err := distrust(path, info, shared, w.owner); err != nil {
		return nil, err
	}
	return info, nil
}

func isLink(info fs.FileInfo) bool { return info.Mode()&fs.ModeSymlink != 0 }
