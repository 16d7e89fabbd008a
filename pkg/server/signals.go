package server

import (
	"os"
	"os/signal"
	"syscall"

	"mcp-bash/pkg/cli"
)

// catchSignals returns the signals that end the server, given ones or else
// those of the process. SIGPIPE is caught as
// well and forgotten: a closed pipe is an error of a write, and a signal that
// is ignored instead would be ignored in scripts too (tools T-47).
func catchSignals(given <-chan os.Signal) <-chan os.Signal {
	if given != nil {
		return given
	}
	signal.Notify(make(chan os.Signal, 1), brokenPipe)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, endSignals...)
	return signals
}

// signalExit is P-905.
func signalExit(sig os.Signal) exit {
	code := cli.ExitSignal
	if n, ok := sig.(syscall.Signal); ok {
		code += int(n)
	}
	return exit{code: code, kill: true, silent: true}
}
