package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/mattn/go-isatty"
)

// Raw returns the terminal of a stream, for callers that control it with escape sequences. ok is false if the stream
// is not a terminal.
func Raw(of any) (w io.Writer, ok bool) {
	if s, ok := of.(*stream); ok && IsTerminal(s) {
		return s.file, true
	}
	return nil, false
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// Colored reports whether to write colours to a stream: only to a terminal that has them, and not if NO_COLOR is set
// (CLI-109, CLI-1162).
func Colored(stream any) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && IsTerminal(stream)
}

// A Color is a colour of a text on a terminal, as a parameter of the escape sequence SGR.
type Color int

// The colours.
const (
	Plain  Color = 0
	Red    Color = 31
	Green  Color = 32
	Yellow Color = 33
)

// Explain writes lines of text. On a terminal it wraps those that are too long (CLI-126). It applies [Line] to args as
// [Printf] does.
func Explain(w io.Writer, format string, args ...any) {
	io.WriteString(w, wrapped(w, Sprintf(format, args...)))
}

// Sign writes a line with a sign before the text. The sign has a colour if [Colored] permits it.
func Sign(w io.Writer, indent string, c Color, sign, text string) {
	raw, ok := Raw(w)
	if c == Plain || !ok || !Colored(w) {
		Explain(w, "%s%s %s\n", indent, sign, text)
		return
	}
	line := wrapped(w, indent+sign+" "+Line(text)+"\n")
	fmt.Fprintf(raw, "%s\x1b[%dm%s\x1b[0m%s", indent, int(c), sign, line[len(indent+sign):])
}

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
