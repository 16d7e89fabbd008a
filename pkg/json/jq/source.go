package jq

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"

	"mcp-bash/pkg/json/rawjson"
)

// A source reads the input according to the flags: the values or lines of the files,
// one by one or all at once.
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

// next returns the next value, which is valid until the next call. The error is io.EOF at
// the end, and an [*inputError] for invalid JSON. After that error, the input counts as
// ended.
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
		s.endsFile(cmp.Or(err, io.EOF))
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
