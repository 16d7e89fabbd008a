package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock locks a file as long as it stays open; not locked without an error
// means that somebody else has it.
func TryLock(f *os.File) (locked bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
