//go:build unix

package runtool

import (
	"os"
	"syscall"
)

var endSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
