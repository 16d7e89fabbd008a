package cli

import (
	"fmt"
	"io"
	"strings"
)

// A Bar shows the progress of an operation on a terminal. It shows nothing elsewhere.
type Bar struct {
	raw   io.Writer // nil: not a terminal
	width int
	what  string
	drawn string
}

// barColumns is the width of the bar itself, without its text.
const barColumns = 24

// NewBar returns a bar for an operation, such as "packing".
func NewBar(s Streams, what string) *Bar {
	b := &Bar{what: what}
	if raw, ok := Raw(s.Err); ok {
		b.raw, b.width = raw, Width(raw, 80)-1
	}
	return b
}

// Show draws the bar if it has changed. Only one goroutine may call it.
func (b *Bar) Show(done, total int64) {
	if b.raw == nil || total <= 0 {
		return
	}
	share := min(float64(done)/float64(total), 1)
	full := int(share * barColumns)
	bar := strings.Repeat("#", full) + strings.Repeat("-", barColumns-full)
	text := fmt.Sprintf("[%s] %3d%% %s", bar, int(share*100), b.what)
	if text = text[:min(len(text), max(b.width, 0))]; text != b.drawn {
		fmt.Fprintf(b.raw, "\r%s", text)
		b.drawn = text
	}
}

// End removes the bar.
func (b *Bar) End() {
	if b.drawn != "" {
		fmt.Fprintf(b.raw, "\r%*s\r", len(b.drawn), "")
		b.drawn = ""
	}
}
