package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// A Table has rows for a terminal. The first row has the names of the columns.
type Table [][]string

// Print writes the table. Rows are cut at the right edge of the terminal (CLI-1164).
func (t Table) Print(w io.Writer) {
	var widths []int
	for _, row := range t {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Columns(Line(cell)))
		}
	}
	columns := Width(w, 80)
	for _, row := range t {
		line := ""
		for i, cell := range row {
			line += Pad(Line(cell), widths[i]+2)
		}
		fmt.Fprintf(w, "%s\n", Cut(strings.TrimRight(line, " "), columns))
	}
}

// Some lists the first names for people.
func Some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Size returns a number of bytes for people, such as 840K or 1.2M.
func Size(bytes int64) string {
	switch {
	case bytes < 1<<10:
		return fmt.Sprintf("%dB", bytes)
	case bytes < 1<<20:
		return fmt.Sprintf("%dK", (bytes+1<<9)>>10)
	}
	return fmt.Sprintf("%.1fM", float64(bytes)/(1<<20))
}

// Columns returns the number of columns that a text on one line has on a terminal. East Asian characters and emoji have
// two, and combining characters none.
func Columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Cut shortens a text to a number of columns.
func Cut(text string, most int) string {
	if Columns(text) <= most {
		return text
	}
	n := 0
	for i, r := range text {
		if n += columnsOf(r); n >= most {
			return text[:i] + "…"
		}
	}
	return text
}

// Pad appends spaces to a text that has fewer columns.
func Pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-Columns(text), 0))
}

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
