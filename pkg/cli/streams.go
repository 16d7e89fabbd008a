package cli

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// Streams are the three standard streams of a command, so that it can be run
// in a test as well.
type Streams struct {
	In  io.Reader
	Out io.Writer // data
	Err io.Writer // diagnostics (C-1)
}

// Standard returns the process's own streams.
func Standard() Streams { return Streams{os.Stdin, os.Stdout, os.Stderr} }

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// Colored reports whether to write colour to a stream: only to a terminal,
// and not against the user's NO_COLOR (C-9).
func Colored(stream any) bool {
	return os.Getenv("NO_COLOR") == "" && IsTerminal(stream)
}
