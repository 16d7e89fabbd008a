//go:build unix

package handoff

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Wake writes a byte into a FIFO at which a script waits (T-129). It does nothing
// where there is none or nobody reads, and leaves alone whatever else the script
// has put under that name. Like everything here, it never waits.
func (f *Folder) Wake(name string) {
	file, err := f.root.OpenFile(name, os.O_WRONLY|nonblock, 0) // fails where nobody reads
	if err != nil {
		return
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		return
	}
	// File.Write would wait for room in a full one, which wakes its reader anyway.
	if conn, err := file.SyscallConn(); err == nil {
		conn.Write(func(fd uintptr) (done bool) {
			unix.Write(int(fd), []byte("\n"))
			return true
		})
	}
}
