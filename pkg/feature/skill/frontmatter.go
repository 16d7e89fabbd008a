package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/yamljson"
)

const maxFrontmatter = 64 << 10 // bytes

// parseFrontmatter returns the front matter of a SKILL.md as a JSON object. Clients compare it with what they
// parse.
func parseFrontmatter(text []byte) (json.RawMessage, error) {
	matter, err := cutFrontmatter(bytes.TrimPrefix(text, rawjson.ByteOrderMark))
	if err != nil {
		return nil, err
	}
	documents, err := yamljson.Parse(matter, 1)
	if _, isSyntax := errors.AsType[*yamljson.SyntaxError](err); isSyntax {
		return nil, fmt.Errorf("the front matter is not YAML: %w", err)
	} else if err != nil {
		return nil, err
	}
	if len(documents) != 1 || rawjson.KindOf(documents[0].JSON) != rawjson.Object {
		return nil, errors.New("the front matter is not a mapping of keys to values")
	}
	return documents[0].JSON, nil
}

// cutFrontmatter returns the text between the first two lines "---".
func cutFrontmatter(text []byte) ([]byte, error) {
	rest, ok := cutLine(text)
	if !ok {
		return nil, errors.New(`the first line must be "---"`)
	}
	for at := 0; at < len(rest); {
		if _, ok := cutLine(rest[at:]); ok {
			if at > maxFrontmatter {
				return nil, fmt.Errorf("the front matter has more than %d bytes", maxFrontmatter)
			}
			if !utf8.Valid(rest[:at]) {
				return nil, errors.New("the front matter is not valid UTF-8")
			}
			return rest[:at], nil
		}
		end := bytes.IndexByte(rest[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	return nil, errors.New(`the front matter has no last line "---"`)
}

// cutLine returns the text after the first line, if that line is "---".
func cutLine(text []byte) (rest []byte, ok bool) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest, bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t\r")) == 0
}
