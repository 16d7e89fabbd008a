// Package jqtext writes JSON as the JSON program for scripts prints it. It is separate from that program, so that
// commands without the program do not contain gojq.
//
// [Flat] writes a document as a table in which the Bash SDK looks up simple filters without starting a process. The
// same functions render values for the table and for the program's output, so both produce the same results.
//
// Functions with a json.RawMessage expect text that rawjson.Check accepted. The package
// keeps no state between calls, and is safe for concurrent use.
package jqtext

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
)

// AppendText appends a value as the program prints it with -r and -c, without the newline. This is the content of a
// string, the value of a number, or compact JSON.
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
	return rawjson.Layout{Quote: appendString}.Append(make([]byte, 0, len(v)), v)
}

// isEscaped reports whether a string may lack the form of SDK-18.
func isEscaped(quoted []byte) bool {
	return bytes.IndexByte(quoted, '\\') >= 0 || bytes.IndexByte(quoted, 0x7f) >= 0
}

// appendString appends a JSON string in the form of SDK-18.
func appendString(dst, quoted []byte) []byte {
	if !isEscaped(quoted) {
		return append(dst, quoted...)
	}
	return rawjson.AppendString(dst, rawjson.AppendText(nil, quoted))
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

// A Layout determines how JSON is written. The zero value writes compact JSON.
type Layout struct {
	Indent string // white space of one level; "" writes everything on one line
	Sorted bool   // members sorted by name instead of in input order
	ASCII  bool   // escapes for characters that are not ASCII
}

// Append appends a value. Strings have the form of SDK-18. A number at the top level has the form of SDK-17, and
// numbers in containers are copied. The last of repeated members is written at the position of the first.
func (l Layout) Append(dst []byte, v json.RawMessage) []byte {
	if rawjson.KindOf(v) == rawjson.Number {
		return AppendNumber(dst, bytes.TrimSpace(v))
	}
	quote := appendString
	if l.ASCII {
		quote = appendASCII
	}
	return rawjson.Layout{Indent: l.Indent, Sorted: l.Sorted, Quote: quote}.Append(dst, v)
}

// IsInteger reports whether a JSON number has neither a fraction nor an exponent.
func IsInteger(number []byte) bool { return !bytes.ContainsAny(number, ".eE") }

// AppendNumber appends a JSON number as the program prints it. Integers keep their digits. Others become the shortest
// decimal that is read as the same float64.
func AppendNumber(dst, number []byte) []byte {
	if !IsInteger(number) {
		return AppendFloat(dst, ParseFloat(number))
	}
	if string(number) == "-0" {
		return append(dst, '0')
	}
	return append(dst, number...)
}

// AppendFloat appends a float64 in the form of SDK-17. Values that JSON cannot represent are
// written as in jq: NaN as null, and infinities as the largest numbers.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) {
		return append(dst, "null"...)
	}
	f = max(-math.MaxFloat64, min(f, math.MaxFloat64))
	switch size := math.Abs(f); {
	case size == 0:
		return append(dst, '0')
	case size >= 1e-6 && size < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go writes at least two digits of the exponent: 1e-07.
	if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// ParseFloat parses a JSON number. A number out of range becomes an infinity.
func ParseFloat(number []byte) float64 {
	f, _ := strconv.ParseFloat(string(number), 64)
	return f
}
