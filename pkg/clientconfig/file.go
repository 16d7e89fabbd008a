package clientconfig

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/atomicfile"
)

// backupSuffix makes the name of a backup of that of a file.
const backupSuffix = ".mcp-bash.bak"

// lockWait is how long is waited for another command that edits a file beside ours; tests change it.
var lockWait = 5 * time.Second

// maxTries is how often an edit begins anew because the client wrote its file meanwhile.
const maxTries = 5

// before is what there was before an edit.
type before struct {
	text   []byte
	there  bool // text is that of a file, not of none
	backup []byte
	info   fs.FileInfo
}

// errChanged means that a file is no longer what was read.
var errChanged = errors.New("it changed again and again meanwhile; quit the client and try again")

// edit replaces the text of a file by what change makes of it; nil deletes the file. The
// file is replaced as a whole, so that whatever fails or is killed leaves the old one.
// Where a link leads to it, the link stays. The text before is kept in a backup.
func (t target) edit(ctx context.Context, max int, dry bool, change func(before) ([]byte, error)) (backup string,
	err error) {
	path, err := t.resolve()
	if err != nil {
		return "", err
	}
	dir, err := t.openDir(filepath.Dir(path), dry)
	if err != nil {
		return "", t.failed(err)
	}
	if dir == nil { // it would be made
		_, err = change(before{})
		return "", err
	}
	defer dir.Close()
	if !dry {
		unlock, err := lock(ctx, dir, path)
		if err != nil {
			return "", err
		}
		defer unlock()
	}
	base := filepath.Base(path)
	for range maxTries {
		if err := context.Cause(ctx); err != nil {
			return "", err
		}
		var b before
		if b, err = read(dir, base, max); err != nil {
			return "", t.failed(err)
		}
		after, err := change(b)
		if err != nil || dry || b.there && after != nil && bytes.Equal(b.text, after) || !b.there && after == nil {
			return "", err
		}
		kept, err := replace(dir, base, b, after)
		if err == errChanged {
			continue
		}
		if err != nil {
			return "", t.failed(err)
		}
		if kept != "" {
			kept = filepath.Join(filepath.Dir(t.path), kept)
			if path != t.path {
				kept = filepath.Join(filepath.Dir(path), filepath.Base(kept))
			}
		}
		return kept, nil
	}
	return "", t.failed(errChanged)
}

func (t target) failed(err error) error {
	if e, ok := err.(*cli.Error); ok {
		return e
	}
	if project.Escapes(err) {
		err = errors.New("a symbolic link on the way leads out of the project; name the file with --file")
	}
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return cli.Failf(cli.CodeInvalid, "%s: %v; nothing was changed", t.path, err)
}

// resolve follows links to where the file is, or is to be.
func (t target) resolve() (string, error) {
	path, err := filepath.EvalSymlinks(t.path)
	if err == nil {
		return path, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", t.failed(err)
	}
	if _, err := os.Lstat(t.path); err == nil {
		return "", t.failed(errors.New("a link that leads nowhere; remove it, or make the file it leads to"))
	}
	// As much of the way as there is.
	rest := filepath.Base(t.path)
	for dir := filepath.Dir(t.path); ; dir = filepath.Dir(dir) {
		if physical, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(physical, rest), nil
		} else if _, lerr := os.Lstat(dir); lerr == nil || dir == filepath.Dir(dir) {
			return "", t.failed(fmt.Errorf("%s: %w", dir, project.PlainError(err)))
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// openDir opens the directory of the file, and makes it where it is missing; dry only
// looks, and returns nil for none.
func (t target) openDir(dir string, dry bool) (*os.Root, error) {
	if t.inside == "" {
		if !dry {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, err
			}
		}
		return orNone(os.OpenRoot(dir))
	}
	root, err := os.OpenRoot(t.inside)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rel, err := filepath.Rel(t.inside, dir)
	if err != nil {
		return nil, err
	}
	if !filepath.IsLocal(rel) {
		return nil, errors.New("a symbolic link on the way leads out of the project; name the file with --file")
	}
	if !dry {
		if err := root.MkdirAll(rel, 0o755); err != nil {
			return nil, err
		}
	}
	return orNone(root.OpenRoot(rel))
}

func orNone(dir *os.Root, err error) (*os.Root, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return dir, err
}

// lock keeps other commands of ours out of a directory. Where a system cannot lock one,
// what they write is noticed all the same, but for the moment between looking and
// renaming.
func lock(ctx context.Context, dir *os.Root, path string) (unlock func(), err error) {
	f, err := dir.Open(".")
	if err != nil {
		return func() {}, nil
	}
	err = atomicfile.Lock(ctx, f, path, lockWait, atomicfile.TryLock)
	var locked *atomicfile.LockedError
	switch {
	case errors.As(err, &locked):
		f.Close()
		return nil, cli.Failf(cli.CodeTimeout, "%s: another mcp-bash config edits it; try again", path)
	case err != nil && ctx.Err() != nil:
		f.Close()
		return nil, context.Cause(ctx)
	}
	return func() { f.Close() }, nil
}

// read reads a file and its backup.
func read(dir *os.Root, base string, max int) (b before, err error) {
	f, err := project.OpenRegular(dir, base)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return b, err
	}
	defer f.Close()
	if b.text, b.info, err = readAll(f, max); err != nil {
		return b, err
	}
	b.there = true
	if b.info.Mode().Perm()&0o200 == 0 {
		return b, errors.New("it may not be written to; run chmod u+w on it first")
	}
	if kept, err := project.OpenRegular(dir, base+backupSuffix); err == nil {
		b.backup, _, _ = readAll(kept, max)
		kept.Close()
	}
	return b, nil
}

func readAll(f *os.File, max int) ([]byte, fs.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	tooLarge := fmt.Errorf("larger than %d bytes", max)
	if info.Size() > int64(max) {
		return nil, nil, tooLarge
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	if err == nil && len(text) > max {
		err = tooLarge
	}
	return text, info, err
}

// modes of a new file: others need not know what servers somebody runs.
const newMode fs.FileMode = 0o600

// replace puts a text, or nothing for nil, in place of a file that has not changed since
// it was read, and returns the name of the backup.
func replace(dir *os.Root, base string, b before, after []byte) (kept string, err error) {
	if b.there {
		kept = base + backupSuffix
		temporary, err := write(dir, kept, b.text, b.info)
		if err != nil {
			return "", fmt.Errorf("no backup can be made: %w", err)
		}
		if err := dir.Rename(temporary, kept); err != nil {
			dir.Remove(temporary)
			return "", fmt.Errorf("no backup can be made: %w", project.PlainError(err))
		}
	}
	if after == nil {
		if !unchanged(dir, base, b) {
			return "", errChanged
		}
		return kept, dir.Remove(base)
	}
	temporary, err := write(dir, base, after, b.info)
	if err != nil {
		return "", err
	}
	defer dir.Remove(temporary) // what was renamed is not there
	if !b.there {
		if err = dir.Link(temporary, base); errors.Is(err, fs.ErrExist) {
			return "", errChanged
		}
		if err == nil {
			return "", nil
		}
	}
	if !unchanged(dir, base, b) {
		return "", errChanged
	}
	return kept, dir.Rename(temporary, base)
}

// unchanged reports whether a file is what was read.
func unchanged(dir *os.Root, base string, b before) bool {
	info, err := dir.Lstat(base)
	if !b.there {
		return errors.Is(err, fs.ErrNotExist)
	}
	if err != nil || !os.SameFile(info, b.info) {
		return false
	}
	f, err := project.OpenRegular(dir, base)
	if err != nil {
		return false
	}
	defer f.Close()
	text, info, err := readAll(f, len(b.text))
	return err == nil && os.SameFile(info, b.info) && bytes.Equal(text, b.text)
}

// write writes a new file beside another, with the mode and owner of that if it is
// there, and sees to it that it is on the disk.
func write(dir *os.Root, base string, text []byte, like fs.FileInfo) (name string, err error) {
	var tag [6]byte
	rand.Read(tag[:]) // never fails
	name = "." + base + ".new-" + hex.EncodeToString(tag[:])
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newMode)
	if err != nil {
		return "", project.PlainError(err)
	}
	_, err = f.Write(text)
	if err == nil && like != nil {
		if err = keepOwner(f, like); err == nil {
			err = f.Chmod(like.Mode().Perm())
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err != nil {
		dir.Remove(name)
		return "", project.PlainError(err)
	}
	return name, nil
}
