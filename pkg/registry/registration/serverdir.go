package registration

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/kinds"
)

// A serverDir is server.d while its register.json is being changed. The lock is on
// the directory itself, which leaves no file among those that are checked in, and
// holds wherever the registry directory is.
type serverDir struct {
	path string
	wait time.Duration
	try  func(*os.File) (locked bool, err error) // [atomicfile.TryLock], but in tests

	root *os.Root
	file *os.File // holds the lock
}

// lockName is the file that is locked where a directory cannot be: on Windows,
// and on some network file systems.
const lockName = "." + declare.JSONFile + ".lock"

// lockPurpose is what messages call the lock.
const lockPurpose = "registry.register"

// lock opens the directory and takes its lock; the system releases it when we
// die. The error is a [*Failure] when somebody else holds it for too long.
func (d *serverDir) lock(ctx context.Context) error {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	file, err := root.Open(".")
	if err == nil {
		err = atomicfile.Lock(ctx, file, lockPurpose, d.wait, d.try)
		var unable *atomicfile.UnwritableError
		if errors.As(err, &unable) {
			file.Close()
			if file, err = root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
				err = atomicfile.Lock(ctx, file, lockPurpose, d.wait, d.try)
			}
		}
	}
	if err == nil {
		d.root, d.file = root, file
		return nil
	}
	if file != nil {
		file.Close()
	}
	root.Close()
	var locked *atomicfile.LockedError
	if errors.As(err, &locked) {
		return &registry.Failure{Kind: kinds.Tools, Reason: locked.Error(), Fatal: true, Err: err}
	}
	return err
}

// unlock gives the lock back.
func (d *serverDir) unlock() {
	d.file.Close()
	d.root.Close()
}

// newMode is the mode of a register.json that we make.
const newMode = 0o644

// errOvertaken means that a person, who takes no lock, changed register.json meanwhile.
var errOvertaken = errors.New("changed meanwhile")

// write puts a new register.json in the place of one with a text, nil for none.
func (d *serverDir) write(ctx context.Context, old, text []byte, max int) error {
	o := userfile.Options{Max: max, Mode: newMode, Locked: true}
	_, err := userfile.Edit(ctx, d.root, declare.JSONFile, o, func(f userfile.File) ([]byte, error) {
		if f.There != (old != nil) || !bytes.Equal(f.Text, old) {
			return nil, errOvertaken
		}
		return text, nil
	})
	return err
}

// isDenied reports whether the system refuses access.
func isDenied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}
