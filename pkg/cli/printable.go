package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes a text safe for terminals (CLI-115). It escapes control characters except line breaks and tabs. It
// also escapes separators of lines and paragraphs, and characters that reorder text. The escapes have the form
// \u001b, so JSON keeps its meaning. Invalid UTF-8 becomes U+FFFD.
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

// Line is [Printable] for text on one line. It escapes line breaks and tabs as well. Line(Line(text)) equals
// Line(text).
func Line(text string) string {
	return lineBreaks.Replace(Printable(text))
}

var lineBreaks = strings.NewReplacer("\r", `\r`, "\n", `\n`, "\t", `\t`)

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || steers(r) })
}

// steers reports whether a character controls the terminal, or reorders the text around it.
func steers(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}

// appendPrintable appends the result of [Printable]. rest is an incomplete end of the text: part of a character, or a
// carriage return, which is kept only before a line feed.
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

// decodeByte returns the character of a single byte.
func decodeByte(c byte) rune {
	if c < utf8.RuneSelf {
		return rune(c)
	}
	return utf8.RuneError
}
