//go:build unix

package doctor

import (
	"errors"

	"golang.org/x/sys/unix"
)

// alive reports whether there is a process.
func alive(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
