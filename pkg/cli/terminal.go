package cli

import (
	"io"
	"os"

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

// Colored reports whether to write colours to a stream: only to a terminal, and not if NO_COLOR is set (CLI-109).
func Colored(stream any) bool {
	return os.Getenv("NO_COLOR") == "" && IsTerminal(stream)
}
