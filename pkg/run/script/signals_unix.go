//go:build unix

package script

import (
	"os"
	"os/signal"
	"syscall"
)

// defaultSignals sees to it that a script gets the default disposition of
// signals that we were started with as ignored, by nohup say (T-47).
// What a process ignores its children ignore too, what it catches they do not:
// so such a signal is caught, and dropped.
func defaultSignals() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} { // all others the runtime catches anyway
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}
