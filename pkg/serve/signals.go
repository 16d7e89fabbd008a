package serve

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/protocol"
)

// catchSignals returns the signals that end the server: those that are given, or else those of the
// process. The start need not wait until they are caught, but caught does. Before that, they end
// the process as usual. SIGPIPE is caught and dropped, because a write reports a closed pipe.
// Scripts would inherit an ignored signal (T-47).
func catchSignals(given <-chan os.Signal) (signals <-chan os.Signal, caught func()) {
	if given != nil {
		return given, func() {}
	}
	ours := make(chan os.Signal, 2)
	caught = sync.OnceFunc(func() {
		signal.Notify(make(chan os.Signal, 1), brokenPipe)
		signal.Notify(ours, endSignals...)
	})
	go caught()
	return ours, caught
}

// signalEnding ends everything at once, with 128 plus the signal's number as exit code (P-905).
func signalEnding(sig os.Signal) protocol.Ending {
	cli.BeginLine(sig, os.Stderr)
	code := cli.ExitSignal
	if n, ok := sig.(syscall.Signal); ok {
		code += int(n)
	}
	return protocol.Ending{Code: code, Kill: true, Silent: true}
}
