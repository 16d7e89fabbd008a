package cli

import (
	"io"
	"os"
)

// Streams are the three standard streams of a command, so that it can be run
// in a test as well.
type Streams struct {
	In  io.Reader
	Out io.Writer // data
	Err io.Writer // diagnostics (CLI-101)
}

// Standard returns the process's own streams; a terminal shows every text as
// [Printable] does.
func Standard() Streams { return Streams{os.Stdin, guarded(os.Stdout), guarded(os.Stderr)} }
