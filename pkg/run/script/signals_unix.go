//go:build unix

package script

import (
	"os"
	"os/signal"
	"syscall"
)

// defaultSignals gives scripts the default disposition of signals that this process ignores, for
// example under nohup (T-47). Child processes inherit ignored signals, but not caught ones. So this
// process catches these signals and drops them.
func defaultSignals() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} { // the runtime catches all others
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}
