package server

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"mcp-bash/pkg/cli"
)

// catchSignals returns the signals that end the server, given ones or else those
// of the process. Catching them takes time that a start need not wait for: caught
// does; before that they end the process as they do by default. SIGPIPE is
// caught as well and forgotten: a closed pipe is an error of a write, and a signal
// that is ignored instead would be ignored in scripts too (T-47).
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

// signalExit ends everything at once, with 128 and the signal's number as exit code
// (P-905).
func signalExit(sig os.Signal) exit {
	code := cli.ExitSignal
	if n, ok := sig.(syscall.Signal); ok {
		code += int(n)
	}
	return exit{code: code, kill: true, silent: true}
}
