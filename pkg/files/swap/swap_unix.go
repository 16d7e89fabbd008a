//go:build linux || darwin

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
	switch err := rename(at, a, b); {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unsupported):
		return ErrUnsupported
	case err != nil:
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}
