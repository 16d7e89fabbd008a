package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// UntilSignal returns a context that ends when the process gets SIGINT or SIGTERM. Its cause is the exit code
// (CLI-102).
func UntilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	received := make(chan os.Signal, 1)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case sig := <-received:
			BeginLine(sig, os.Stderr)
			n, _ := sig.(syscall.Signal)
			cancel(ExitCode(ExitSignal + int(n)))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		cancel(nil)
	}
}

// BeginLine ends the line of the cursor if a signal is SIGINT and stderr is a terminal, so that messages begin on a new
// line. The terminal echoes ^C on the line of the cursor (CLI-102).
func BeginLine(sig os.Signal, stderr io.Writer) {
	if sig == os.Interrupt && IsTerminal(stderr) {
		fmt.Fprintln(stderr)
	}
}
