package jq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
)

// A reader splits one file into values or lines as they arrive. It returns each one as soon
// as its last byte was read.
type reader struct {
	name       string // of the file, for messages
	src        io.Reader
	beforeRead func() // called before a read that can block

	buf    []byte
	start  int // of the bytes that were not returned yet
	begun  bool
	ended  error
	lines  int // newlines before start
	column int // characters after the last of them
}

// value returns the next value, which is valid until the next call. The error is io.EOF at
// the end of the file, and an [*inputError] for invalid JSON.
func (r *reader) value() (json.RawMessage, error) {
	if !r.begun {
		r.begun = true
		if err := r.skipByteOrderMark(); err != nil {
			return nil, err
		}
	}
	if err := r.skipBlanks(); err != nil {
		return nil, err
	}
	length, err := r.measure()
	if err != nil {
		return nil, err
	}
	text := r.buf[r.start : r.start+length]
	value, err := checkValue(text)
	if err != nil {
		return nil, r.inputError(text, err)
	}
	r.advance(length)
	return value, nil
}

// line returns the next line as a JSON string, without its newline.
func (r *reader) line() (json.RawMessage, error) {
	for searched := 0; ; {
		if at := bytes.IndexByte(r.buf[r.start+searched:], '\n'); at >= 0 {
			line := rawjson.AppendString(nil, r.buf[r.start:r.start+searched+at])
			r.advance(searched + at + 1)
			return line, nil
		}
		searched = len(r.buf) - r.start
		if err := r.fill(); err == io.EOF && searched > 0 {
			line := rawjson.AppendString(nil, r.buf[r.start:])
			r.advance(searched)
			return line, nil
		} else if err != nil {
			return nil, err
		}
	}
}

func (r *reader) text() ([]byte, error) {
	for {
		if err := r.fill(); err == io.EOF {
			text := r.buf[r.start:]
			r.advance(len(text))
			return text, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// fill reads more into the buffer. Bytes that were not returned yet can move.
func (r *reader) fill() error {
	if r.ended != nil {
		return r.ended
	}
	if r.start > 0 {
		r.buf = r.buf[:copy(r.buf, r.buf[r.start:])]
		r.start = 0
	}
	if len(r.buf) == cap(r.buf) {
		r.buf = slices.Grow(r.buf, max(len(r.buf), 16<<10))
	}
	r.beforeRead()
	for {
		n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		r.ended = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *reader) advance(length int) {
	passed := r.buf[r.start : r.start+length]
	r.start += length
	if last := bytes.LastIndexByte(passed, '\n'); last >= 0 {
		r.lines += bytes.Count(passed, []byte{'\n'})
		r.column = 0
		passed = passed[last+1:]
	}
	r.column += utf8.RuneCount(passed)
}

// lineNumber returns the value of input_line_number: the number of newlines up to the end of
// the last value's line.
func (r *reader) lineNumber() int {
	if bytes.HasPrefix(bytes.TrimLeft(r.buf[r.start:], " \t\r"), []byte{'\n'}) {
		return r.lines + 1
	}
	return r.lines
}

func (r *reader) skipByteOrderMark() error {
	const mark = "\uFEFF"
	for len(r.buf) == 0 || len(r.buf) < len(mark) && r.buf[0] == mark[0] {
		if err := r.fill(); err == io.EOF && len(r.buf) > 0 {
			break
		} else if err != nil {
			return err
		}
	}
	if bytes.HasPrefix(r.buf, []byte(mark)) {
		r.start = len(mark)
	}
	return nil
}

func (r *reader) skipBlanks() error {
	for {
		at := r.start
		for at < len(r.buf) && isSpace(r.buf[at]) {
			at++
		}
		r.advance(at - r.start)
		if at < len(r.buf) {
			return nil
		}
		if err := r.fill(); err != nil {
			return err
		}
	}
}

// measure returns the length of the next value: up to its closing bracket or quote, or up to
// the character after a number or word. It does not check the value.
func (r *reader) measure() (length int, err error) {
	var depth int
	var inString, escaped bool
	for {
		rest := r.buf[r.start:]
		for ; length < len(rest); length++ {
			c := rest[length]
			switch {
			case escaped:
				escaped = false
			case inString:
				switch {
				case c == '\\':
					escaped = true
				case c == '"' && depth == 0:
					return length + 1, nil
				case c == '"':
					inString = false
				}
			case depth > 0:
				switch c {
				case '"':
					inString = true
				case '{', '[':
					depth++
				case '}', ']':
					if depth--; depth == 0 {
						return length + 1, nil
					}
				}
			case rawjson.IsDelimiter(c) && length > 0:
				return length, nil
			case c == '"':
				inString = true
			case c == '{' || c == '[':
				depth++
			case rawjson.IsDelimiter(c):
				return 1, nil
			}
		}
		if err := r.fill(); err == io.EOF {
			return length, nil
		} else if err != nil {
			return 0, err
		}
	}
}

// checkValue returns the single value in text. Each invalid UTF-8 byte becomes U+FFFD
// (SDK-18).
func checkValue(text []byte) (json.RawMessage, error) {
	value, err := rawjson.Check(text)
	if err == rawjson.ErrInvalidUTF8 {
		return rawjson.Check([]byte(string([]rune(string(text)))))
	}
	return value, err
}

func (r *reader) inputError(text []byte, err error) error {
	e := &inputError{file: r.name, line: r.lines + 1, column: r.column + 1, reason: err.Error()}
	if syntax, ok := errors.AsType[*rawjson.SyntaxError](err); ok {
		line, column := syntax.Position(text)
		if line == 1 {
			column += r.column
		}
		e.line, e.column, e.reason = r.lines+line, column, syntax.Reason
	}
	return e
}

type inputError struct {
	file         string
	line, column int // from 1
	reason       string
}

func (e *inputError) Error() string {
	return fmt.Sprintf("%s is not JSON: %s at line %d, column %d", e.file, e.reason, e.line, e.column)
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
