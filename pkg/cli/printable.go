package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns text as a terminal may get it, whoever wrote it. Control
// characters other than line breaks and tabs, the separators of lines and
// paragraphs, and characters that reorder text become escapes such as \u001b; so
// JSON stays the same JSON. Invalid UTF-8 becomes U+FFFD (CLI-115).
func Printable(text string) string {
	if isPrintable(text) {
		return text
	}
	shown, rest := appendPrintable(nil, []byte(text))
	for _, c := range rest {
		shown = appendEscaped(shown, decodeByte(c))
	}
	return string(shown)
}

// Line is [Printable] for text that must stay on one line: line breaks and tabs
// become escapes as well. Applied twice, it does not change the text again.
func Line(text string) string {
	return lineBreaks.Replace(Printable(text))
}

var lineBreaks = strings.NewReplacer("\r", `\r`, "\n", `\n`, "\t", `\t`)

func isPrintable(text string) bool {
	for _, r := range text {
		if r == utf8.RuneError || steers(r) {
			return false
		}
	}
	return true
}

// steers reports whether a character does something to a terminal or to the
// order of the text around it, instead of being shown.
func steers(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}

// appendPrintable appends what [Printable] makes of text. rest is an end of text
// that what follows may complete: part of a character, or a carriage return,
// which stays before a line feed only.
func appendPrintable(dst, text []byte) (shown, rest []byte) {
	for len(text) > 0 {
		if text[0] == '\r' {
			switch {
			case len(text) == 1:
				return dst, text
			case text[1] == '\n':
				dst, text = append(dst, "\r\n"...), text[2:]
				continue
			}
		}
		if !utf8.FullRune(text) {
			return dst, text
		}
		r, size := utf8.DecodeRune(text)
		dst = appendEscaped(dst, r)
		text = text[size:]
	}
	return dst, nil
}

func appendEscaped(dst []byte, r rune) []byte {
	if steers(r) {
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	return utf8.AppendRune(dst, r)
}

// decodeByte is the character of a byte that stands alone.
func decodeByte(c byte) rune {
	if c < utf8.RuneSelf {
		return rune(c)
	}
	return utf8.RuneError
}
