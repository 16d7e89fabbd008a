package cli

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// Raw returns the terminal behind a stream as it is, for what drives it on
// purpose; ok is false for what is no terminal.
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

// Colored reports whether to write colour to a stream: only to a terminal,
// and not against the user's NO_COLOR (CLI-109).
func Colored(stream any) bool {
	return os.Getenv("NO_COLOR") == "" && IsTerminal(stream)
}
