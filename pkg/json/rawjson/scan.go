// Package rawjson processes JSON as text. It checks, splits, compacts and writes values without decoding them. Numbers
// keep their digits and objects the order of their members.
//
// A value is a json.RawMessage. Functions with a value expect text that [Check] or [Next]
// accepted. For other text, their result is unspecified, but they never panic.
//
// If a member is repeated in an object, the last value wins, at the position of the first one.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const maxDepth = 10000

// A SyntaxError describes where and why a text is not valid JSON.
type SyntaxError struct {
	Offset int // the number of bytes before the fault
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset)
}

// Position returns the line and column, both from 1, of the fault. text is the text that was
// checked. A column counts characters.
func (e *SyntaxError) Position(text []byte) (line, column int) {
	return positionAt(text, e.Offset)
}

// ErrInvalidUTF8 is the error for text that is not UTF-8.
var ErrInvalidUTF8 = errors.New("invalid UTF-8")

// ByteOrderMark is what some editors on Windows write at the beginning of a text. It is not a part of the text.
var ByteOrderMark = []byte("\ufeff")

// Check returns the single value in text, without surrounding white space and a byte order mark before it. The error
// is [ErrInvalidUTF8] or a [*SyntaxError]. Escaped half surrogates are accepted, because they
// are valid JSON.
func Check(text []byte) (json.RawMessage, error) {
	if !utf8.Valid(text) {
		return nil, ErrInvalidUTF8
	}
	start := 0
	if bytes.HasPrefix(text, ByteOrderMark) {
		start = len(ByteOrderMark)
	}
	start = SpaceEnd(text, start)
	end, err := scanValue(text, start, 0)
	if err != nil {
		return nil, err
	}
	if rest := SpaceEnd(text, end); rest != len(text) {
		return nil, &SyntaxError{rest, "text after the value"}
	}
	return text[start:end:end], nil
}

// Next splits the first value off text and returns it with the remaining text. The error is
// io.EOF if only white space is left, or else as for [Check].
func Next(text []byte) (value json.RawMessage, rest []byte, err error) {
	start := SpaceEnd(text, 0)
	if start == len(text) {
		return nil, nil, io.EOF
	}
	end, err := scanValue(text, start, 0)
	if err != nil {
		return nil, text, err
	}
	value = text[start:end:end]
	if !utf8.Valid(value) {
		return nil, text, ErrInvalidUTF8
	}
	return value, text[end:], nil
}

// SkipSpace returns text without leading JSON white space.
func SkipSpace(text []byte) []byte { return text[SpaceEnd(text, 0):] }

// SpaceEnd returns the index of the first byte at or after b[i] that is not white
// space.
func SpaceEnd(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

var errEnd = "unexpected end"

func scanValue(b []byte, i, depth int) (int, error) {
	if i >= len(b) {
		return i, &SyntaxError{i, errEnd}
	}
	switch c := b[i]; {
	case c == '"':
		return scanString(b, i)
	case c == '{', c == '[':
		return scanContainer(b, i, depth+1)
	case c == '-' || c-'0' <= 9:
		return scanNumber(b, i)
	case c == 't':
		return scanWord(b, i, "true")
	case c == 'f':
		return scanWord(b, i, "false")
	case c == 'n':
		return scanWord(b, i, "null")
	}
	return i, &SyntaxError{i, "a value expected"}
}

func scanContainer(b []byte, i, depth int) (int, error) {
	if depth > maxDepth {
		return i, &SyntaxError{i, "nested too deeply"}
	}
	closing := b[i] + 2 // in ASCII
	i = SpaceEnd(b, i+1)
	if i < len(b) && b[i] == closing {
		return i + 1, nil
	}
	for {
		var err error
		if closing == '}' {
			if i >= len(b) || b[i] != '"' {
				return i, expected(b, i, "a member name expected")
			}
			if i, err = scanString(b, i); err != nil {
				return i, err
			}
			if i = SpaceEnd(b, i); i >= len(b) || b[i] != ':' {
				return i, expected(b, i, "':' expected")
			}
			i = SpaceEnd(b, i+1)
		}
		if i, err = scanValue(b, i, depth); err != nil {
			return i, err
		}
		i = SpaceEnd(b, i)
		switch {
		case i < len(b) && b[i] == ',':
			i = SpaceEnd(b, i+1)
		case i < len(b) && b[i] == closing:
			return i + 1, nil
		default:
			return i, expected(b, i, "',' or '"+string(closing)+"' expected")
		}
	}
}

func expected(b []byte, i int, reason string) error {
	if i >= len(b) {
		return &SyntaxError{len(b), errEnd}
	}
	return &SyntaxError{i, reason}
}

func scanString(b []byte, i int) (int, error) {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c < ' ':
			return i, &SyntaxError{i, "a control character in a string"}
		case c == '\\':
			i++
			if i >= len(b) {
				return i, &SyntaxError{i, errEnd}
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i+4 >= len(b) {
					return i, &SyntaxError{len(b), errEnd}
				}
				for k := 1; k <= 4; k++ {
					if !isHex(b[i+k]) {
						return i, &SyntaxError{i + k, "a hexadecimal digit expected"}
					}
				}
				i += 4
			default:
				return i, &SyntaxError{i, "an unknown escape in a string"}
			}
		}
	}
	return i, &SyntaxError{i, errEnd}
}

func isHex(c byte) bool {
	return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func scanNumber(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && b[i]-'1' <= 8:
		i = skipDigits(b, i)
	default:
		return i, expected(b, i, "a digit expected")
	}
	if i < len(b) && b[i] == '.' {
		if i++; i >= len(b) || b[i]-'0' > 9 {
			return i, expected(b, i, "a digit expected")
		}
		i = skipDigits(b, i)
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if i >= len(b) || b[i]-'0' > 9 {
			return i, expected(b, i, "a digit expected")
		}
		i = skipDigits(b, i)
	}
	return i, nil
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

func scanWord(b []byte, i int, word string) (int, error) {
	if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
		return i + len(word), nil
	}
	return i, &SyntaxError{i, "a value expected"}
}

// ValueEnd returns the index after the value at b[i], which must be valid.
func ValueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = StringEnd(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
			continue
		default: // a number or a word
			for i < len(b) && !IsDelimiter(b[i]) {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return i
}

// IsDelimiter reports whether c ends a number or a word.
func IsDelimiter(c byte) bool {
	switch c {
	case ',', ':', ' ', '\t', '\n', '\r', '}', ']', '{', '[', '"':
		return true
	}
	return false
}

// StringEnd returns the index after the string at b[i], which must be valid.
func StringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(b)
}
