package stream

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData waits until the content of a file is on the disk.
func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
