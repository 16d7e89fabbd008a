package clients

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/userfile"
)

const backupSuffix = ".mcp-bash.bak"

// lockWait limits how long we wait for another command that edits the same file.
const lockWait = 5 * time.Second

// newMode is the mode of a new file. Other users need not know which servers somebody runs.
const newMode fs.FileMode = 0o600

type before struct {
	text   []byte
	there  bool // the file exists
	backup []byte
}

// edit replaces the text of a file by the result of change. A nil result deletes the file. A
// symbolic link to the file is kept. edit returns the path of a backup of the old text.
func (t target) edit(ctx context.Context, max int, change func(before) ([]byte, error)) (backup string,
	err error) {
	path, err := t.resolve()
	if err != nil {
		return "", err
	}
	dir, err := t.openDir(filepath.Dir(path))
	if err != nil {
		return "", t.failed(err)
	}
	if dir == nil { // the directory would be created
		_, err = change(before{})
		return "", err
	}
	defer dir.Close()
	base := filepath.Base(path)
	o := userfile.Options{Max: max, Mode: newMode, Backup: base + backupSuffix, Wait: lockWait, DryRun: t.dry}
	kept, err := userfile.Edit(ctx, dir, base, o, func(f userfile.File) ([]byte, error) {
		return change(before{f.Text, f.There, readBackup(dir, o.Backup, max)})
	})
	var locked *atomicfile.LockedError
	switch {
	case errors.As(err, &locked):
		return "", cli.Failf(cli.CodeTimeout, "%s: another mcp-bash config is editing it; try again", path)
	case err != nil && err == context.Cause(ctx):
		return "", err
	case err != nil:
		return "", t.failed(err)
	case kept:
		return filepath.Join(filepath.Dir(path), o.Backup), nil
	}
	return "", nil
}

// readBackup returns the text of a backup, or nil if it cannot be read.
func readBackup(dir *os.Root, name string, max int) []byte {
	text, err := boundedfile.ReadIn(dir, name, max)
	if err != nil {
		return nil
	}
	return text
}

func (t target) failed(err error) error {
	if e, ok := err.(*cli.Error); ok {
		return e
	}
	if fsys.Escapes(err) {
		err = errors.New("a symbolic link on its path leads out of the project; name the file with --file")
	}
	if t.dry {
		return cli.Failf(cli.CodeInvalid, "%s: %v", t.path, fsys.Cause(err))
	}
	return cli.Failf(cli.CodeInvalid, "%s: %v; nothing was changed", t.path, fsys.Cause(err))
}

// resolve follows symbolic links to the path of the file, which may not exist yet.
func (t target) resolve() (string, error) {
	path, err := filepath.EvalSymlinks(t.path)
	if err == nil {
		return path, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", t.failed(err)
	}
	if _, err := os.Lstat(t.path); err == nil {
		return "", t.failed(errors.New("a link that leads nowhere; remove it, or create its target"))
	}
	// Resolve the part of the path that exists.
	rest := filepath.Base(t.path)
	for dir := filepath.Dir(t.path); ; dir = filepath.Dir(dir) {
		if physical, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(physical, rest), nil
		} else if _, lerr := os.Lstat(dir); lerr == nil || dir == filepath.Dir(dir) {
			return "", t.failed(fmt.Errorf("%s: %w", dir, fsys.Cause(err)))
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// openDir opens the directory of the file, and creates it if it is missing. If t.dry is true,
// it does not create it and returns nil.
func (t target) openDir(dir string) (*os.Root, error) {
	if t.inside == "" {
		if !t.dry {
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
		return nil, errors.New("a symbolic link on its path leads out of the project; name the file with --file")
	}
	if !t.dry {
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
