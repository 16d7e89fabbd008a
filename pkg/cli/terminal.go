package cli

import (
	"bytes"
	"io"
	"os"
	"sync"

	"github.com/mattn/go-isatty"
)

// A terminal is a stream to a person's terminal. Everything written to it is
// shown as [Printable] does, so that no text of a script, a project or a
// network can drive it. It may be written to from any goroutine.
type terminal struct {
	file *os.File
	mu   sync.Mutex
	rest []byte // what the last write ended in and the next may complete
}

// Fd is the descriptor, for [IsTerminal].
func (t *terminal) Fd() uintptr { return t.file.Fd() }

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	shown, rest := appendPrintable(nil, append(t.rest, p...))
	t.rest = bytes.Clone(rest)
	if _, err := t.file.Write(shown); err != nil {
		return 0, err
	}
	return len(p), nil
}

// guarded returns a file as commands write to it: a terminal is protected from
// what it is shown; a file or a pipe gets every byte.
func guarded(f *os.File) io.Writer {
	if IsTerminal(f) {
		return &terminal{file: f}
	}
	return f
}

// Raw returns the terminal behind a stream as it is, for what drives it on
// purpose; ok is false for what is no terminal.
func Raw(stream any) (w io.Writer, ok bool) {
	t, ok := stream.(*terminal)
	if !ok {
		return nil, false
	}
	return t.file, true
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
