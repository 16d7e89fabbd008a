package item

import (
	"encoding/json"
	"fmt"
	"slices"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/rawjson"
)

// keywords are the rules for keywords of JSON Schema, draft 2020-12 and before,
// whose value holds no schema.
var keywords = map[string]rule{
	"$comment": aString, "$id": aString, "$ref": aString, "$schema": aString, "$anchor": aString, "$dynamicRef": aString,
	"$dynamicAnchor": aString, "title": aString, "description": aString, "format": aString, "pattern": aString,
	"contentEncoding": aString, "contentMediaType": aString,
	"uniqueItems": aBool, "readOnly": aBool, "writeOnly": aBool, "deprecated": aBool,
	"enum": anArray, "examples": anArray, "required": someText,
	"maximum": aNumber, "minimum": aNumber, "exclusiveMaximum": aNumber, "exclusiveMinimum": aNumber,
	"multipleOf": aFactor,
	"maxLength":  aCount, "minLength": aCount, "maxItems": aCount, "minItems": aCount, "maxProperties": aCount,
	"minProperties": aCount, "maxContains": aCount, "minContains": aCount,
}

// Keywords whose value is a schema, an array of schemas, or an object of them.
var (
	oneSchema = []string{
		"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames",
		"then", "unevaluatedItems", "unevaluatedProperties",
	}
	schemaList = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	schemaMap  = []string{"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)

// offered checks the schema of a tool, an object, and replaces properties that are true or
// false, which clients refuse, by {} and {"not":{}}, which mean the same.
func (c *checker) offered(v json.RawMessage) json.RawMessage {
	return c.object(v, func(name string, value json.RawMessage) json.RawMessage {
		if name != "properties" || rawjson.KindOf(value) != rawjson.Object {
			return c.keyword(name, value)
		}
		return c.object(value, func(_ string, property json.RawMessage) json.RawMessage {
			switch string(property) {
			case "true":
				return json.RawMessage("{}")
			case "false":
				return json.RawMessage(`{"not":{}}`)
			}
			return c.schema(property)
		})
	})
}

var schemaTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

// schema checks a JSON Schema; nil for what is none.
func (c *checker) schema(v json.RawMessage) json.RawMessage {
	switch rawjson.KindOf(v) {
	case rawjson.Bool:
		return v
	case rawjson.Object:
		return c.object(v, c.keyword)
	}
	c.fault(v, "not a schema, which is an object")
	return nil
}

func (c *checker) keyword(name string, v json.RawMessage) json.RawMessage {
	switch want := keywords[name]; {
	case want != nil:
		return c.value(v, want)
	case name == "type":
		return c.typeOf(v)
	case name == "items" && rawjson.KindOf(v) == rawjson.Array, slices.Contains(schemaList, name):
		if list := c.value(v, anArray); list == nil {
			return nil
		}
		sound := c.array(v, c.schema)
		if name != "items" && isEmptyList(sound) {
			if isEmptyList(v) {
				c.fault(v, "must not be empty")
			}
			return nil
		}
		return sound
	case slices.Contains(oneSchema, name):
		return c.schema(v)
	case slices.Contains(schemaMap, name):
		if c.value(v, ofKind(rawjson.Object)) == nil {
			return nil
		}
		return c.object(v, func(_ string, value json.RawMessage) json.RawMessage { return c.schema(value) })
	case name == "dependentRequired":
		if c.value(v, ofKind(rawjson.Object)) == nil {
			return nil
		}
		return c.object(v, func(_ string, value json.RawMessage) json.RawMessage { return c.value(value, someText) })
	}
	return v
}

func (c *checker) typeOf(v json.RawMessage) json.RawMessage {
	names, ok := rawjson.Strings(v)
	if text, isText := rawjson.Text(v); isText {
		names, ok = []string{text}, true
	}
	if !ok || len(names) == 0 || len(names) > 1 && !areNames(v) {
		c.fault(v, "must be the name of a type, or an array of different ones")
		return nil
	}
	for _, name := range names {
		if !slices.Contains(schemaTypes, name) {
			c.fault(v, fmt.Sprintf("%q is no type%s", name, cli.DidYouMean(name, schemaTypes)))
			return nil
		}
	}
	return v
}
