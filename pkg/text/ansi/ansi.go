// Package ansi removes control sequences of terminals, such as colors, from texts (ECMA 48).
package ansi

import "bytes"

// maxString limits the sequences that end with a terminator, such as titles and links, in bytes.
const maxString = 4096

// Strip returns a text without its control sequences. An incomplete sequence stays, and so does every other control
// character. A text without sequences is returned as it is.
func Strip(text []byte) []byte {
	at := bytes.IndexByte(text, esc)
	if at < 0 {
		return text
	}
	kept := make([]byte, 0, len(text))
	for ; at >= 0; at = bytes.IndexByte(text, esc) {
		kept, text = append(kept, text[:at]...), text[at:]
		n := sequence(text)
		if n == 0 {
			kept, n = append(kept, esc), 1
		}
		text = text[n:]
	}
	return append(kept, text...)
}

const (
	esc  = 0x1b
	bell = 0x07
)

// sequence returns the length of the sequence at the beginning of a text, or 0.
func sequence(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '[': // parameters, intermediate bytes, a final byte
		i := skip(text, skip(text, 2, 0x30, 0x3f), 0x20, 0x2f)
		return final(text, i, 0x40)
	case ']', 'P', 'X', '^', '_': // a text with a terminator
		inside := text[2:min(len(text), maxString)]
		end := bytes.IndexAny(inside, "\x07\x1b")
		switch {
		case end < 0:
			return 0
		case inside[end] == bell:
			return 2 + end + 1
		case end+1 < len(inside) && inside[end+1] == '\\':
			return 2 + end + 2
		}
		return 0
	}
	return final(text, skip(text, 1, 0x20, 0x2f), 0x30) // such as the choice of a character set
}

// skip returns the index of the first byte from i on that is outside of a range.
func skip(text []byte, i int, from, to byte) int {
	for i < len(text) && text[i] >= from && text[i] <= to {
		i++
	}
	return i
}

// final returns the length of a sequence whose final byte is at an index, or 0.
func final(text []byte, i int, from byte) int {
	if i < len(text) && text[i] >= from && text[i] <= 0x7e {
		return i + 1
	}
	return 0
}
