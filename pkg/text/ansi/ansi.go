// Package ansi removes control sequences of terminals, such as colors, from texts (ECMA 48).
package ansi

import (
	"bytes"
	"io"
)

// maxSequence limits a sequence, in bytes.
const maxSequence = 4096

// Strip returns a text without its control sequences. An incomplete sequence and all other control characters stay. A
// text without sequences is returned as it is, not copied.
func Strip(text []byte) []byte {
	at := bytes.IndexByte(text, esc)
	if at < 0 {
		return text
	}
	kept, _ := strip(text, false)
	return kept
}

// strip returns a text without its control sequences. If more text follows, rest is the last part of the text, which
// can belong to a sequence.
func strip(text []byte, more bool) (kept, rest []byte) {
	kept = make([]byte, 0, len(text))
	for at := bytes.IndexByte(text, esc); at >= 0; at = bytes.IndexByte(text, esc) {
		kept, text = append(kept, text[:at]...), text[at:]
		n := sequence(text[:min(len(text), maxSequence)])
		if n == 0 && more && len(text) < maxSequence {
			return kept, text
		}
		if n == 0 {
			kept, n = append(kept, esc), 1
		}
		text = text[n:]
	}
	return append(kept, text...), nil
}

// A Writer passes a text on to To without its control sequences, as [Strip] does for a whole text.
type Writer struct {
	To   io.Writer
	held []byte // the last part, which can belong to a sequence
}

// Write passes on the text that cannot belong to an incomplete sequence.
func (w *Writer) Write(p []byte) (int, error) {
	text := p
	if len(w.held) > 0 {
		text = append(w.held, p...)
	} else if bytes.IndexByte(p, esc) < 0 {
		return w.To.Write(p)
	}
	kept, rest := strip(text, true)
	w.held = bytes.Clone(rest)
	if _, err := w.To.Write(kept); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush passes on the rest of the text.
func (w *Writer) Flush() error {
	held := w.held
	w.held = nil
	_, err := w.To.Write(Strip(held))
	return err
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
		inside := text[2:]
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
	return final(text, skip(text, 1, 0x20, 0x2f), 0x30) // for example the selection of a character set
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
