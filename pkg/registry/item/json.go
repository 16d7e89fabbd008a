package item

import (
	"encoding/json"
	"errors"
	"fmt"

	"mcp-bash/pkg/json/rawjson"
)

// maxNesting is how deeply authors may nest arrays and objects. The layout of
// registry files makes a text longer by two bytes a level and line, so that
// without a bound a small file could become one of gigabytes.
const MaxNesting = 100

var errNesting = fmt.Errorf("nested more than %d levels deep", MaxNesting)

// A SyntaxError is the place in a text that is no JSON, and the reason.
type SyntaxError struct {
	Line, Column int // from 1
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

func syntaxError(err *rawjson.SyntaxError, text []byte) *SyntaxError {
	line, column := err.Position(text)
	return &SyntaxError{line, column, err.Reason}
}

// CheckJSON returns the one JSON value that a text consists of, nested at most so
// deeply. The error says where in the text it stands.
func CheckJSON(text []byte, nesting int) (json.RawMessage, error) {
	value, err := rawjson.Check(text)
	var syntax *rawjson.SyntaxError
	if errors.As(err, &syntax) {
		return nil, syntaxError(syntax, text)
	}
	if err == nil && nestingOf(value) > nesting {
		err = errNesting
	}
	return value, err
}

// ParseObject returns the one JSON object that a text consists of.
func ParseObject(text []byte) (json.RawMessage, error) {
	object, err := CheckJSON(text, MaxNesting)
	if err == nil && rawjson.KindOf(object) != rawjson.Object {
		err = ErrNoObject
	}
	return object, err
}

var ErrNoObject = errors.New("not a JSON object")

// nestingOf returns how deeply a valid text is nested.
func nestingOf(text []byte) int {
	depth, deepest := 0, 0
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// IsEmptyText reports whether a value is anything but a string that is not empty.
func IsEmptyText(v json.RawMessage) bool {
	text, isText := rawjson.Text(v)
	return !isText || text == ""
}
