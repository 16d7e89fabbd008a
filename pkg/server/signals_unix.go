//go:build unix

package server

import (
	"os"
	"syscall"
)

var (
	endSignals           = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	brokenPipe os.Signal = syscall.SIGPIPE
)
