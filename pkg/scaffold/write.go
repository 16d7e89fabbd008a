package scaffold

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/lazyregexp"
)

// A file is to be written for an item. Its path has slashes.
type file struct {
	path string
	text string
	mode fs.FileMode
}

// File modes, which do not depend on the umask.
const (
	modeDir    fs.FileMode = 0o755
	modeScript fs.FileMode = 0o755
	modeFile   fs.FileMode = 0o644
)

// maxReplaced limits the size of a file that is replaced, in bytes.
const maxReplaced = 16 << 20

// lockWait limits how long we wait for another command that edits the same file.
const lockWait = 5 * time.Second

// A writer changes files below some directories, all or none. It uses [os.Root], so symbolic links cannot lead out of
// the directories. Paths are absolute.
type writer struct {
	ctx    context.Context
	dirs   []string
	dryRun bool // check, but write nothing
	roots  map[string]*os.Root
	undo   []func()
}

func newWriter(ctx context.Context, dirs ...string) *writer {
	return &writer{ctx: ctx, dirs: dirs, roots: map[string]*os.Root{}}
}

// writerFor returns a writer for a project. The operator can have moved its directories elsewhere.
func writerFor(ctx context.Context, p *project.Project, dryRun bool) *writer {
	w := newWriter(ctx, p.Root)
	for _, dir := range []string{p.Server, p.Tools, p.Prompts, p.Resources, p.Completions, p.UI} {
		w.dirs = append(w.dirs, filepath.Dir(dir))
	}
	w.dryRun = dryRun
	return w
}

// close restores everything as it was if there was an error.
func (w *writer) close(err *error) {
	if *err != nil {
		w.ctx = context.WithoutCancel(w.ctx)
		for _, undo := range slices.Backward(w.undo) {
			undo()
		}
	}
	for _, root := range w.roots {
		root.Close()
	}
}

// below returns the directory that a path is below, and the path in it.
func (w *writer) below(path string) (root *os.Root, name string, err error) {
	at := slices.IndexFunc(w.dirs, func(dir string) bool { return fsys.Within(dir, path) })
	dir := w.dirs[max(at, 0)]
	if w.roots[dir] == nil {
		if w.roots[dir], err = os.OpenRoot(dir); err != nil {
			delete(w.roots, dir)
			return nil, "", failed(dir, err)
		}
	}
	name, err = filepath.Rel(dir, path)
	return w.roots[dir], name, err
}

// look returns the type of a file without following links, or nil if the file does not exist.
func (w *writer) look(path string) (fs.FileInfo, error) {
	root, name, err := w.below(path)
	if err != nil {
		return nil, err
	}
	info, err := root.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed(path, err)
	}
	return info, nil
}

// mkdir creates a directory and its parents.
func (w *writer) mkdir(dir string) error {
	root, name, err := w.below(dir)
	if err != nil || name == "." {
		return err
	}
	info, err := root.Stat(name) // a link to a directory in the project is accepted
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return cli.Failf(cli.CodeExists, "%s is in the way: not a directory", dir)
	case !errors.Is(err, fs.ErrNotExist):
		return failed(dir, err)
	}
	if err := w.mkdir(filepath.Dir(dir)); err != nil || w.dryRun {
		return err
	}
	if err := root.Mkdir(name, 0o700); err != nil {
		return failed(dir, err)
	}
	w.undo = append(w.undo, func() { root.Remove(name) }) // fails for a directory that is no longer empty
	if err := root.Chmod(name, modeDir); err != nil {
		return failed(dir, err)
	}
	return nil
}

// edit replaces the text of a file by the result of change. A new file gets the mode, and an existing one keeps its
// attributes. A nil result for a missing file changes nothing.
func (w *writer) edit(path string, mode fs.FileMode, most int, change func(userfile.File) ([]byte, error)) error {
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	if err := w.mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	info, err := w.look(path)
	switch {
	case err != nil:
		return err
	case info != nil && !info.Mode().IsRegular():
		return inTheWay(path, info)
	}
	root, name, err := w.below(path)
	if err != nil {
		return err
	}
	dir, err := root.OpenRoot(filepath.Dir(name))
	if w.dryRun && errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return failed(path, err)
	}
	defer dir.Close()
	var old userfile.File
	o := userfile.Options{Max: most, Mode: mode, Wait: lockWait, DryRun: w.dryRun}
	_, err = userfile.Edit(w.ctx, dir, filepath.Base(name), o, func(there userfile.File) ([]byte, error) {
		old = there
		return change(there)
	})
	switch _, known := errors.AsType[*cli.Error](err); {
	case err == nil && !old.There:
		w.undo = append(w.undo, func() { root.Remove(name) })
		return nil
	case err == nil:
		w.undo = append(w.undo, func() {
			w.edit(path, mode, most, func(userfile.File) ([]byte, error) { return old.Text, nil })
			root.Chmod(name, info.Mode())
		})
		return nil
	case known, err == context.Cause(w.ctx):
		return err
	}
	if _, ok := errors.AsType[*atomicfile.LockedError](err); ok {
		return cli.Failf(cli.CodeTimeout, "%s: another mcp-bash command is editing it; try again", path)
	}
	return failed(path, err)
}

// put writes the file f to a path, with its mode.
func (w *writer) put(path string, f file) error {
	err := w.edit(path, f.mode, maxReplaced, func(userfile.File) ([]byte, error) { return []byte(f.text), nil })
	if err != nil || w.dryRun {
		return err
	}
	root, name, err := w.below(path)
	if err == nil {
		err = root.Chmod(name, f.mode)
	}
	return err
}

// putNew writes a file whose path must not exist yet.
func (w *writer) putNew(path string, f file) error {
	info, err := w.look(path)
	if err == nil && info != nil {
		err = taken(path, "file")
	}
	if err != nil {
		return err
	}
	return w.put(path, f)
}

// putDir creates a directory with files under a temporary name, and then renames it, so that a running server never
// reads an incomplete item. The name must not exist yet. Errors use what as the name of the item's kind. The files
// are not synced to disk, because that is slow, and the same command can create them again after a crash.
func (w *writer) putDir(dir, what string, files []file) (err error) {
	if err := w.mkdir(filepath.Dir(dir)); err != nil || w.dryRun {
		return err
	}
	root, name, err := w.below(dir)
	if err != nil {
		return err
	}
	temporary := temporaryName(name)
	defer func() {
		if err != nil {
			root.RemoveAll(temporary)
		}
	}()
	aside := filepath.Join(filepath.Dir(dir), filepath.Base(temporary))
	if err := w.mkdir(aside); err != nil {
		return err
	}
	for _, f := range files {
		if err := context.Cause(w.ctx); err != nil {
			return err
		}
		if err := w.mkdir(filepath.Dir(filepath.Join(aside, f.path))); err != nil {
			return err
		}
		if err := writeNew(root, filepath.Join(temporary, f.path), f); err != nil {
			return failed(filepath.Join(dir, f.path), err)
		}
	}
	if err := root.Rename(temporary, name); errors.Is(err, fs.ErrExist) { // another process was faster
		return taken(dir, what)
	} else if err != nil {
		return failed(dir, err)
	}
	w.undo = append(w.undo, func() { root.RemoveAll(name) })
	return nil
}

// writeNew writes a new file.
func writeNew(root *os.Root, name string, f file) error {
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.WriteString(f.text)
	return errors.Join(err, out.Chmod(f.mode), out.Close())
}

// putItem writes the directory of an item. An existing one is an error. With force, its files are replaced.
func (w *writer) putItem(dir, what string, files []file, force bool) error {
	info, err := w.look(dir)
	switch {
	case err != nil:
		return err
	case info == nil:
		return w.putDir(dir, what, files)
	case !force:
		return taken(dir, what)
	case !info.IsDir():
		return inTheWay(dir, info)
	}
	for _, f := range files {
		if err := w.put(filepath.Join(dir, filepath.FromSlash(f.path)), f); err != nil {
			return err
		}
	}
	return nil
}

// temporaryName returns the name of an item until it is complete. Discovery ignores names that begin with a dot.
func temporaryName(name string) string {
	var tag [6]byte
	rand.Read(tag[:]) // never fails
	return filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".new-"+hex.EncodeToString(tag[:]))
}

// incomplete matches the result of [temporaryName] in a path.
var incomplete = lazyregexp.New(`\.([^/\\]+)\.new-[0-9a-f]{12}\b`)

// failed returns the error for a path that the file system could not write.
func failed(path string, err error) error {
	if fsys.Escapes(err) {
		return cli.Failf(cli.CodeInvalid, "%s: a symbolic link on its path leads out of the project; "+
			"put a directory in its place", path)
	}
	path = incomplete.ReplaceAllString(path, "$1")
	return cli.Failf(cli.CodeInternal, "%s cannot be written: %v", path, fsys.Cause(err))
}

// taken returns the error for a name that already exists.
func taken(path, what string) error {
	return cli.Failf(cli.CodeExists, "Target %s already exists (remove it or choose a new %s name)", path, what)
}

// inTheWay returns the error for a path that has something other than a regular file.
func inTheWay(path string, info fs.FileInfo) error {
	what := "not a regular file"
	if info.Mode()&fs.ModeSymlink != 0 {
		what = "a symbolic link"
	}
	return cli.Failf(cli.CodeExists, "%s is in the way: %s; remove it first", path, what)
}
