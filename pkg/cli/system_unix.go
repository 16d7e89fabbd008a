//go:build unix

package cli

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// IsClosed reports whether the process was started without a descriptor for a standard stream. The Go runtime
// replaces it by the null device, open for reading and writing. IsClosed also returns true if the stream was redirected
// in this way, as Python's DEVNULL and Node's "ignore" do.
func IsClosed(f *os.File) bool {
	fd := int(f.Fd())
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return true
	}
	var ours, null unix.Stat_t
	return flags&unix.O_ACCMODE == unix.O_RDWR && unix.Fstat(fd, &ours) == nil && unix.Stat(os.DevNull, &null) == nil &&
		ours.Mode&unix.S_IFMT == unix.S_IFCHR && ours.Rdev == null.Rdev
}

// IsBrokenPipe reports whether the reader of a pipe or socket has gone.
func IsBrokenPipe(err error) bool {
	return errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET)
}

// Width returns the width of a terminal in columns, or otherwise if it is unknown.
func Width(stream any, otherwise int) int {
	if f, ok := stream.(interface{ Fd() uintptr }); ok {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 {
			return int(size.Col)
		}
	}
	return otherwise
}
