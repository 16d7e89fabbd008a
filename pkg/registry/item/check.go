package item

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
)

// A checker goes through a field that clients will read, and leaves out what a
// client would refuse, often with the whole list it stands in.
// What is sound is passed on as it stands, without a copy.
type checker struct {
	fields   *Fields
	source   *Source // that the field comes from
	reported int
}

// maxTold is how many faults of one field are told.
const maxReported = 10

// fault tells that a piece was left out; path is where it stands.
func (c *checker) fault(piece json.RawMessage, path, what string) {
	if c.reported++; c.reported <= maxReported {
		c.fields.fault(path+": "+what, fmt.Sprintf("%s: %s: %s; left out", c.source.At(piece), path, what))
	}
}

// checked returns a field after a check of it, nil for none.
func (f *Fields) checked(name string, v json.RawMessage, sound func(c *checker) json.RawMessage) json.RawMessage {
	for i := range f.Sources {
		if s := &f.Sources[i]; v != nil && sameBytes(s.get(name), v) {
			return sound(&checker{fields: f, source: s})
		}
	}
	return v
}

func sameBytes(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// object lets sound say what is to stand in the place of each member, nil for
// nothing.
func (c *checker) object(v json.RawMessage, sound func(name string, value json.RawMessage) json.RawMessage) json.RawMessage {
	return rebuilt(v, func(yield func(string, json.RawMessage) bool) {
		for _, m := range rawjson.Members(v) {
			if !yield(m.Name, sound(m.Name, m.Value)) {
				return
			}
		}
	})
}

// array does likewise with elements.
func (c *checker) array(v json.RawMessage, sound func(i int, value json.RawMessage) json.RawMessage) json.RawMessage {
	return rebuilt(v, func(yield func(string, json.RawMessage) bool) {
		i := 0
		for e := range rawjson.Elements(v) {
			if !yield("", sound(i, e)) {
				return
			}
			i++
		}
	})
}

// rebuilt writes an object or array of other parts, unless they are the same.
func rebuilt(v json.RawMessage, parts iter.Seq2[string, json.RawMessage]) json.RawMessage {
	var list, were []json.RawMessage
	var names []string
	isObject := rawjson.KindOf(v) == rawjson.Object
	for name, value := range parts {
		names, list = append(names, name), append(list, value)
	}
	if isObject {
		for _, m := range rawjson.Members(v) {
			were = append(were, m.Value)
		}
	} else {
		were = slices.Collect(rawjson.Elements(v))
	}
	if slices.EqualFunc(list, were, func(a, b json.RawMessage) bool { return sameBytes(a, b) }) {
		return v
	}
	var b rawjson.Builder
	if isObject {
		b.Object()
	} else {
		b.Array()
	}
	for i, value := range list {
		switch {
		case value == nil:
		case isObject:
			b.Name(names[i]).Raw(value)
		default:
			b.Raw(value)
		}
	}
	return b.End().Bytes()
}

// members goes through an object whose members have forms, by their names; others
// stay.
func (c *checker) members(v json.RawMessage, path string, forms map[string]rule) json.RawMessage {
	return c.object(v, func(name string, value json.RawMessage) json.RawMessage {
		if is := forms[name]; is != nil {
			return c.value(value, path+"."+name, is)
		}
		return value
	})
}

// A rule says what a value has to be; "" for one that is.
type rule func(v json.RawMessage) (want string)

func mustBe(want string, ok func(json.RawMessage) bool) rule {
	return func(v json.RawMessage) string {
		if ok(v) {
			return ""
		}
		return want
	}
}

func ofKind(kind rawjson.Kind) rule {
	return mustBe(kindNames[kind], func(v json.RawMessage) bool { return rawjson.KindOf(v) == kind })
}

var (
	aString  = ofKind(rawjson.String)
	aBool    = ofKind(rawjson.Bool)
	anArray  = ofKind(rawjson.Array)
	aNumber  = mustBe("a number", func(v json.RawMessage) bool { return rawjson.KindOf(v) == rawjson.Number })
	aCount   = mustBe("a whole number, not negative", isCount)
	aFactor  = mustBe("a number above 0", isFactor)
	someText = mustBe("an array of different strings", areNames)
)

// keywords are those of JSON Schema whose value has a form of its own, draft
// 2020-12 and before.
var keywords = map[string]rule{
	"$comment": aString, "$id": aString, "$ref": aString, "$schema": aString, "$anchor": aString, "$dynamicRef": aString,
	"$dynamicAnchor": aString, "title": aString, "description": aString, "format": aString, "pattern": aString,
	"contentEncoding": aString, "contentMediaType": aString,
	"uniqueItems": aBool, "readOnly": aBool, "writeOnly": aBool, "deprecated": aBool,
	"enum": anArray, "examples": anArray, "required": someText,
	"maximum": aNumber, "minimum": aNumber, "exclusiveMaximum": aNumber, "exclusiveMinimum": aNumber, "multipleOf": aFactor,
	"maxLength": aCount, "minLength": aCount, "maxItems": aCount, "minItems": aCount, "maxProperties": aCount,
	"minProperties": aCount, "maxContains": aCount, "minContains": aCount,
}

// Keywords whose value is a schema, an array of schemas, or an object of them.
var (
	oneSchema = []string{"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
		"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
	schemaList = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	schemaMap  = []string{"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)

// The forms of what stands in annotations, icons and arguments of prompts.
var (
	toolHints = map[string]rule{
		"title": aString, "readOnlyHint": aBool, "destructiveHint": aBool, "idempotentHint": aBool, "openWorldHint": aBool,
	}
	annotationForms = map[string]rule{
		"audience": mustBe(`an array of "user" and "assistant"`, isAudience),
		"priority": mustBe("a number from 0 to 1", isPriority), "lastModified": mustBe("a time like 2025-01-12T15:00:58Z", isTime),
	}
	iconForms = map[string]rule{
		"mimeType": aString, "sizes": mustBe("an array of strings", rawjson.IsStrings), "theme": mustBe(`"light" or "dark"`, isTheme),
	}
	argumentForms = map[string]rule{"title": aString, "description": aString, "required": aBool}
)

func isAudience(v json.RawMessage) bool {
	list, ok := rawjson.Strings(v)
	return ok && !slices.ContainsFunc(list, func(who string) bool { return who != "user" && who != "assistant" })
}

func isPriority(v json.RawMessage) bool {
	var n float64
	return rawjson.KindOf(v) == rawjson.Number && json.Unmarshal(v, &n) == nil && n >= 0 && n <= 1
}

func isTime(v json.RawMessage) bool {
	text, _ := rawjson.Text(v)
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

func isTheme(v json.RawMessage) bool { return string(v) == `"light"` || string(v) == `"dark"` }

// ToolAnnotations returns the annotations of a tool.
func (f *Fields) ToolAnnotations() json.RawMessage { return f.annotationsOf(toolHints) }

// Annotations returns the annotations of an item that is content.
func (f *Fields) Annotations() json.RawMessage { return f.annotationsOf(annotationForms) }

func (f *Fields) annotationsOf(forms map[string]rule) json.RawMessage {
	v := f.OfKind("annotations", rawjson.Object)
	return f.checked("annotations", v, func(c *checker) json.RawMessage { return c.members(v, "annotations", forms) })
}

// OutputSchema returns the schema of what a tool returns; nil when none is given.
func (f *Fields) OutputSchema() json.RawMessage {
	v := f.OfKind("outputSchema", rawjson.Object)
	return f.checked("outputSchema", v, func(c *checker) json.RawMessage { return c.offered(v, "outputSchema") })
}

// Arguments returns the arguments of a prompt, any where none are given.
func (f *Fields) Arguments() json.RawMessage {
	v := f.Pick("arguments", "a schema or an array of arguments", isArguments)
	if v = f.checked("arguments", v, func(c *checker) json.RawMessage { return c.arguments(v) }); v == nil {
		return anyObject
	}
	return v
}

// isArguments: a schema, or a list as clients are sent.
func isArguments(v json.RawMessage) bool {
	kind := rawjson.KindOf(v)
	return kind == rawjson.Object || kind == rawjson.Array
}

// icons goes through an array of icons; what is no object says R-101.
func (c *checker) icons(v json.RawMessage) json.RawMessage {
	return c.array(v, func(i int, icon json.RawMessage) json.RawMessage {
		return c.members(icon, fmt.Sprintf("icons[%d]", i), iconForms)
	})
}

// arguments goes through the arguments of a prompt, as a list or as a schema.
func (c *checker) arguments(v json.RawMessage) json.RawMessage {
	if rawjson.KindOf(v) == rawjson.Object {
		return c.schema(v, "arguments")
	}
	return c.array(v, func(i int, argument json.RawMessage) json.RawMessage {
		path := fmt.Sprintf("arguments[%d]", i)
		if rawjson.KindOf(argument) != rawjson.Object || rawjson.TextOf(argument, "name") == "" {
			c.fault(argument, path, "must be an object with a name")
			return nil
		}
		return c.members(argument, path, argumentForms)
	})
}

// offered returns the schema of a tool in the form that lists allow: of an
// object, and with objects for properties. true and false say as much as {} and
// {"not":{}}.
func (c *checker) offered(v json.RawMessage, path string) json.RawMessage {
	return c.object(c.schema(v, path), func(name string, value json.RawMessage) json.RawMessage {
		if name != "properties" {
			return value
		}
		return c.object(value, func(_ string, property json.RawMessage) json.RawMessage {
			switch string(property) {
			case "true":
				return json.RawMessage("{}")
			case "false":
				return json.RawMessage(`{"not":{}}`)
			}
			return property
		})
	})
}

// CheckKeys warns about keys that look like mistyped ones of an item's: others are
// somebody else's.
func (s *Input) CheckKeys(known []string) {
	for i := range s.Sources {
		source := &s.Sources[i]
		for _, m := range source.members {
			name, _ := rawjson.Text(m.name)
			if near := cli.Nearest(name, known); near != "" && !slices.Contains(known, name) && s.Reject == nil {
				s.Log(mcp.Warning, fmt.Sprintf("%s: unknown key %q; did you mean %s?", source.At(m.name), name, near))
			}
		}
	}
}

var schemaTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

// schema returns a schema that clients can compile; nil for what is none.
func (c *checker) schema(v json.RawMessage, path string) json.RawMessage {
	switch rawjson.KindOf(v) {
	case rawjson.Bool:
		return v
	case rawjson.Object:
		return c.object(v, func(name string, value json.RawMessage) json.RawMessage {
			return c.keyword(name, value, path+"."+name)
		})
	}
	c.fault(v, path, "not a schema, which is an object")
	return nil
}

func (c *checker) keyword(name string, v json.RawMessage, path string) json.RawMessage {
	switch want := keywords[name]; {
	case want != nil:
		return c.value(v, path, want)
	case name == "type":
		return c.typeOf(v, path)
	case name == "items" && rawjson.KindOf(v) == rawjson.Array, slices.Contains(schemaList, name):
		if list := c.value(v, path, anArray); list == nil {
			return nil
		}
		sound := c.array(v, func(i int, value json.RawMessage) json.RawMessage {
			return c.schema(value, fmt.Sprintf("%s[%d]", path, i))
		})
		if name != "items" && isEmptyList(sound) {
			if isEmptyList(v) {
				c.fault(v, path, "must not be empty")
			}
			return nil
		}
		return sound
	case slices.Contains(oneSchema, name):
		return c.schema(v, path)
	case slices.Contains(schemaMap, name):
		if c.value(v, path, ofKind(rawjson.Object)) == nil {
			return nil
		}
		return c.object(v, func(name string, value json.RawMessage) json.RawMessage { return c.schema(value, path+"."+name) })
	case name == "dependentRequired":
		if c.value(v, path, ofKind(rawjson.Object)) == nil {
			return nil
		}
		return c.object(v, func(name string, value json.RawMessage) json.RawMessage {
			return c.value(value, path+"."+name, someText)
		})
	}
	return v
}

// value returns a value of a form, nil for another one.
func (c *checker) value(v json.RawMessage, path string, is rule) json.RawMessage {
	if want := is(v); want != "" {
		c.fault(v, path, "must be "+want)
		return nil
	}
	return v
}

func (c *checker) typeOf(v json.RawMessage, path string) json.RawMessage {
	names, ok := rawjson.Strings(v)
	if text, isText := rawjson.Text(v); isText {
		names, ok = []string{text}, true
	}
	if !ok || len(names) == 0 || !areNames(v) && len(names) > 1 {
		c.fault(v, path, "must be the name of a type, or an array of different ones")
		return nil
	}
	for _, name := range names {
		if !slices.Contains(schemaTypes, name) {
			c.fault(v, path, fmt.Sprintf("%q is no type%s", name, cli.DidYouMean(name, schemaTypes)))
			return nil
		}
	}
	return v
}

func isEmptyList(v json.RawMessage) bool {
	for range rawjson.Elements(v) {
		return false
	}
	return true
}

// areNames reports whether a value is an array of strings, none of them twice.
func areNames(v json.RawMessage) bool {
	if !rawjson.IsStrings(v) {
		return false
	}
	seen := make(map[string]bool)
	for e := range rawjson.Elements(v) {
		text, _ := rawjson.Text(e)
		if seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

// isCount reports whether a value is a number that stands for a whole one which
// is not negative: 3, 3.0.
func isCount(v json.RawMessage) bool {
	if rawjson.KindOf(v) != rawjson.Number {
		return false
	}
	if strings.ContainsAny(string(v), "eE") {
		return v[0] != '-'
	}
	whole, fraction, _ := strings.Cut(string(v), ".")
	return strings.Trim(whole, "0123456789") == "" && strings.Trim(fraction, "0") == ""
}

// isFactor reports whether a value is a number above 0.
func isFactor(v json.RawMessage) bool {
	return rawjson.KindOf(v) == rawjson.Number && v[0] != '-' && strings.ContainsAny(mantissa(v), "123456789")
}

func mantissa(v json.RawMessage) string {
	digits, _, _ := strings.Cut(strings.ToLower(string(v)), "e")
	return digits
}
