package registry

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/registry/kinds"
)

const (
	lockFile        = ".lock"
	DefaultLockWait = 5 * time.Second
)

type store struct {
	dir   string
	check func(path string) error // returns an error if other users could have written the path
	limit int                     // the maximum size of a file, in bytes
	wait  time.Duration
	skew  atomic.Int64 // nanoseconds by which the file system's clock is ahead of the system clock
}

type registryFile struct {
	envelope
	stamp folder.Stamp
}

var (
	errMissing   = errors.New("missing")
	errOvertaken = errors.New("another program was faster")
)

// sum returns the hash, or "" if there is no valid file.
func (f *registryFile) sum() string {
	if f == nil {
		return ""
	}
	return f.hash
}

func (s *store) path(file string) string { return filepath.Join(s.dir, file) }

func (s *store) stamp(file string) folder.Stamp { return folder.StampOfPath(s.path(file)) }

// bytes returns the content of a file in the directory. The error may be errMissing or
// [folder.ErrTooLarge].
func (s *store) bytes(file string) ([]byte, folder.Stamp, error) {
	var text []byte
	var stamp folder.Stamp
	err := s.check(s.path(file))
	if err == nil {
		text, stamp, err = folder.ReadFile(s.path(file), s.limit)
	}
	switch {
	case err != nil && folder.Missing(err):
		err = errMissing
	case err != nil:
		err = fsys.Cause(err)
	}
	return text, stamp, err
}

// File returns the items of a kind's registry file, without a look at the project. The error is [fs.ErrNotExist], or
// the reason why the file is invalid.
func (c *Catalog) File(kind *kinds.Kind) (*List, error) {
	file, err := c.store.read(kind)
	if errors.Is(err, errMissing) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return file.list(kind), nil
}

// read reads the registry file of a kind. The error is errMissing, or the reason why the
// file is invalid.
func (s *store) read(k *kinds.Kind) (*registryFile, error) {
	text, stamp, err := s.bytes(k.File)
	if err != nil {
		return nil, err
	}
	e, err := parseEnvelope(text)
	if err != nil {
		return nil, err
	}
	return &registryFile{*e, stamp}, nil
}

// write writes the registry file of a kind, unless there is a valid file with the same hash,
// and returns the stamp of the file. wait is the maximum time to wait for the lock. If over
// is not nil, the current file must have the hash *over ("": there is no valid file).
// Otherwise the error is errOvertaken. Other errors are an [*atomicfile.LockedError], an
// [*atomicfile.UnwritableError], or the context's error.
func (s *store) write(
	ctx context.Context, k *kinds.Kind, hash string, text []byte, over *string, wait time.Duration,
) (folder.Stamp, error) {
	dir, err := s.open()
	if err != nil {
		return folder.Stamp{}, &atomicfile.UnwritableError{Err: err}
	}
	defer dir.Close()
	unlock, err := s.lock(ctx, dir, wait)
	if err != nil {
		return folder.Stamp{}, err
	}
	defer unlock()
	there, err := s.read(k)
	switch {
	case err == nil && there.hash == hash:
		return there.stamp, nil
	case over != nil && there.sum() != *over:
		return folder.Stamp{}, errOvertaken
	}
	written, err := atomicfile.Write(dir, k.File, text)
	if err != nil {
		return folder.Stamp{}, &atomicfile.UnwritableError{Err: err}
	}
	s.observe(written)
	// The renaming has changed the stamp. If another program has replaced the file since
	// then, the new stamp is unknown.
	if there := s.stamp(k.File); there.Dev == written.Dev && there.Ino == written.Ino {
		return there, nil
	}
	return folder.Stamp{}, nil
}

// open opens the directory for writing, and creates it if needed.
func (s *store) open() (*os.Root, error) {
	err := s.check(s.dir)
	if err == nil {
		return os.OpenRoot(s.dir)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(s.dir), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return os.OpenRoot(s.dir)
}

// sweep removes the partial files of killed programs. It takes the lock, so no program is writing one of them. Files
// that cannot be removed stay until the next refresh.
func (s *store) sweep(ctx context.Context) {
	if s.check(s.dir) != nil {
		return
	}
	dir, err := os.OpenRoot(s.dir)
	if err != nil {
		return
	}
	defer dir.Close()
	entries, _ := fs.ReadDir(dir.FS(), ".")
	left := slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !atomicfile.IsTemporary(e.Name()) || !e.Type().IsRegular()
	})
	if len(left) == 0 {
		return
	}
	unlock, err := s.lock(ctx, dir, 0)
	if err != nil {
		return
	}
	defer unlock()
	for _, e := range left {
		dir.Remove(e.Name())
	}
}

// lock takes the lock of the directory. The system releases it if the process
// dies.
func (s *store) lock(ctx context.Context, dir *os.Root, wait time.Duration) (unlock func(), err error) {
	f, err := dir.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &atomicfile.UnwritableError{Err: err}
	}
	if err := atomicfile.Lock(ctx, f, "registry.refresh", wait); err != nil {
		f.Close()
		if locked, ok := errors.AsType[*atomicfile.LockedError](err); ok {
			locked.Wait = s.wait // the wait for another kind counts
		}
		return nil, err
	}
	return func() { f.Close() }, nil
}

// observe updates the skew of the file system's clock from the stamp of a file that was just
// written.
func (s *store) observe(written folder.Stamp) {
	if written.Ctime != 0 {
		s.skew.Store(written.Ctime - time.Now().UnixNano())
	}
}

// clock returns the time of the file system's clock at the moment now. The result is never
// later than now, because stamps lag behind the clock.
func (s *store) clock(now time.Time) time.Time {
	return now.Add(min(0, time.Duration(s.skew.Load())))
}
