package registration

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/kinds"
)

// A serverDir is server.d during a change of its register.json. The lock is on the
// directory itself. So there is no lock file among checked-in files, and all processes use
// the same lock even with different registry directories.
type serverDir struct {
	path string
	wait time.Duration
	try  func(*os.File) (locked bool, err error) // [atomicfile.TryLock], except in tests

	root *os.Root
	file *os.File // holds the lock
}

// lockName is the lock file on systems that cannot lock a directory: Windows and some
// network file systems.
const lockName = "." + declare.JSONFile + ".lock"

const lockPurpose = "registry.register"

// lock opens the directory and takes its lock. The system releases the lock if the process
// dies. If another process holds the lock for too long, the error is a
// [*registry.Failure].
func (d *serverDir) lock(ctx context.Context) error {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	file, err := root.Open(".")
	if err == nil {
		err = atomicfile.Lock(ctx, file, lockPurpose, d.wait, d.try)
		if _, ok := errors.AsType[*atomicfile.UnwritableError](err); ok {
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
	if locked, ok := errors.AsType[*atomicfile.LockedError](err); ok {
		return &registry.Failure{Kind: kinds.Tools, Reason: locked.Error(), Fatal: true, Err: err}
	}
	return err
}

func (d *serverDir) unlock() {
	d.file.Close()
	d.root.Close()
}

const newMode = 0o644

// errOvertaken means that an editor, which takes no lock, has changed register.json.
var errOvertaken = errors.New("changed meanwhile")

// write replaces a register.json with the text old, or creates one if old is nil.
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
