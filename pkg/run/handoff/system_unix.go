//go:build unix

package handoff

import (
	"io/fs"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/run/capacity"
)

// MostIdle returns how many unused hand-off directories may be kept, given this process's limit on open files.
var MostIdle = sync.OnceValue(func() int { return idleWithin(capacity.Files()) })

// nonblock prevents an open from waiting for the other end of a pipe or for the owner of a
// lease.
const nonblock = syscall.O_NONBLOCK

// Wake writes a byte into a FIFO at which a script waits. It does nothing if there is no FIFO or reader, or if the
// script has put another type of file there. It never blocks.
func (f *Folder) Wake(name string) {
	file, err := f.root.OpenFile(name, os.O_WRONLY|nonblock, 0) // fails without a reader
	if err != nil {
		return
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		return
	}
	// File.Write would wait for space in a full FIFO, whose reader is awake anyway.
	if conn, err := file.SyscallConn(); err == nil {
		conn.Write(func(fd uintptr) (done bool) {
			unix.Write(int(fd), []byte("\n"))
			return true
		})
	}
}
