package rawjson

import (
	"bytes"
	"unicode/utf8"
)

// Position returns the line and column, both from 1, at which piece begins in text. piece
// must be a slice of text, not a copy; otherwise ok is false. A column counts characters.
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

func positionAt(text []byte, offset int) (line, column int) {
	line = 1
	start := 0
	if bytes.HasPrefix(text, ByteOrderMark) {
		start = min(len(ByteOrderMark), offset)
	}
	for i := 0; i < offset && i < len(text); i++ {
		if text[i] == '\n' {
			line++
			start = i + 1
		}
	}
	return line, utf8.RuneCount(text[start:min(offset, len(text))]) + 1
}
