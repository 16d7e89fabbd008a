package file

import (
	"io/fs"
	"syscall"

	"mcp-bash/pkg/provider"
)

// identify adds the device, the inode and the change time of the file.
func identify(s *provider.Stamp, info fs.FileInfo) {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Device, s.Inode = uint64(sys.Dev), sys.Ino
		s.Changed = syscall.TimespecToNsec(sys.Ctimespec)
	}
}
