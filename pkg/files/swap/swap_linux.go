package swap

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func exchange(dir *os.File, a, b string) error {
	at := unix.AT_FDCWD
	if dir != nil {
		at = int(dir.Fd())
	}
	err := unix.Renameat2(at, a, at, b, unix.RENAME_EXCHANGE)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return ErrUnsupported
	case err != nil:
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}
