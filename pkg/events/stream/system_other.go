//go:build !linux

package stream

import (
	"net"
	"os"
	"syscall"
)

// syncData waits until the content of a file is on the disk.
func syncData(f *os.File) error { return f.Sync() }

// sendFile is for journald, which other systems do not have.
func sendFile(*net.UnixConn, []byte) error { return syscall.EMSGSIZE }
