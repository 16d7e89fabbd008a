package registry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

const (
	lockFile    = ".lock"
	lockWait    = 5 * time.Second
	lockFirst   = time.Millisecond
	lockLongest = 50 * time.Millisecond
)

// A store is the registry directory.
type store struct {
	dir   string
	check func(path string) error // says why others could have written it
	limit int                     // bytes of a file
	wait  time.Duration
	skew  atomic.Int64 // how far the clock of the file system is ahead of ours
}

// A registryFile is a valid file in the directory.
type registryFile struct {
	envelope
	stamp stamp
}

var (
	errMissing   = errors.New("missing")
	errOvertaken = errors.New("another program was faster")
)

// sum is the hash, "" where there is no valid file.
func (f *registryFile) sum() string {
	if f == nil {
		return ""
	}
	return f.hash
}

// An unwritableError: the directory cannot be written to.
type unwritableError struct{ err error }

func (e *unwritableError) Error() string { return plainError(e.err).Error() }

// A lockedError: somebody else holds the lock.
type lockedError struct{ wait time.Duration }

func (e *lockedError) Error() string {
	return fmt.Sprintf("registry lock 'registry.refresh' unavailable after %gs", e.wait.Seconds())
}

// path names a file in the directory.
func (s *store) path(file string) string { return filepath.Join(s.dir, file) }

// stamp looks at a file in the directory.
func (s *store) stamp(file string) stamp { return stampOfPath(s.path(file)) }

// bytes reads a file in the directory, whatever stands there. The error is
// errMissing, errTooLarge, or another one.
func (s *store) bytes(file string) ([]byte, stamp, error) {
	var text []byte
	var stamp stamp
	err := s.check(s.path(file))
	if err == nil {
		text, stamp, err = readPlain(s.path(file), s.limit)
	}
	switch {
	case err != nil && gone(err):
		err = errMissing
	case err != nil:
		err = plainError(err)
	}
	return text, stamp, err
}

// File returns the text of a kind's registry file as it is. The error is
// [fs.ErrNotExist], or says why it is not read.
func (c *Catalog) File(kind *Kind) ([]byte, error) {
	text, _, err := c.store.bytes(kind.File)
	if errors.Is(err, errMissing) {
		err = fs.ErrNotExist
	}
	return text, err
}

// read reads the registry file of a kind. The error is errMissing, or
// says why the file is not valid.
func (s *store) read(k *Kind) (*registryFile, error) {
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

// write puts a registry file in place unless a valid one of the same hash is
// there by now, and returns its stamp. It waits so long for the lock at
// most. over, unless it is nil, is the hash of the file that has to be there, ""
// for none; else the error is errOvertaken. Other errors are a [*lockedError],
// an [*unwritableError], or the context's.
func (s *store) write(ctx context.Context, k *Kind, hash string, text []byte, over *string, wait time.Duration) (stamp, error) {
	dir, err := s.open()
	if err != nil {
		return stamp{}, &unwritableError{err}
	}
	defer dir.Close()
	unlock, err := s.lock(ctx, dir, wait)
	if err != nil {
		return stamp{}, err
	}
	defer unlock()
	there, err := s.read(k)
	switch {
	case err == nil && there.hash == hash:
		return there.stamp, nil
	case over != nil && there.sum() != *over:
		return stamp{}, errOvertaken
	}
	f, err := s.create(dir, k.File)
	if err != nil {
		return stamp{}, &unwritableError{err}
	}
	written, err := f.finish(text, true)
	if err != nil {
		return stamp{}, &unwritableError{err}
	}
	// The renaming has changed the stamp. Should another program have put its
	// file in place since, ours is unknown.
	if there := s.stamp(k.File); there.dev == written.dev && there.ino == written.ino {
		return there, nil
	}
	return stamp{}, nil
}

// open opens the directory for writing, and makes it first where needed.
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

// lock takes the lock of the directory. The system releases it when we
// die.
func (s *store) lock(ctx context.Context, dir *os.Root, wait time.Duration) (unlock func(), err error) {
	f, err := dir.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &unwritableError{err}
	}
	if err := await(ctx, f, wait, tryLock); err != nil {
		f.Close()
		var locked *lockedError
		if errors.As(err, &locked) {
			locked.wait = s.wait // part of it for another kind
		}
		return nil, err
	}
	return func() { f.Close() }, nil
}

// await locks a file, trying until wait is over. The error is a
// [*lockedError], an [*unwritableError] for a file that cannot be locked, or
// the context's.
func await(ctx context.Context, f *os.File, wait time.Duration, try func(*os.File) (bool, error)) error {
	end := time.Now().Add(wait)
	for pause := lockFirst; ; pause = min(2*pause, lockLongest) {
		locked, err := try(f)
		if locked {
			return nil
		}
		if err != nil {
			return &unwritableError{err}
		}
		left := time.Until(end)
		if left <= 0 {
			return &lockedError{wait}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(pause, left)):
		}
	}
}

// A newFile becomes a file of the directory when it is complete.
type newFile struct {
	*os.File
	store     *store
	dir       *os.Root
	name, tmp string
}

func (s *store) create(dir *os.Root, name string) (*newFile, error) {
	return s.createAs(dir, name, name)
}

// tmpMark stands in the names of files that are not finished.
const tmpMark = ".tmp-"

// createAs creates a file whose temporary name begins otherwise than its own.
func (s *store) createAs(dir *os.Root, name, begin string) (*newFile, error) {
	var tag [6]byte
	rand.Read(tag[:]) // never fails
	tmp := fmt.Sprintf("%s%s%d-%s", begin, tmpMark, os.Getpid(), hex.EncodeToString(tag[:]))
	f, err := dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	n := &newFile{f, s, dir, name, tmp}
	n.stamp()
	return n, nil
}

// stamp looks at the file. Where it was written just now, it shows what time
// the file system thinks it is.
func (f *newFile) stamp() stamp {
	s := stampOfFile(f.File)
	if s.ctime != 0 {
		f.store.skew.Store(s.ctime - time.Now().UnixNano())
	}
	return s
}

// clock is what the clock of the file system shows at a moment, as far as we
// know; never later than that, since its stamps lag a little behind it.
func (s *store) clock(now time.Time) time.Time {
	return now.Add(min(0, time.Duration(s.skew.Load())))
}

// finish writes the file and puts it in place; sync has it survive a crash of
// the machine. The stamp is that of the file before it got its name.
func (f *newFile) finish(text []byte, sync bool) (stamp, error) {
	_, err := f.Write(text)
	if err == nil && sync {
		err = f.Sync()
	}
	written := f.stamp()
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = f.dir.Rename(f.tmp, f.name)
	}
	if err != nil {
		f.dir.Remove(f.tmp)
	}
	return written, err
}

// discard gives the file up.
func (f *newFile) discard() {
	f.Close()
	f.dir.Remove(f.tmp)
}
