//go:build unix

package script

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Shortage returns the remedy for a lack of descriptors, processes or memory, or "". It begins with
// a semicolon, to follow the text of the error.
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
