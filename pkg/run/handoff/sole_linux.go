package handoff

import (
	"os"

	"golang.org/x/sys/unix"
)

// isSoleHolder reports whether no other descriptor of a file is open. Only then does the
// kernel grant a write lease. On a file system without leases, the result is false.
func isSoleHolder(f *os.File) bool {
	fd := f.Fd()
	if _, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		return false
	}
	_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}
