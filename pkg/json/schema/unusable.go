package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"mcp-bash/pkg/json/rawjson"
)

// A FormError is the error for a keyword whose value has the wrong JSON type.
type FormError struct {
	Path  string          // the path of the keyword, such as "properties.a.required"
	Piece json.RawMessage // the value, as a slice of the schema
	Want  string          // "an array of strings"
	Found string          // "a number"
}

func (e *FormError) Error() string {
	text := fmt.Sprintf("expected %s, found %s", e.Want, e.Found)
	if e.Path == "" {
		return text
	}
	return e.Path + ": " + text
}

// formError returns the error for the first keyword whose value the library does not accept.
func formError(schema json.RawMessage, path string, err error) *FormError {
	for _, m := range rawjson.Members(schema) {
		var b rawjson.Builder
		alone := b.Object().Name(m.Name).Raw(m.Value).End().Bytes()
		errAlone := json.Unmarshal(alone, new(jsonschema.Schema))
		if errAlone == nil {
			continue
		}
		at := m.Name
		if path != "" {
			at = path + "." + m.Name
		}
		for name, below := range parts(m.Value) {
			if rawjson.KindOf(below) == rawjson.Object {
				if errBelow := json.Unmarshal(below, new(jsonschema.Schema)); errBelow != nil {
					return formError(below, at+name, errBelow)
				}
			}
		}
		if rawjson.KindOf(m.Value) == rawjson.Object && m.Name != "properties" {
			if errSelf := json.Unmarshal(m.Value, new(jsonschema.Schema)); errSelf != nil {
				return formError(m.Value, at, errSelf)
			}
		}
		return wrongForm(m.Name, at, m.Value, errAlone)
	}
	return wrongForm("", path, schema, err)
}

// parts yields the values in an object or array, each with its part of the path.
func parts(v json.RawMessage) func(yield func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		if rawjson.KindOf(v) == rawjson.Object {
			for _, m := range rawjson.Members(v) {
				if !yield("."+m.Name, m.Value) {
					return
				}
			}
			return
		}
		i := 0
		for e := range rawjson.Elements(v) {
			if !yield(fmt.Sprintf("[%d]", i), e) {
				return
			}
			i++
		}
	}
}

var kindWords = [...]string{
	rawjson.Null: "null", rawjson.Bool: "true or false", rawjson.Number: "a number", rawjson.String: "a string",
	rawjson.Array: "an array", rawjson.Object: "an object",
}

// wrongForm replaces an error of the library, which names types of Go.
func wrongForm(keyword, path string, value json.RawMessage, err error) *FormError {
	e := &FormError{Path: path, Piece: value, Want: "a whole number", Found: kindWords[rawjson.KindOf(value)]}
	var typed *json.UnmarshalTypeError
	switch {
	case keyword == "type":
		e.Want = "the name of a type, or an array of names"
	case errors.As(err, &typed):
		e.Want = formOf(typed.Type)
		kind, ofStrings := rawjson.KindOf(value), typed.Type.Kind() == reflect.String
		if kind == rawjson.Array && typed.Value != "array" && ofStrings {
			e.Want, e.Found = "an array of strings", "another value in it"
		} else if kindWords[kind] == e.Want {
			e.Want, e.Found = e.Want+" of other values", "a wrong one in it"
		}
	}
	return e
}

// formOf describes the JSON value that the library decodes into a type of Go.
func formOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return "an array of strings"
		}
		return "an array"
	}
	return "an object"
}
