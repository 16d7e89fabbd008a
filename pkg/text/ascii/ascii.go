// Package ascii compares and trims the text of protocols, whose rules are about ASCII. Package strings also treats
// other characters as spaces and letters: U+00A0 is a space, and U+212A is a k. With these, a client could write a word
// that one program recognizes and another one does not.
package ascii

import (
	"bytes"
	"strings"
)

// PEM returns a text in PEM without byte order marks, which editors on Windows write. Package pem skips a block whose
// first line begins with such a mark, and so loses a certificate. In concatenated files, marks can also be in the
// middle.
func PEM(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\ufeff"), nil) }

// Lower returns a text with the letters A to Z in lower case. It changes no other character.
func Lower(text string) string {
	for i := range len(text) {
		if isUpper(text[i]) {
			b := []byte(text)
			for ; i < len(b); i++ {
				if isUpper(b[i]) {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return text
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// EqualFold reports whether two texts are equal, apart from the case of the letters A to Z.
func EqualFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if x != y && (x|0x20 != y|0x20 || x|0x20 < 'a' || x|0x20 > 'z') {
			return false
		}
	}
	return true
}

// CutPrefixFold removes a prefix from a text, apart from the case of the letters A to Z.
func CutPrefixFold(text, prefix string) (rest string, ok bool) {
	if len(text) < len(prefix) || !EqualFold(text[:len(prefix)], prefix) {
		return text, false
	}
	return text[len(prefix):], true
}

// Trim removes spaces and tabs, the white space of HTTP (RFC 9110, OWS), around a text.
func Trim(text string) string { return strings.Trim(text, " \t") }

// TrimLine removes spaces, tabs and the ends of lines around a text.
func TrimLine(text string) string { return strings.Trim(text, " \t\r\n") }

// Words returns the words of a text. Only spaces separate words.
func Words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' })
}
