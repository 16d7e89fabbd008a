package item

import (
	"bytes"
	"encoding/json"
	"errors"

	"mcp-bash/pkg/json/rawjson"
)

// Where in a file an inline header is looked for.
const (
	headLines = 10
	MaxHead   = 64 << 10
	FirstHead = 4 << 10 // read at first; most often enough
)

var headerMark = []byte("mcp:")

// Head returns the lines of a text that can hold a header. whole reports whether
// they are all there.
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

// ParseHeader returns the object after the first "mcp:" that has one on its line,
// nil when there is none. The error, a [*SyntaxError], is for a text without an
// object but with something that begins like one.
func ParseHeader(head []byte) (object json.RawMessage, err error) {
	start := 0 // of the line, or of what is left of it
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

// headerError is the error for a header that begins at an offset.
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
