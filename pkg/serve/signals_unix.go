//go:build unix

package serve

import (
	"os"
	"syscall"
)

var (
	endSignals           = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	brokenPipe os.Signal = syscall.SIGPIPE
)
