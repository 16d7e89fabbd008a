//go:build unix

package script

import (
	"os"
	"syscall"
)

const onWindows = false

// nonblock prevents an open from waiting if the script is a pipe.
const nonblock = syscall.O_NONBLOCK

var programExtensions = []string{""}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
