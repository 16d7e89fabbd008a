package rawjson

import "unicode/utf8"

// Position gives the line and column, both from 1, where a piece of a text
// begins: a value or a name that was cut from it, not a copy. A column counts
// characters. ok is false for what is no piece of the text.
func Position(text, piece []byte) (line, column int, ok bool) {
	if len(piece) == 0 {
		return 0, 0, false
	}
	for i := 0; i+len(piece) <= len(text); i++ {
		if &text[i] == &piece[0] {
			line, column = positionAt(text, i)
			return line, column, true
		}
	}
	return 0, 0, false
}

// positionAt gives the line and column of a byte.
func positionAt(text []byte, offset int) (line, column int) {
	line = 1
	start := 0
	for i := 0; i < offset && i < len(text); i++ {
		if text[i] == '\n' {
			line++
			start = i + 1
		}
	}
	return line, utf8.RuneCount(text[start:min(offset, len(text))]) + 1
}
