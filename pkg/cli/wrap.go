package cli

import (
	"io"
	"os"
	"strings"
	"unicode"
)

// A layout has the number of columns of a text.
type layout int

// layoutFor returns the layout for a stream: the width of a terminal, within bounds, or else 80 columns (CLI-1160).
func layoutFor(stream any) layout { return layout(min(max(Width(stream, 80), 30), 120)) }

// wrap breaks a text into indented lines, between its units. A unit that is longer than a line gets a line.
func (l layout) wrap(text, indent string) string { return l.hang(indent, text, indent) }

// hang is wrap with another text before the first line.
func (l layout) hang(first, text, indent string) string {
	var b strings.Builder
	line, begun := first, false
	for _, unit := range units(text) {
		switch {
		case !begun:
		case Columns(line)+1+Columns(unit) > int(l):
			b.WriteString(line + "\n")
			line = indent
		default:
			line += " "
		}
		line, begun = line+unit, true
	}
	b.WriteString(line + "\n")
	return b.String()
}

// widest returns the columns of the longest unit of a text.
func widest(text string) (n int) {
	for _, unit := range units(text) {
		n = max(n, Columns(unit))
	}
	return n
}

// units splits a text at spaces. It does not separate an option from its value, and keeps texts in quotes and options
// in brackets together.
func units(text string) (list []string) {
	for words := strings.Fields(text); len(words) > 0; {
		n := unit(words)
		list = append(list, strings.Join(words[:n], " "))
		words = words[n:]
	}
	return list
}

// unit returns the number of words that the first unit has.
func unit(words []string) int {
	first := strings.TrimLeft(words[0], "(")
	n := 1
	switch {
	case strings.HasPrefix(first, "[-"):
		n = through(words, func(text string) bool { return strings.Count(text, "[") <= strings.Count(text, "]") })
	case first != "" && strings.ContainsRune("\"`'", rune(first[0])):
		n = through(words, func(text string) bool { return closes(text[strings.IndexByte(text, first[0])+1:], first[0]) })
	case strings.HasPrefix(first, "-") && len(words) > 1 && isPlaceholder(words[1]):
		n = 2
	}
	for n < len(words) && strings.HasPrefix(words[n], "...") {
		n++
	}
	return n
}

// through returns the number of words up to the one that ends a unit, or 1 if none does.
func through(words []string, ends func(text string) bool) int {
	text := ""
	for i, word := range words {
		if text += word + " "; ends(text) {
			return i + 1
		}
	}
	return 1
}

// closes reports whether a text contains a closing quotation mark, which is at the end of a word.
func closes(text string, mark byte) bool {
	for i := range len(text) - 1 {
		if text[i] == mark && !unicode.IsLetter(rune(text[i+1])) && !unicode.IsDigit(rune(text[i+1])) {
			return true
		}
	}
	return false
}

// isPlaceholder reports whether a word is the name of an option's value, such as DIR, A,B or [ADDR].
func isPlaceholder(word string) bool {
	return strings.ContainsFunc(word, unicode.IsUpper) && !strings.ContainsFunc(word, unicode.IsLower)
}

// wrapped returns a text of several lines for a writer. On a terminal, a line that is too long goes on below itself,
// indented (CLI-126).
func wrapped(w io.Writer, text string) string {
	columns := 0
	if IsTerminal(w) {
		columns = Width(w, 0)
	}
	if columns == 0 || Columns(text) <= columns {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		content := strings.TrimRight(line, "\n")
		if Columns(content) <= columns {
			b.WriteString(line)
			continue
		}
		words := strings.TrimLeft(content, " ")
		indent := content[:len(content)-len(words)]
		whole := layout(columns).hang(indent, words, indent+"  ")
		b.WriteString(strings.TrimSuffix(whole, "\n") + line[len(content):])
	}
	return b.String()
}

// isDiagnostics reports whether a writer is the standard error of the process.
func isDiagnostics(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && f.Fd() == os.Stderr.Fd()
}
