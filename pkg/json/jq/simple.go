package jq

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

// A Simple is a filter that the SDK and the program evaluate without an engine. It is a path of names and indexes, with
// or without a literal default. The zero value is the filter ".".
type Simple struct {
	steps      []step
	hasDefault bool
	fallback   json.RawMessage // nil: the default "empty", which produces no result
}

type step struct {
	name    string
	index   int
	isIndex bool
}

// ParseSimple parses a filter. ok is false if the filter is not simple, even if it is not a
// valid filter. The empty text is the filter ".".
//
//	.name    .items[0].id    ."two words"    .limit // 10    .note // empty
func ParseSimple(filter string) (s Simple, ok bool) {
	if filter == "" {
		return s, true
	}
	if strings.Contains(filter, "\n") {
		return s, false
	}
	rest, ok := s.parsePath(trimBlanks(filter))
	if !ok {
		return Simple{}, false
	}
	rest = trimBlanks(rest)
	if rest == "" {
		return s, true
	}
	literal, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return Simple{}, false
	}
	s.hasDefault = true
	if s.fallback, ok = parseDefault(trimBlanks(literal)); !ok {
		return Simple{}, false
	}
	return s, true
}

func trimBlanks(s string) string { return strings.Trim(s, " \t") }

func (s *Simple) parsePath(filter string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(filter, ".")
	if !ok {
		return "", false
	}
	if rest == "" || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '/' {
		return rest, true // the path "."
	}
	for {
		var name string
		if name, rest, ok = cutName(rest); !ok {
			return "", false
		}
		s.steps = append(s.steps, step{name: name})
		for strings.HasPrefix(rest, "[") {
			digits, after, closed := strings.Cut(rest[1:], "]")
			if !closed || !isDigits(digits) {
				return "", false
			}
			index, err := strconv.Atoi(digits)
			if err != nil {
				index = math.MaxInt // beyond the end of any array
			}
			s.steps = append(s.steps, step{index: index, isIndex: true})
			rest = after
		}
		after, more := strings.CutPrefix(rest, ".")
		if !more {
			return rest, true
		}
		rest = after
	}
}

func cutName(path string) (name, rest string, ok bool) {
	if quoted, ok := strings.CutPrefix(path, `"`); ok {
		name, rest, ok = strings.Cut(quoted, `"`)
		return name, rest, ok && !strings.Contains(name, `\`)
	}
	end := jqtext.IdentifierEnd(path)
	return path[:end], path[end:], end > 0
}

// parseDefault parses the text after "//". It returns nil for "empty".
func parseDefault(literal string) (json.RawMessage, bool) {
	switch literal {
	case "empty":
		return nil, true
	case "true", "false", "null":
		return json.RawMessage(literal), true
	}
	if text, ok := strings.CutPrefix(literal, `"`); ok {
		text, ok = strings.CutSuffix(text, `"`)
		if !ok || strings.ContainsAny(text, `"\`) {
			return nil, false
		}
		return rawjson.Quote(text), true
	}
	digits := strings.TrimPrefix(literal, "-")
	if !isDigits(digits) || len(digits) > 15 || literal == "-0" {
		return nil, false
	}
	return json.RawMessage(literal), true
}

// isDigits reports whether s is a number without leading zeros.
func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == "" && (s[0] != '0' || s == "0")
}

// Eval evaluates the filter on a document. The value is a slice of the document, null or the default. It is nil only if
// the default is "empty", which means no result. [jqtext.AppendText] prints the value as the SDK does. The error is an
// [*IndexError].
func (s Simple) Eval(doc json.RawMessage) (json.RawMessage, error) {
	value := doc
	for _, next := range s.steps {
		var err error
		if value, err = next.from(value); err != nil {
			return nil, err
		}
	}
	if s.hasDefault && !isTruthy(value) {
		return s.fallback, nil
	}
	if value == nil {
		return json.RawMessage("null"), nil
	}
	return value, nil
}

func (s Simple) apply(doc json.RawMessage, emit func(json.RawMessage) error) error {
	value, err := s.Eval(doc)
	if err != nil || value == nil {
		return err
	}
	return emit(value)
}

func isTruthy(v json.RawMessage) bool {
	return !rawjson.Absent(v) && string(v) != "false"
}

// from returns the member or element of a value that the step names. It returns nil if it is missing or the value is
// null.
func (next step) from(value json.RawMessage) (json.RawMessage, error) {
	switch kind := rawjson.KindOf(value); {
	case kind == rawjson.Null || kind == rawjson.Invalid:
		return nil, nil
	case kind == rawjson.Object && !next.isIndex:
		return rawjson.Get(value, next.name), nil
	case kind == rawjson.Array && next.isIndex:
		at := 0
		for element := range rawjson.Elements(value) {
			if at == next.index {
				return element, nil
			}
			at++
		}
		return nil, nil
	default:
		return nil, &IndexError{Kind: kind, Name: next.name, ByNumber: next.isIndex}
	}
}

// An IndexError is the error for a path that does not match its document. The path has a
// member of a value that is not an object, or an element of a value that is not an array.
type IndexError struct {
	Kind     rawjson.Kind // of the value that the path leads into
	Name     string       // of the requested member
	ByNumber bool         // an element was requested
}

func (e *IndexError) Error() string {
	if e.ByNumber {
		return fmt.Sprintf("Cannot index %s with number", e.Kind)
	}
	return fmt.Sprintf("Cannot index %s with %q", e.Kind, e.Name)
}
