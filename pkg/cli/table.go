package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// A Table has rows for a terminal. The first row has the names of the columns.
type Table [][]string

// narrow is the width that a column keeps, so that its cells can still be read: that of a time, and one more.
const narrow = 20

// Print writes the table. If rows do not fit the terminal, the widest columns are cut first. So one long text does not
// hide the columns after it. Then rows are cut at the right edge.
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
	total := 0
	for _, width := range widths {
		total += width + 2
	}
	for ; total-2 > columns && slices.Max(widths) > narrow; total-- {
		widths[slices.Index(widths, slices.Max(widths))]--
	}
	for _, row := range t {
		line := ""
		for i, cell := range row {
			line += Pad(Cut(Line(cell), widths[i]), widths[i]+2)
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

// A Choice is an entry of a list that a person picks from.
type Choice struct {
	Label string
	Text  string // explains it
	On    bool
}

// errNotPicked is the error if the input ends before the person accepts.
var errNotPicked = errors.New("nothing was picked")

// Pick shows a list with checkboxes, and lets the person change them by their numbers until an
// empty line accepts the list. The streams are a terminal. It works without cursor movement, so
// screen readers can read it. The error is the cause of ctx if that ends.
func Pick(ctx context.Context, s Streams, title string, list []Choice) error {
	Printf(s.Out, "%s\n", title)
	show := func(i int) {
		box := "[ ]"
		if list[i].On {
			box = "[x]"
		}
		line := Sprintf("%s %3d  %s %s", box, i+1, Pad(Line(list[i].Label), 24), list[i].Text)
		Printf(s.Out, "%s\n", Cut(line, Width(s.Out, 80)))
	}
	for i := range list {
		show(i)
	}
	in := bufio.NewReader(io.LimitReader(s.In, 1<<16))
	for {
		Printf(s.Out, "Numbers to change, such as 3 5-7; all or none; Enter to accept: ")
		answer, err := readLine(ctx, in)
		switch {
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case err != nil:
			return errNotPicked
		}
		words := strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\r' })
		if len(words) == 0 {
			return nil
		}
		for _, word := range words {
			from, to, ok := numbers(word, len(list))
			if !ok {
				Printf(s.Out, "%s is not a number from 1 to %d\n", Line(word), len(list))
				break
			}
			for i := from; i <= to; i++ {
				list[i].On = word == "all" || word != "none" && !list[i].On
				show(i)
			}
		}
	}
}

// readLine reads a line, or returns the cause of ctx if that ends. Then a goroutine goes on reading until the process
// ends, because nothing can interrupt it.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1)
	go func() {
		text, err := in.ReadString('\n')
		lines <- line{text, err}
	}()
	select {
	case l := <-lines:
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// numbers returns the first and the last index that a word means: "3", "5-7", "all" or "none".
func numbers(word string, n int) (from, to int, ok bool) {
	if word == "all" || word == "none" {
		return 0, n - 1, true
	}
	first, last, isRange := strings.Cut(word, "-")
	if !isRange {
		last = first
	}
	a, err := strconv.Atoi(first)
	b, err2 := strconv.Atoi(last)
	return a - 1, b - 1, err == nil && err2 == nil && a >= 1 && a <= b && b <= n
}

// Confirm asks a question on a terminal. Every answer but yes means no. So does the end of the input or of ctx.
func Confirm(ctx context.Context, s Streams, w io.Writer, question string) bool {
	Printf(w, "%s [y/N] ", question)
	answer, _ := readLine(ctx, bufio.NewReader(io.LimitReader(s.In, 1<<10)))
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
