package cli

import (
	"fmt"
	"io"
	"strings"
)

// A Bar shows the progress of an operation on a terminal. It shows nothing elsewhere, and nothing if it is nil.
type Bar struct {
	raw   io.Writer // nil: not a terminal
	width int
	drawn string
}

// barColumns is the width of the bar itself, without its text.
const barColumns = 24

// NewBar returns a bar on standard error.
func NewBar(s Streams) *Bar {
	b := &Bar{}
	if raw, ok := Raw(s.Err); ok {
		b.raw, b.width = raw, Width(raw, 80)-1
	}
	return b
}

// Show draws the bar of an operation, such as "packing", if it has changed. Only one goroutine may call it.
func (b *Bar) Show(what string, done, total int64) {
	if b == nil || b.raw == nil || total <= 0 {
		return
	}
	share := min(float64(done)/float64(total), 1)
	full := int(share * barColumns)
	bar := strings.Repeat("#", full) + strings.Repeat("-", barColumns-full)
	text := fmt.Sprintf("[%s] %3d%% %s", bar, int(share*100), what)
	if text = Cut(text, b.width); text != b.drawn {
		fmt.Fprintf(b.raw, "\r%s", Pad(text, Columns(b.drawn)))
		b.drawn = text
	}
}

// End removes the bar.
func (b *Bar) End() {
	if b != nil && b.drawn != "" {
		fmt.Fprintf(b.raw, "\r%s\r", Pad("", Columns(b.drawn)))
		b.drawn = ""
	}
}
