package serve

import (
	"os"
	"syscall"
)

var (
	endSignals           = []os.Signal{os.Interrupt, syscall.SIGTERM}
	brokenPipe os.Signal = syscall.SIGPIPE
)
