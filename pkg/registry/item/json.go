package item

import (
	"encoding/json"
	"errors"
	"fmt"

	"mcp-bash/pkg/json/rawjson"
)

// MaxNesting is the maximum depth of arrays and objects in metadata. Registry files are
// indented by two bytes for each level. Without this limit, a small file could become a
// registry file of gigabytes.
const MaxNesting = 100

var errNesting = fmt.Errorf("nested more than %d levels deep", MaxNesting)

// A SyntaxError is the place and the reason of invalid JSON in a text.
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

// CheckJSON returns the JSON value of a text. nesting is the maximum depth of the value.
// The error of invalid JSON is a [*SyntaxError].
func CheckJSON(text []byte, nesting int) (json.RawMessage, error) {
	value, err := rawjson.Check(text)
	if syntax, ok := errors.AsType[*rawjson.SyntaxError](err); ok {
		return nil, syntaxError(syntax, text)
	}
	if err == nil && nestingOf(value) > nesting {
		err = errNesting
	}
	return value, err
}

// ParseObject returns the JSON object of a text.
func ParseObject(text []byte) (json.RawMessage, error) {
	object, err := CheckJSON(text, MaxNesting)
	if err == nil && rawjson.KindOf(object) != rawjson.Object {
		err = ErrNoObject
	}
	return object, err
}

var ErrNoObject = errors.New("not a JSON object")

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

// IsEmptyText reports whether a value is not a string, or is an empty string.
func IsEmptyText(v json.RawMessage) bool {
	text, isText := rawjson.Text(v)
	return !isText || text == ""
}
