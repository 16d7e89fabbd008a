//go:build unix

package project

import (
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps an open of a FIFO from waiting for a writer.
const nonblock = syscall.O_NONBLOCK

// DistrustMode says why a file's mode and owner make it unsafe to run, "" when
// they do not: others can write it, or it belongs to neither us nor root
// (tools T-41).
func DistrustMode(info fs.FileInfo) string {
	if info.Mode().Perm()&0o022 != 0 {
		return reasonWritable
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && sys.Uid != 0 && int(sys.Uid) != os.Geteuid() {
		return reasonOwner
	}
	return ""
}
