package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock locks a file for as long as it stays open. It returns false without an error if another program has the
// lock.
func TryLock(f *os.File) (locked bool, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
