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
	var owner uint32
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = sys.Uid
	}
	return distrustOwner(info.Mode().Perm(), owner)
}

func distrustOwner(mode fs.FileMode, uid uint32) string {
	if mode&0o022 != 0 {
		return reasonWritable
	}
	if uid != 0 && int(uid) != os.Geteuid() {
		return reasonOwner
	}
	return ""
}
