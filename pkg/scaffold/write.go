package scaffold

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/userfile"
)

// A place is a directory in which files are written through [os.Root], so symbolic links
// cannot lead out of it. After an error, close removes everything that was created
// (CLI-602).
type place struct {
	ctx  context.Context
	dir  string
	root *os.Root
	made []made // the new files and directories, in order
}

// made is something that was created: a file, a directory, or a directory with its contents.
type made struct {
	path  string
	whole bool
}

func openPlace(ctx context.Context, dir string) (*place, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, failed(dir, err)
	}
	return &place{ctx: ctx, dir: dir, root: root}, nil
}

// close removes what was created if err is not nil.
func (p *place) close(err error) {
	if err != nil {
		for _, m := range slices.Backward(p.made) {
			if m.whole {
				p.root.RemoveAll(m.path)
			} else {
				p.root.Remove(m.path) // fails for a directory that is no longer empty
			}
		}
	}
	p.root.Close()
}

// abs returns the absolute path of a name in the place.
func (p *place) abs(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// look returns the type of a file without following links, or nil if the file does not
// exist.
func (p *place) look(name string) (fs.FileInfo, error) {
	info, err := p.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failed(p.abs(name), err)
	}
	return info, nil
}

// read returns the content of a regular file of at most max bytes.
func (p *place) read(name string, max int64) (string, error) {
	f, err := boundedfile.OpenIn(p.root, name)
	if err != nil {
		return "", &cli.Error{Code: cli.CodeInvalid, Subject: p.abs(name), Cause: err}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, max+1))
	switch {
	case err != nil:
		return "", &cli.Error{Code: cli.CodeInvalid, Subject: p.abs(name), Cause: fsys.Cause(err)}
	case int64(len(text)) > max:
		return "", cli.Failf(cli.CodeInvalid, "%s: larger than %d bytes; add to it by hand", p.abs(name), max)
	}
	return string(text), nil
}

// mkdir creates a directory and its parents, and reports whether it is new.
func (p *place) mkdir(name string) (fresh bool, err error) {
	if name == "." {
		return false, nil
	}
	info, err := p.root.Stat(name) // a link to a directory in the project is accepted
	switch {
	case err == nil && info.IsDir():
		return false, nil
	case err == nil:
		return false, cli.Failf(cli.CodeExists, "%s is in the way: not a directory", p.abs(name))
	case !errors.Is(err, fs.ErrNotExist):
		return false, failed(p.abs(name), err)
	}
	if _, err := p.mkdir(path.Dir(name)); err != nil {
		return false, err
	}
	if err = p.root.Mkdir(name, 0o700); err != nil {
		return false, failed(p.abs(name), err)
	}
	p.made = append(p.made, made{path: name})
	if err = p.root.Chmod(name, modeDir); err != nil {
		return false, failed(p.abs(name), err)
	}
	return true, nil
}

// put writes a file under a temporary name and then renames it (CLI-110). If the write fails
// or is interrupted, an existing file stays as it was. An existing file gets f.mode.
func (p *place) put(f file) error { return p.putAs(f, f.mode, nil) }

// putOver is put for a file that is edited. The file keeps its mode. Unless was is nil, putOver
// fails if the file's text is no longer *was.
func (p *place) putOver(f file, was *string) error { return p.putAs(f, 0, was) }

// putAs writes a file with a mode. Mode 0 keeps the mode of an existing file.
func (p *place) putAs(f file, mode fs.FileMode, was *string) error {
	if err := context.Cause(p.ctx); err != nil {
		return err
	}
	old, err := p.look(f.path)
	switch {
	case err != nil:
		return err
	case old != nil && !old.Mode().IsRegular():
		return inTheWay(p.abs(f.path), old)
	case old != nil:
		return p.replace(f, mode, was)
	case was != nil:
		return p.changed(f.path)
	}
	if _, err := p.mkdir(path.Dir(f.path)); err != nil {
		return err
	}
	temporary := temporaryName(f.path)
	if err := p.write(temporary, f); err != nil {
		p.root.Remove(temporary)
		return failed(p.abs(f.path), err)
	}
	if err := p.root.Rename(temporary, f.path); err != nil {
		p.root.Remove(temporary)
		return failed(p.abs(f.path), err)
	}
	p.made = append(p.made, made{path: f.path})
	return nil
}

// maxReplaced limits the size of a file that is replaced, in bytes.
const maxReplaced = 16 << 20

// lockWait limits how long we wait for another command that edits the same file.
const lockWait = 5 * time.Second

// replace replaces the text of a user's file, and its mode if mode is not 0. Its other
// attributes are kept.
func (p *place) replace(f file, mode fs.FileMode, was *string) error {
	dir, err := p.root.OpenRoot(path.Dir(f.path))
	if err != nil {
		return failed(p.abs(f.path), err)
	}
	defer dir.Close()
	name := path.Base(f.path)
	o := userfile.Options{Max: maxReplaced, Wait: lockWait}
	_, err = userfile.Edit(p.ctx, dir, name, o, func(there userfile.File) ([]byte, error) {
		if was != nil && (!there.There || string(there.Text) != *was) {
			return nil, p.changed(f.path)
		}
		return []byte(f.text), nil
	})
	var failure *cli.Error
	var locked *atomicfile.LockedError
	switch {
	case errors.As(err, &failure), err != nil && err == context.Cause(p.ctx):
		return err
	case errors.As(err, &locked):
		return cli.Failf(cli.CodeTimeout, "%s: another mcp-bash command is editing it; try again", p.abs(f.path))
	case err != nil:
		return failed(p.abs(f.path), err)
	}
	if mode != 0 {
		if err := dir.Chmod(name, mode); err != nil {
			return failed(p.abs(f.path), err)
		}
	}
	return nil
}

// changed returns the error for a file that a person edited while it was being merged.
func (p *place) changed(name string) error {
	return cli.Failf(cli.CodeInvalid, "%s changed in the meantime and was kept; run this command again", p.abs(name))
}

// write writes a new file. It does not sync it to disk, because that takes longer than everything else.
// If the system fails now, the same command can create the lost file again.
func (p *place) write(name string, f file) error {
	w, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = w.WriteString(f.text)
	if err == nil {
		err = w.Chmod(f.mode)
	}
	if errClose := w.Close(); err == nil {
		err = errClose
	}
	return err
}

// putDir creates a directory with files, completely or not at all. It creates the directory
// under a temporary name and then renames it. The name must not exist yet. Errors
// call the item what.
func (p *place) putDir(name, what string, files []file) (err error) {
	if _, err := p.mkdir(path.Dir(name)); err != nil {
		return err
	}
	temporary := temporaryName(name)
	inside := &place{ctx: p.ctx, dir: p.dir, root: p.root}
	defer func() {
		if err != nil {
			p.root.RemoveAll(temporary)
		}
	}()
	if _, err := inside.mkdir(temporary); err != nil {
		return err
	}
	for _, f := range files {
		final := f.path
		f.path = path.Join(temporary, f.path)
		if err := inside.put(f); err != nil {
			var failure *cli.Error
			if errors.As(err, &failure) {
				return cli.Failf(failure.Code, "%v (nothing was created; %s belongs in %s)", failure, final, p.abs(name))
			}
			return err
		}
	}
	if err := p.root.Rename(temporary, name); errors.Is(err, fs.ErrExist) { // another process was faster
		return taken(p.abs(name), what)
	} else if err != nil {
		return failed(p.abs(name), err)
	}
	p.made = append(p.made, made{name, true})
	return nil
}

// temporaryName returns the name of an item until it is complete. Discovery ignores names
// that begin with a dot.
func temporaryName(name string) string {
	var tag [6]byte
	rand.Read(tag[:]) // never fails
	return path.Join(path.Dir(name), "."+path.Base(name)+".new-"+hex.EncodeToString(tag[:]))
}

// failed returns the error for a path that the file system could not write.
func failed(path string, err error) error {
	if fsys.Escapes(err) {
		return cli.Failf(cli.CodeInvalid, "%s: a symbolic link on its path leads out of the project; "+
			"put a directory in its place", path)
	}
	return cli.Failf(cli.CodeInternal, "%s cannot be written: %v", path, fsys.Cause(err))
}

// taken returns the error for a name that already exists (CLI-505, CLI-602).
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
