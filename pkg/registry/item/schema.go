package item

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

var anyObject = json.RawMessage(`{"type":"object","properties":{}}`)

// InputSchema returns the schema of a tool's arguments, from the first source that contains one of the three members
// for it.
func (f *Fields) InputSchema() json.RawMessage {
	for i := range f.Sources {
		s := &f.Sources[i]
		for _, name := range []string{"inputSchema", "arguments"} {
			if v := s.get(name); rawjson.KindOf(v) == rawjson.Object {
				c := f.checker(BadSchema, s, name)
				return normalSchema(c.offered(c.objectType(v)))
			} else if v != nil {
				f.complain(BadSchema, s, v, name, "an object")
			}
		}
		if v := s.get("parameters"); v != nil {
			if (rawjson.Get(v, "properties") != nil || rawjson.TextOf(v, "type") == "object") && f.Reject == nil {
				f.Dir.Log(Message{Level: mcp.Warning, Topic: UnknownKey, At: s.At(v),
					Text: `"parameters" is a JSON Schema; did you mean inputSchema?`})
			}
			schema, faults := schemaOf(v)
			if len(faults) == 0 {
				return schema
			}
			for _, fault := range faults {
				f.fault("parameters", fault, Message{Topic: BadSchema, At: s.At(v), Text: fault + "; parameters ignored"})
			}
		}
	}
	return anyObject
}

// objectType leaves out a type other than "object". Clients refuse a whole list if the arguments of one tool have
// another type.
func (c *checker) objectType(v json.RawMessage) json.RawMessage {
	if string(rawjson.Get(v, "type")) == `"object"` {
		return v
	}
	return c.object(v, func(name string, value json.RawMessage) json.RawMessage {
		switch text, isText := rawjson.Text(value); {
		case name != "type" || text == "object":
			return value
		case !rawjson.Absent(value) && (!isText || text != ""):
			c.fault(value, `must be "object"`)
		}
		return nil
	})
}

// normalSchema adds a missing type "object" and missing properties to a schema.
func normalSchema(v json.RawMessage) json.RawMessage {
	typ, properties := rawjson.Get(v, "type"), rawjson.Get(v, "properties")
	text, isText := rawjson.Text(typ)
	typed := !rawjson.Absent(typ) && !(isText && text == "")
	if typed && rawjson.KindOf(properties) == rawjson.Object {
		return v
	}
	if !typed {
		v = rawjson.With(v, "type", rawjson.Quote("object"))
	}
	if rawjson.KindOf(properties) != rawjson.Object {
		v = rawjson.With(v, "properties", json.RawMessage("{}"))
	}
	return v
}

var ParameterTypes = []string{"string", "number", "integer", "boolean", "array", "object"}

// schemaOf converts the lists of "parameters" to a schema, and returns all faults of the lists.
func schemaOf(parameters json.RawMessage) (schema json.RawMessage, faults []string) {
	if rawjson.KindOf(parameters) != rawjson.Object {
		return nil, []string{"parameters: not an object"}
	}
	var b rawjson.Builder
	var names, required []string
	b.Object().Name("type").String("object").Name("properties").Object()
	for _, list := range []string{"required", "optional"} {
		v := rawjson.Get(parameters, list)
		if !rawjson.Absent(v) && rawjson.KindOf(v) != rawjson.Array {
			faults = append(faults, fmt.Sprintf("parameters.%s: not an array", list))
			continue
		}
		i := 0
		for entry := range rawjson.Elements(v) {
			where := fmt.Sprintf("parameters.%s[%d]", list, i)
			i++
			name, typ, fault := parameter(entry, list == "required")
			switch {
			case fault != "":
				faults = append(faults, where+": "+fault)
				continue
			case slices.Contains(names, name):
				faults = append(faults, fmt.Sprintf("%s: %q is given twice", where, name))
				continue
			}
			names = append(names, name)
			if list == "required" {
				required = append(required, name)
			}
			b.Name(name).Object().Name("type").String(typ)
			if description := rawjson.Get(entry, "description"); !rawjson.Absent(description) {
				b.Name("description").Raw(description)
			}
			if rawjson.True(rawjson.Get(entry, "writeOnly")) { // the record leaves its values out
				b.Name("writeOnly").Bool(true)
			}
			b.End()
		}
	}
	b.End()
	if required != nil {
		b.Name("required").Strings(required)
	}
	return b.End().Bytes(), faults
}

// parameter returns the name and the type in one entry of a list, or the fault of the entry.
func parameter(entry json.RawMessage, required bool) (name, typ, fault string) {
	if rawjson.KindOf(entry) != rawjson.Object {
		return "", "", "not an object"
	}
	if name = rawjson.TextOf(entry, "name"); name == "" {
		return "", "", `missing "name"`
	}
	v := rawjson.Get(entry, "type")
	if rawjson.Absent(v) {
		v = rawjson.Get(entry, "parameter_type")
	}
	typ = "string"
	if !rawjson.Absent(v) {
		if typ, _ = rawjson.Text(v); !slices.Contains(ParameterTypes, typ) {
			return "", "", fmt.Sprintf("unknown type of %q", name)
		}
	}
	if d := rawjson.Get(entry, "description"); !rawjson.Absent(d) && rawjson.KindOf(d) != rawjson.String {
		return "", "", fmt.Sprintf("description of %q is not a string", name)
	}
	if w := rawjson.Get(entry, "writeOnly"); !rawjson.Absent(w) && rawjson.KindOf(w) != rawjson.Bool {
		return "", "", fmt.Sprintf("writeOnly of %q is not a boolean", name)
	}
	r := rawjson.Get(entry, "required")
	if !rawjson.Absent(r) && (rawjson.KindOf(r) != rawjson.Bool || rawjson.True(r) != required) {
		return "", "", fmt.Sprintf("required of %q contradicts its list", name)
	}
	return name, typ, ""
}

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
