package item

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
)

// keyword returns the rule for a keyword of JSON Schema (draft 2020-12 and earlier) whose
// value contains no schema.
func keyword(name string) (is rule, found bool) {
	switch name {
	case "$comment", "$id", "$ref", "$schema", "$anchor", "$dynamicRef", "$dynamicAnchor", "title", "description",
		"format", "pattern", "contentEncoding", "contentMediaType":
		return aString, true
	case "uniqueItems", "readOnly", "writeOnly", "deprecated":
		return aBool, true
	case "enum", "examples":
		return anArray, true
	case "required":
		return someText, true
	case "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum":
		return aNumber, true
	case "multipleOf":
		return aFactor, true
	case "maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties", "maxContains", "minContains":
		return aCount, true
	}
	return rule{}, false
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

// Schemas returns a schema and all schemas in it, with their paths, such as "properties.a.items". A path is "" for the
// schema itself.
func Schemas(v json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) { eachSchema(v, "", yield) }
}

func eachSchema(v json.RawMessage, path string, yield func(string, json.RawMessage) bool) bool {
	if rawjson.KindOf(v) != rawjson.Object {
		return true
	}
	if !yield(path, v) {
		return false
	}
	if path != "" {
		path += "."
	}
	for _, m := range rawjson.Members(v) {
		at := path + m.Name
		if slices.Contains(oneSchema, m.Name) && !eachSchema(m.Value, at, yield) {
			return false
		}
		if slices.Contains(schemaList, m.Name) || m.Name == "items" {
			for one := range rawjson.Elements(m.Value) {
				if !eachSchema(one, at, yield) {
					return false
				}
			}
		}
		if slices.Contains(schemaMap, m.Name) {
			for _, one := range rawjson.Members(m.Value) {
				if !eachSchema(one.Value, at+"."+one.Name, yield) {
					return false
				}
			}
		}
	}
	return true
}

// offered checks the schema of a tool. Clients refuse properties that are true or false,
// so offered replaces them by {} and {"not":{}}, which mean the same.
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

// schema checks a JSON Schema. It returns nil for any other value.
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
	switch is, found := keyword(name); {
	case found:
		return c.value(v, is)
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
		if c.value(v, anObject) == nil {
			return nil
		}
		return c.object(v, func(_ string, value json.RawMessage) json.RawMessage { return c.schema(value) })
	case name == "dependentRequired":
		if c.value(v, anObject) == nil {
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
