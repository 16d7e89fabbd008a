package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// A Table has rows for a terminal. The first row has the names of the columns.
type Table [][]string

// Print writes the table. Rows are cut at the right edge of the terminal (CLI-1164).
func (t Table) Print(w io.Writer) {
	var text strings.Builder
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range t {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Line(cell)
		}
		fmt.Fprintln(columns, strings.Join(cells, "\t"))
	}
	columns.Flush()
	width := Width(w, 80)
	for line := range strings.Lines(text.String()) {
		Printf(w, "%s\n", Cut(strings.TrimRight(line, " \n"), width))
	}
}

// Some lists the first names for people.
func Some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Cut shortens a text to a number of characters.
func Cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:max(most-1, 0)]) + "…"
}
