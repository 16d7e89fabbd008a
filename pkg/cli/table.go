package cli

import (
	"fmt"
	"io"
	"strings"
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
