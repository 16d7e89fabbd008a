package clientconfig

import (
	"context"
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
	"mcp-bash/pkg/userfile"
)

// backupSuffix makes the name of a backup of that of a file.
const backupSuffix = ".mcp-bash.bak"

// lockWait is how long is waited for another command that edits a file beside ours.
const lockWait = 5 * time.Second

// newMode is the mode of a new file: others need not know what servers somebody runs.
const newMode fs.FileMode = 0o600

// before is what there was before an edit.
type before struct {
	text   []byte
	there  bool // text is that of a file, not of none
	backup []byte
}

// edit replaces the text of a file by what change makes of it; nil deletes the file. Where a link leads to it, the
// link stays. The file before is kept as a backup, whose path is returned.
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
	base := filepath.Base(path)
	o := userfile.Options{Max: max, Mode: newMode, Backup: base + backupSuffix, Wait: lockWait, DryRun: dry}
	kept, err := userfile.Edit(ctx, dir, base, o, func(f userfile.File) ([]byte, error) {
		return change(before{f.Text, f.There, readBackup(dir, o.Backup, max)})
	})
	var locked *atomicfile.LockedError
	switch {
	case errors.As(err, &locked):
		return "", cli.Failf(cli.CodeTimeout, "%s: another mcp-bash config edits it; try again", path)
	case err != nil && err == context.Cause(ctx):
		return "", err
	case err != nil:
		return "", t.failed(err)
	case kept:
		return filepath.Join(filepath.Dir(path), o.Backup), nil
	}
	return "", nil
}

// readBackup returns the text of a backup, nil where none can be read.
func readBackup(dir *os.Root, name string, max int) []byte {
	f, err := project.OpenRegular(dir, name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	if err != nil || len(text) > max {
		return nil
	}
	return text
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
