package jq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
)

// A source reads the input according to the flags: the values or lines of the files, one by one or all at once.
type source struct {
	options    *options
	files      []string // not read yet; "-" is standard input
	stdin      io.Reader
	beforeRead func()      // called before a read that can block
	failed     func(error) // called with the error of each file that cannot be read

	file   *reader   // being read, or the last one
	closer io.Closer // of the file being read, or nil
	over   bool
}

// next returns the next value, which is valid until the next call. The error is io.EOF at the end, and an
// [*inputError] for invalid JSON. After that error, the input counts as ended.
func (s *source) next() (json.RawMessage, error) {
	if s.over {
		return nil, io.EOF
	}
	if !s.options.slurp {
		value, err := s.single()
		s.over = err != nil
		return value, err
	}
	s.over = true
	if s.options.rawInput {
		return s.wholeText(), nil
	}
	return wholeArray(s.single)
}

func (s *source) single() (json.RawMessage, error) {
	for s.open() {
		read := s.file.value
		if s.options.rawInput {
			read = s.file.line
		}
		value, err := read()
		if !s.endsFile(err) {
			return value, err
		}
	}
	return nil, io.EOF
}

func wholeArray(next func() (json.RawMessage, error)) (json.RawMessage, error) {
	array := []byte{'['}
	for {
		value, err := next()
		if err == io.EOF {
			return append(array, ']'), nil
		}
		if err != nil {
			return nil, err
		}
		if len(array) > 1 {
			array = append(array, ',')
		}
		array = append(array, value...)
	}
}

func (s *source) wholeText() json.RawMessage {
	var whole []byte
	for s.open() {
		text, err := s.file.text()
		whole = append(whole, text...)
		s.endsFile(err)
	}
	return rawjson.AppendString(nil, whole)
}

// open ensures that a file is being read. It returns false after the last file.
func (s *source) open() bool {
	for s.closer == nil {
		if len(s.files) == 0 {
			return false
		}
		name := s.files[0]
		s.files = s.files[1:]
		s.file = &reader{name: name, beforeRead: s.beforeRead}
		if name == "-" {
			s.file.name, s.file.src, s.closer = "<stdin>", s.stdin, io.NopCloser(s.stdin)
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			s.failed(err)
			continue
		}
		s.file.src, s.closer = file, file
	}
	return true
}

// endsFile reports whether an error of the reader ends the file, and closes the file then.
// It reports files that cannot be read to s.failed.
func (s *source) endsFile(err error) bool {
	var input *inputError
	if err == nil || errors.As(err, &input) {
		return false
	}
	if err != io.EOF {
		s.failed(err)
	}
	s.closer.Close()
	s.closer = nil
	return true
}

func (s *source) close() {
	if s.closer != nil {
		s.closer.Close()
	}
}

// place returns the position of the last value in the input, for messages.
func (s *source) place() string {
	if s.file == nil {
		return "<unknown>"
	}
	return s.file.name + ":" + strconv.Itoa(s.file.lineNumber())
}

func (s *source) lineNumber() int {
	if s.file == nil {
		return 0
	}
	return s.file.lineNumber()
}

// fileName returns the value of input_filename, which is nil for standard input.
func (s *source) fileName() any {
	if s.file == nil || s.file.src == s.stdin {
		return nil
	}
	return s.file.name
}

// A reader splits one file into values or lines as they arrive. It returns a value as soon
// as its end is known, which is the next character for a number or a word.
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

// text returns the rest of the file.
func (r *reader) text() (text []byte, err error) {
	for err == nil {
		err = r.fill()
	}
	if err == io.EOF {
		text = r.buf[r.start:]
		r.advance(len(text))
	}
	return text, err
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

// lineNumber returns the value of input_line_number: the number of newlines up to the end of the last value's line.
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
		at := rawjson.SpaceEnd(r.buf, r.start)
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

// checkValue returns the single value in text. Each invalid UTF-8 byte becomes U+FFFD.
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
