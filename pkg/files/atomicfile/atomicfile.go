// Package atomicfile replaces whole files, and locks files. Readers see either the old or the new content.
//
// A file is written under a temporary name in the same directory, and renamed. [IsTemporary] recognizes the temporary
// files of killed programs.
package atomicfile

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
)

// temporaryMark is part of the name of a file that is not complete.
const temporaryMark = ".tmp-"

// IsTemporary reports whether [Write] uses a file name for files that are not complete.
func IsTemporary(name string) bool {
	base, _, found := strings.Cut(name, temporaryMark)
	return found && base != ""
}

// Write replaces a file of a directory. Readers see the old or the new text, also after
// a crash of the machine. The stamp is from before the renaming.
func Write(dir *os.Root, name string, text []byte) (folder.Stamp, error) {
	temporary := fmt.Sprintf("%s%s%d-%s", name, temporaryMark, os.Getpid(), rand.Text())
	f, err := dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return folder.Stamp{}, fsys.About(err, filepath.Join(dir.Name(), name))
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	written := folder.StampOfFile(f)
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = dir.Rename(temporary, name)
	}
	if err != nil {
		dir.Remove(temporary)
	}
	return written, fsys.About(err, filepath.Join(dir.Name(), name))
}

// The pauses between two attempts.
const (
	lockFirst   = time.Millisecond
	lockLongest = 50 * time.Millisecond
)

// An UnwritableError means that a directory cannot be written to, or a file cannot be locked.
type UnwritableError struct{ Err error }

func (e *UnwritableError) Error() string { return fsys.Cause(e.Err).Error() }

// A LockedError means that another program holds the lock.
type LockedError struct {
	Name string // of the lock, in messages
	Wait time.Duration
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("registry lock '%s' unavailable after %gs", e.Name, e.Wait.Seconds())
}

// Lock locks a file for as long as it stays open. It calls [TryLock] until the time wait has passed. The error is a
// [*LockedError], an [*UnwritableError], or the cause of the context.
func Lock(ctx context.Context, f *os.File, name string, wait time.Duration) error {
	end := time.Now().Add(wait)
	for pause := lockFirst; ; pause = min(2*pause, lockLongest) {
		locked, err := TryLock(f)
		if locked {
			return nil
		}
		if err != nil {
			return &UnwritableError{err}
		}
		left := time.Until(end)
		if left <= 0 {
			return &LockedError{name, wait}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(pause, left)):
		}
	}
}
