package userfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// isWritten reports whether another program has the file open for writing. In that case, the
// kernel grants no read lease on it. The result is false if the file system has no leases,
// or if the file belongs to another user.
func isWritten(f *os.File) bool {
	fd := f.Fd()
	if _, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return errors.Is(err, unix.EAGAIN)
	}
	unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
	return false
}
