package scaffold

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/atomicfile"
	"mcp-bash/pkg/userfile"
)

// A place is a directory that is written below, through [os.Root]: no link in it
// leads out. What is begun and not kept is taken away again (CLI-602).
type place struct {
	ctx  context.Context
	dir  string
	root *os.Root
	made []made // what was not there before, in order
	many bool   // files are not synced one by one
}

// made is something that was made: a file, a directory, or one with all that is in it.
type made struct {
	path  string
	whole bool
}

// openPlace opens a directory, which is there.
func openPlace(ctx context.Context, dir string) (*place, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, failed(dir, err)
	}
	return &place{ctx: ctx, dir: dir, root: root}, nil
}

// close gives up what was made unless all went well.
func (p *place) close(err error) {
	if err != nil {
		for _, m := range slices.Backward(p.made) {
			if m.whole {
				p.root.RemoveAll(m.path)
			} else {
				p.root.Remove(m.path) // a directory only while it is empty
			}
		}
	}
	p.root.Close()
}

// abs is the path of something in the place.
func (p *place) abs(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// look says what is at a path; nil where nothing is.
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

// read reads a regular file of at most max bytes.
func (p *place) read(name string, max int64) (string, error) {
	f, err := project.OpenRegular(p.root, name)
	if err != nil {
		return "", cli.Failf(cli.CodeInvalid, "%s: %v", p.abs(name), err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, max+1))
	switch {
	case err != nil:
		return "", cli.Failf(cli.CodeInvalid, "%s: %v", p.abs(name), project.PlainError(err))
	case int64(len(text)) > max:
		return "", cli.Failf(cli.CodeInvalid, "%s: larger than %d bytes; add to it by hand", p.abs(name), max)
	}
	return string(text), nil
}

// mkdir makes a directory and those above it, and reports whether it was not there.
func (p *place) mkdir(name string) (fresh bool, err error) {
	if name == "." {
		return false, nil
	}
	info, err := p.root.Stat(name) // a link to a directory of the project will do
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

// put writes a file: to a temporary name beside it, which then takes its place
// (CLI-110). An interrupted or failed write leaves what was there. Also a file that was there gets the mode.
func (p *place) put(f file) error { return p.putAs(f, f.mode, nil) }

// putOver is put for a file that is edited: it keeps its mode, and must still have a text, unless was is nil.
func (p *place) putOver(f file, was *string) error { return p.putAs(f, 0, was) }

// putAs writes a file, which gets a mode, 0 for the one that it has.
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

// maxReplaced bounds a file that is replaced, in bytes.
const maxReplaced = 16 << 20

// lockWait is how long is waited for another command that edits a file beside ours.
const lockWait = 5 * time.Second

// replace gives a file of the user another text, and leaves everything else about it as it is, but for the mode.
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
	var told *cli.Error
	var locked *atomicfile.LockedError
	switch {
	case errors.As(err, &told), err != nil && err == context.Cause(p.ctx):
		return err
	case errors.As(err, &locked):
		return cli.Failf(cli.CodeTimeout, "%s: another mcp-bash command edits it; try again", p.abs(f.path))
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

// changed is the error for a file that a person edited while it was being merged.
func (p *place) changed(name string) error {
	return cli.Failf(cli.CodeInvalid, "%s changed meanwhile and was left as it is; run this again", p.abs(name))
}

// write makes a new file and sees to it that it is on the disk.
func (p *place) write(name string, f file) error {
	w, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = w.WriteString(f.text)
	if err == nil {
		err = w.Chmod(f.mode)
	}
	if err == nil && !p.many {
		err = w.Sync()
	}
	if errClose := w.Close(); err == nil {
		err = errClose
	}
	return err
}

// putDir makes a directory with files, whole or not at all: it is made beside its
// name, which it is given at the end. There must be nothing of its name; what it is the
// name of is for the error.
func (p *place) putDir(name, what string, files []file) (err error) {
	if _, err := p.mkdir(path.Dir(name)); err != nil {
		return err
	}
	temporary := temporaryName(name)
	inside := &place{ctx: p.ctx, dir: p.dir, root: p.root, many: p.many}
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
			var told *cli.Error
			if errors.As(err, &told) {
				told.Message = fmt.Sprintf("%s (nothing was made; %s was to be in %s)", told.Message, final, p.abs(name))
			}
			return err
		}
	}
	if err := p.root.Rename(temporary, name); errors.Is(err, fs.ErrExist) { // somebody else was faster
		return taken(p.abs(name), what)
	} else if err != nil {
		return failed(p.abs(name), err)
	}
	p.made = append(p.made, made{name, true})
	return nil
}

// temporaryName is that of something until it is whole. Nothing looks at files
// that begin with a dot.
func temporaryName(name string) string {
	var tag [6]byte
	rand.Read(tag[:]) // never fails
	return path.Join(path.Dir(name), "."+path.Base(name)+".new-"+hex.EncodeToString(tag[:]))
}

// failed tells what the file system says.
func failed(path string, err error) error {
	if project.Escapes(err) {
		return cli.Failf(cli.CodeInvalid, "%s: a symbolic link on the way leads out of the project; "+
			"put a directory in its place", path)
	}
	return cli.Failf(cli.CodeInternal, "%s cannot be written: %v", path, project.PlainError(err))
}

// taken is the error for a name that there is already (CLI-505, CLI-602).
func taken(path, what string) error {
	return cli.Failf(cli.CodeExists, "Target %s already exists (remove it or choose a new %s name)", path, what)
}

// inTheWay is the error for something that is no file of ours.
func inTheWay(path string, info fs.FileInfo) error {
	what := "no regular file"
	if info.Mode()&fs.ModeSymlink != 0 {
		what = "a symbolic link"
	}
	return cli.Failf(cli.CodeExists, "%s is in the way: %s; remove it first", path, what)
}
