// Package jqtext writes JSON as the JSON program for scripts prints it (SDK-14). It is
// separate from that program, so that commands without the program do not contain gojq.
//
// [Flat] writes a document as a table in which the Bash SDK looks up simple filters without
// starting a process (SDK-205). The same functions render values for the table and for the
// program's output, so both produce the same results (SDK-210).
//
// Functions with a json.RawMessage expect text that rawjson.Check accepted. The package
// keeps no state between calls, and is safe for concurrent use.
package jqtext

import (
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
)

// AppendText appends a value as the program prints it with -r and -c, without the newline.
// This is the content of a string, the value of a number, or compact JSON (SDK-22).
func AppendText(dst []byte, v json.RawMessage) []byte {
	if s, ok := rawjson.Text(v); ok {
		return append(dst, s...)
	}
	return Layout{}.Append(dst, v)
}

// Normal returns a value as the program prints it with -c: compact, with unique names in
// each object, and with strings in the form of SDK-18. Unlike the program, it does not
// change a number at the top level.
//
// Tools receive their arguments in this form because [Flat] accepts only this form. The
// filter "." therefore prints exactly the text of the arguments.
func Normal(v json.RawMessage) json.RawMessage {
	w := writer{src: rawjson.Normal(v), dst: make([]byte, 0, len(v))}
	w.value(0)
	return w.dst
}

// isNormalString reports whether the content of a JSON string has the form of SDK-18.
func isNormalString(inner []byte) bool {
	for i := 0; i < len(inner); i++ {
		switch inner[i] {
		case 0x7f:
			return false
		case '\\':
			i++
			switch inner[i] {
			case '/':
				return false
			case 'u':
				if !isControlEscape(inner[i+1 : i+5]) {
					return false
				}
				i += 4
			}
		}
	}
	return true
}

// isControlEscape reports whether four hexadecimal digits represent a control character that
// has no short escape, in lower case.
func isControlEscape(digits []byte) bool {
	if digits[0] != '0' || digits[1] != '0' {
		return false
	}
	switch high, low := digits[2], digits[3]; {
	case low >= 'A' && low <= 'F':
		return false
	case high == '0':
		return low != '8' && low != '9' && low != 'a' && low != 'c' && low != 'd'
	case high == '1':
		return true
	default:
		return high == '7' && low == 'f'
	}
}

// appendString appends a JSON string in the form of SDK-18.
func appendString(dst, quoted []byte) []byte {
	if isNormalString(quoted[1 : len(quoted)-1]) {
		return append(dst, quoted...)
	}
	s, _ := rawjson.Text(quoted)
	return rawjson.AppendString(dst, s)
}

// appendASCII appends a JSON string with escapes for all characters that are not ASCII.
func appendASCII(dst, quoted []byte) []byte {
	start := len(dst)
	dst = appendString(dst, quoted)
	text := string(dst[start:])
	dst = dst[:start]
	for _, r := range text {
		switch high, low := utf16.EncodeRune(r); {
		case r < utf8.RuneSelf:
			dst = append(dst, byte(r))
		case high == utf8.RuneError:
			dst = appendEscape(dst, r)
		default:
			dst = appendEscape(appendEscape(dst, high), low)
		}
	}
	return dst
}

func appendEscape(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// IdentifierEnd returns the length of the identifier with which s begins, or 0.
func IdentifierEnd[S string | []byte](s S) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && c >= '0' && c <= '9':
		default:
			return i
		}
	}
	return len(s)
}

// IsIdentifier reports whether a name can follow a dot without quotes.
func IsIdentifier[S string | []byte](name S) bool {
	return len(name) > 0 && IdentifierEnd(name) == len(name)
}
