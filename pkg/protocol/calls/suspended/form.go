package suspended

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
)

// formRules is the protocol's schema of a form: primitives, each with its type, and choices
// among strings.
const formRules = `{
  "type": "object", "required": ["type", "properties"],
  "properties": {
    "type": {"const": "object"},
    "required": {"type": "array", "items": {"type": "string"}},
    "properties": {"type": "object", "additionalProperties": {
      "type": "object", "required": ["type"],
      "properties": {
        "type": {"enum": ["string", "number", "integer", "boolean", "array"]},
        "title": {"type": "string"}, "description": {"type": "string"}
      },
      "allOf": [
        {"if": {"properties": {"type": {"const": "string"}}}, "then": {"properties": {
          "format": {"enum": ["date", "date-time", "email", "uri"]},
          "minLength": {"type": "integer", "minimum": 0}, "maxLength": {"type": "integer", "minimum": 0},
          "enum": {"$ref": "#/$defs/strings"}, "enumNames": {"$ref": "#/$defs/strings"},
          "oneOf": {"$ref": "#/$defs/titled"}, "default": {"type": "string"}}}},
        {"if": {"properties": {"type": {"enum": ["number", "integer"]}}}, "then": {"properties": {
          "minimum": {"type": "number"}, "maximum": {"type": "number"}, "default": {"type": "number"}}}},
        {"if": {"properties": {"type": {"const": "boolean"}}}, "then": {"properties": {
          "default": {"type": "boolean"}}}},
        {"if": {"properties": {"type": {"const": "array"}}}, "then": {"required": ["items"], "properties": {
          "minItems": {"type": "integer", "minimum": 0}, "maxItems": {"type": "integer", "minimum": 0},
          "default": {"$ref": "#/$defs/strings"},
          "items": {"type": "object", "anyOf": [
            {"required": ["type", "enum"], "properties": {
              "type": {"const": "string"}, "enum": {"$ref": "#/$defs/strings"}}},
            {"required": ["anyOf"], "properties": {"anyOf": {"$ref": "#/$defs/titled"}}}]}}}}
      ]}}
  },
  "$defs": {
    "strings": {"type": "array", "items": {"type": "string"}},
    "titled": {"type": "array", "items": {"type": "object", "required": ["const", "title"],
      "properties": {"const": {"type": "string"}, "title": {"type": "string"}}}}
  }
}`

var compiledRules = sync.OnceValues(func() (*schema.Schema, error) {
	return schema.Compile(json.RawMessage(formRules))
})

// soundForm returns a requestedSchema in the form that clients accept, or an error (M-56).
func soundForm(requested json.RawMessage) (json.RawMessage, error) {
	rules, err := compiledRules()
	if err != nil {
		return nil, fmt.Errorf("the rules of forms: %w", err) // a bug that tests find
	}
	form := withAnyOf(requested)
	if violations := rules.Check(form); len(violations) > 0 {
		return nil, errors.New("requestedSchema: " + violations[0].String())
	}
	return form, nil
}

// withAnyOf renames items.oneOf of older scripts to items.anyOf, which this revision uses for the
// choices of a list.
func withAnyOf(form json.RawMessage) json.RawMessage {
	return replaced(form, "properties", func(fields json.RawMessage) json.RawMessage {
		var b rawjson.Builder
		b.Object()
		for _, field := range rawjson.Members(fields) {
			b.Name(field.Name).Raw(replaced(field.Value, "items", func(items json.RawMessage) json.RawMessage {
				if rawjson.Get(items, "anyOf") != nil {
					return items
				}
				var b rawjson.Builder
				b.Object()
				for _, m := range rawjson.Members(items) {
					if m.Name == "oneOf" {
						m.Name = "anyOf"
					}
					b.Name(m.Name).Raw(m.Value)
				}
				return b.End().Bytes()
			}))
		}
		return b.End().Bytes()
	})
}

// replaced returns an object with one member changed, if that is an object too. It returns any
// other value unchanged.
func replaced(object json.RawMessage, name string, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	if rawjson.KindOf(object) != rawjson.Object || rawjson.KindOf(rawjson.Get(object, name)) != rawjson.Object {
		return object
	}
	return rawjson.With(object, name, change(rawjson.Get(object, name)))
}

// validForm reports whether an answer to a form is valid: it has an action, and for "accept" also
// content that the form allows (M-54).
func validForm(requested, answer json.RawMessage) bool {
	switch rawjson.TextOf(answer, "action") {
	case "decline", "cancel":
		return true
	case "accept":
	default:
		return false
	}
	if requested == nil { // a URL was opened, which has no form
		return true
	}
	content := rawjson.Get(answer, "content")
	if content == nil {
		content = json.RawMessage("{}")
	}
	s, err := schema.Compile(requested)
	return rawjson.KindOf(content) == rawjson.Object && (err != nil || len(s.Check(content)) == 0)
}
