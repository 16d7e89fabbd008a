package item

import (
	"bytes"
	"encoding/json"

	"mcp-bash/pkg/rawjson"
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
// nil when there is none.
func ParseHeader(head []byte) json.RawMessage {
	for line := range bytes.Lines(head) {
		for {
			_, after, found := bytes.Cut(line, headerMark)
			if !found {
				break
			}
			if text := rawjson.SkipSpace(after); len(text) > 0 && text[0] == '{' {
				if object, _, err := rawjson.Next(text); err == nil && nestingOf(object) <= MaxNesting {
					return object
				}
			}
			line = after
		}
	}
	return nil
}
