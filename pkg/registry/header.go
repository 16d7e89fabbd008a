package registry

import (
	"bytes"
	"encoding/json"

	"mcp-bash/pkg/rawjson"
)

// Where an inline header is looked for.
const (
	headLines = 10
	headMax   = 64 << 10
	headFirst = 4 << 10 // read at first; most often enough
)

var headerMark = []byte("mcp:")

// headOf cuts a text off after the lines that can hold a header; whole tells
// that they are all there.
func headOf(text []byte) (head []byte, whole bool) {
	end := 0
	for range headLines {
		at := bytes.IndexByte(text[end:], '\n')
		if at < 0 {
			return text, len(text) >= headMax
		}
		end += at + 1
	}
	return text[:end], true
}

// parseHeader returns the object after the first "mcp:" that an object
// follows on its line, nil when there is none.
func parseHeader(head []byte) json.RawMessage {
	for line := range bytes.Lines(head) {
		for {
			_, after, found := bytes.Cut(line, headerMark)
			if !found {
				break
			}
			if text := rawjson.SkipSpace(after); len(text) > 0 && text[0] == '{' {
				if object, _, err := rawjson.Next(text); err == nil && nestingOf(object) <= maxNesting {
					return object
				}
			}
			line = after
		}
	}
	return nil
}
