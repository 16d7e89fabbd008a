//go:build unix

package script

import (
	"os"
	"syscall"
)

const onWindows = false

// nonblock keeps the opening of a script from waiting, should it be a pipe.
const nonblock = syscall.O_NONBLOCK

var programExtensions = []string{""}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
