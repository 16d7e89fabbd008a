package cli

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

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
