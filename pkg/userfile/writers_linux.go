package userfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// isWritten reports whether somebody has a file open for writing, which is open for reading here. The kernel
// grants no read lease on it then. A file system without leases, or a file of somebody else, does not tell.
func isWritten(f *os.File) bool {
	fd := f.Fd()
	if _, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return errors.Is(err, unix.EAGAIN)
	}
	unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
	return false
}
