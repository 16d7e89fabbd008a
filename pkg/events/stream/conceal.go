package stream

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
)

var hidden = json.RawMessage(`"` + events.Hidden + `"`)

// namesSecrets reports whether a text can have the keyword writeOnly, perhaps with escapes.
func namesSecrets(schema json.RawMessage) bool {
	return bytes.Contains(schema, []byte(`"writeOnly"`)) || bytes.Contains(schema, []byte(`\u`))
}

// conceals reports whether a part of a schema can call a value writeOnly, perhaps by a reference.
func conceals(schema json.RawMessage) bool {
	return namesSecrets(schema) || bytes.Contains(schema, []byte(`ef"`)) // $ref and $dynamicRef
}

// conceal replaces the values in arguments that a schema calls writeOnly. It replaces too much rather than too little:
// it does not check which branch of a schema or which pattern applies. It also replaces values whose schema it cannot
// find, and values of another type than a schema with such parts describes.
func conceal(arguments, schema json.RawMessage) json.RawMessage {
	return concealer{root: schema}.value(arguments, []json.RawMessage{schema})
}

// A concealer follows the references of one schema.
type concealer struct{ root json.RawMessage }

// value returns a value to which schemas apply, without its secrets.
func (c concealer) value(v json.RawMessage, schemas []json.RawMessage) json.RawMessage {
	schemas, ok := c.expand(schemas)
	kind := rawjson.KindOf(v)
	switch {
	case !ok:
		return hidden
	case len(schemas) == 0 || kind == rawjson.Null || kind == rawjson.Bool:
		return v
	case mismatched(kind, schemas):
		return hidden
	}
	var b rawjson.Builder
	switch kind {
	case rawjson.Object:
		b.Object()
		for name, value := range rawjson.All(v) {
			b.Name(name).Raw(c.value(value, ofMember(schemas, name)))
		}
	case rawjson.Array:
		b.Array()
		at := 0
		for value := range rawjson.Elements(v) {
			b.Raw(c.value(value, ofElement(schemas, at)))
			at++
		}
	default:
		return v
	}
	return b.End().Bytes()
}

// expand adds the schemas that apply to the same value. The result is false if the value must be hidden.
func (c concealer) expand(schemas []json.RawMessage) (all []json.RawMessage, ok bool) {
	ok = true
	add := func(schema json.RawMessage) {
		isSame := func(other json.RawMessage) bool { return &other[0] == &schema[0] }
		if conceals(schema) && rawjson.KindOf(schema) == rawjson.Object && !slices.ContainsFunc(all, isSame) {
			all = append(all, schema)
		}
	}
	for _, schema := range schemas {
		add(schema)
	}
	for i := 0; i < len(all); i++ {
		for keyword, value := range rawjson.All(all[i]) {
			switch keyword {
			case "writeOnly":
				ok = ok && !rawjson.True(value)
			case "$ref", "$dynamicRef", "$recursiveRef":
				target := c.target(value)
				if ok = ok && target != nil; ok {
					add(target)
				}
			case "allOf", "anyOf", "oneOf":
				for branch := range rawjson.Elements(value) {
					add(branch)
				}
			case "if", "then", "else", "not":
				add(value)
			case "dependentSchemas", "dependencies":
				for _, branch := range rawjson.All(value) {
					add(branch)
				}
			default:
				ok = ok && (slices.Contains(forParts, keyword) || slices.Contains(noSchemas, keyword) ||
					rawjson.KindOf(value) == rawjson.String || !namesSecrets(value))
			}
		}
	}
	return all, ok
}

// target returns the schema that a reference leads to, or nil if it is not found.
func (c concealer) target(reference json.RawMessage) json.RawMessage {
	text, _ := rawjson.Text(reference)
	fragment, isLocal := strings.CutPrefix(text, "#")
	pointer, err := url.PathUnescape(fragment)
	switch {
	case !isLocal || err != nil || pointer != "" && pointer[0] != '/':
		return nil
	case pointer == "":
		return c.root
	}
	names := strings.Split(pointer[1:], "/")
	for i := range names {
		names[i] = rawjson.FromPointer.Replace(names[i])
	}
	return rawjson.Path(c.root, names...)
}

// Keywords for the members of objects and for the elements of arrays, and those without a schema for the value.
var (
	forMembers = []string{"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"}
	forList    = []string{"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"}
	forParts   = slices.Concat(forMembers, forList)
	noSchemas  = []string{"$defs", "definitions", "default", "const", "enum", "examples", "example", "required"}
)

// mismatched reports whether schemas describe secret parts of another kind of value. The server converts such values,
// such as a string with the JSON of an object.
func mismatched(kind rawjson.Kind, schemas []json.RawMessage) bool {
	members, list := describe(schemas, forMembers), describe(schemas, forList)
	switch kind {
	case rawjson.Object:
		return list && !members
	case rawjson.Array:
		return members && !list
	}
	return members || list
}

// describe reports whether one of these keywords of the schemas has a schema with secret parts.
func describe(schemas []json.RawMessage, keywords []string) bool {
	return slices.ContainsFunc(schemas, func(schema json.RawMessage) bool {
		return slices.ContainsFunc(keywords, func(k string) bool { return conceals(rawjson.Get(schema, k)) })
	})
}

// ofMember returns the schemas of a member of an object.
func ofMember(schemas []json.RawMessage, name string) (list []json.RawMessage) {
	for _, schema := range schemas {
		own := rawjson.Get(rawjson.Get(schema, "properties"), name)
		if own != nil {
			list = append(list, own)
		} else {
			list = append(list, rawjson.Get(schema, "additionalProperties"), rawjson.Get(schema, "unevaluatedProperties"))
		}
		for _, one := range rawjson.All(rawjson.Get(schema, "patternProperties")) {
			list = append(list, one)
		}
	}
	return list
}

// ofElement returns the schemas of an element of an array.
func ofElement(schemas []json.RawMessage, at int) (list []json.RawMessage) {
	for _, schema := range schemas {
		for _, keyword := range forList {
			value := rawjson.Get(schema, keyword)
			if rawjson.KindOf(value) != rawjson.Array {
				list = append(list, value)
				continue
			}
			i := 0
			for one := range rawjson.Elements(value) {
				if i == at {
					list = append(list, one)
				}
				i++
			}
		}
	}
	return list
}
