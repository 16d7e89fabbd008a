package item

import (
	"bytes"
	"encoding/json"
	"errors"

	"mcp-bash/pkg/json/rawjson"
)

// The part of a file that may contain an inline header.
const (
	headLines = 10
	MaxHead   = 64 << 10
	FirstHead = 4 << 10 // read first; usually enough
)

var headerMark = []byte("mcp:")

// Head returns the lines of a text that can contain a header. whole reports whether the
// text contains all of these lines.
func Head(text []byte) (head []byte, whole bool) {
	end := 0
	for range headLines {
		at := bytes.IndexByte(text[end:], '\n')
		if at < 0 {
			return text, len(text) >= MaxHead
		}
		end += at + 1
	}
	return text[:end], true
}

// ParseHeader returns the object after the first "mcp:" that is followed by an object on
// the same line, or nil. If the only candidates are invalid objects, the error is a
// [*SyntaxError].
func ParseHeader(head []byte) (object json.RawMessage, err error) {
	start := 0 // of the rest of the line
	for line := range bytes.Lines(head) {
		next := start + len(line)
		for {
			at := bytes.Index(line, headerMark)
			if at < 0 {
				break
			}
			start += at + len(headerMark)
			line = line[at+len(headerMark):]
			text := rawjson.SkipSpace(line)
			if len(text) == 0 || text[0] != '{' {
				continue
			}
			object, _, wrong := rawjson.Next(bytes.TrimRight(text, "\r\n"))
			if wrong == nil && nestingOf(object) <= MaxNesting {
				return object, nil
			}
			if err == nil {
				err = headerError(head, start+len(line)-len(text), wrong)
			}
		}
		start = next
	}
	return nil, err
}

func headerError(head []byte, offset int, wrong error) error {
	fault := &rawjson.SyntaxError{Offset: offset, Reason: errNesting.Error()}
	var syntax *rawjson.SyntaxError
	switch {
	case errors.As(wrong, &syntax):
		fault.Offset, fault.Reason = offset+syntax.Offset, syntax.Reason
	case wrong != nil:
		fault.Reason = wrong.Error()
	}
	return syntaxError(fault, head)
}
