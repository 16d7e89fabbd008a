//go:build unix

package script

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Shortage says what to do about an error that is a want of descriptors,
// processes or memory; "" for every other error. It begins with a semicolon,
// to follow the error's own text.
func Shortage(err error) string {
	switch {
	case errors.Is(err, unix.EMFILE):
		return "; this process has too many files open: raise the limit (ulimit -n) or run less at once"
	case errors.Is(err, unix.ENFILE):
		return "; the system has too many files open: close programs or raise its limit"
	case errors.Is(err, unix.EAGAIN):
		return "; too many processes: raise the user's limit (ulimit -u) or run less at once"
	case errors.Is(err, unix.ENOMEM):
		return "; not enough memory: run less at once"
	}
	return ""
}
