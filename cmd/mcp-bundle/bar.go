package main

import (
	"fmt"
	"io"
	"strings"

	"mcp-bash/pkg/cli"
)

// A bar shows on a terminal how much is packed; elsewhere it is silent.
type bar struct {
	raw   io.Writer // nil: no terminal
	width int
	drawn string
}

// barColumns is how many columns the bar itself takes.
const barColumns = 24

func newBar(s cli.Streams) *bar {
	b := &bar{}
	if raw, ok := cli.Raw(s.Err); ok {
		b.raw, b.width = raw, cli.Width(raw, 80)-1
	}
	return b
}

// show draws the bar, if it has changed. It is not for several goroutines at once.
func (b *bar) show(done, total int64) {
	if b.raw == nil || total <= 0 {
		return
	}
	share := min(float64(done)/float64(total), 1)
	full := int(share * barColumns)
	bar := strings.Repeat("#", full) + strings.Repeat("-", barColumns-full)
	text := fmt.Sprintf("[%s] %3d%% packing", bar, int(share*100))
	if text = text[:min(len(text), max(b.width, 0))]; text != b.drawn {
		fmt.Fprintf(b.raw, "\r%s", text)
		b.drawn = text
	}
}

// end takes the bar away.
func (b *bar) end() {
	if b.drawn != "" {
		fmt.Fprintf(b.raw, "\r%*s\r", len(b.drawn), "")
		b.drawn = ""
	}
}
