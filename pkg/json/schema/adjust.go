package schema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"mcp-bash/pkg/json/rawjson"
)

// Models send arguments in forms that schemas do not accept. They send null or an empty text for an argument that they
// leave out, and other values as text. Adjust gives such values the form that the schema wants.

// An Adjustment is a value that Adjust has changed.
type Adjustment struct {
	Path string // JSON Pointer
	To   string // the type of the new value, or "absent"
}

// absent is the result of an adjustment that leaves a member out.
const absent = "absent"

// Adjust returns an object with members in the form that the schema wants, and its changes, at most [maxViolations].
// It changes no value that the schema accepts as it is, and none in a value that is too large to be checked. The
// result can still be invalid.
func (s *Schema) Adjust(value json.RawMessage) (json.RawMessage, []Adjustment) {
	if decodedSize(value, maxDecoded) > maxDecoded {
		return value, nil
	}
	// JSON in strings takes memory as well, when it is decoded.
	if len(value) > largeAdjusted {
		large.Lock()
		defer large.Unlock()
	}
	a := adjuster{explainer: explainer{root: s.root}}
	made, done, _ := a.adjust(s.root, value, "", 0)
	return made, done[:min(len(done), maxViolations)]
}

const (
	largeAdjusted = 64 << 10 // texts above this size, in bytes, are adjusted one at a time
	maxValues     = 100_000  // values to look at
	maxWork       = 64 << 20 // bytes to decode
)

// An adjuster walks a value and the parts of a schema that describe it.
type adjuster struct {
	explainer
	values, work int
}

// accepts reports whether a part of the schema accepts a value.
func (a *adjuster) accepts(s *jsonschema.Schema, value json.RawMessage) bool {
	if a.work += len(value); a.work > maxWork {
		return false
	}
	var v any
	if decodedSize(value, maxDecoded) > maxDecoded || json.Unmarshal(value, &v) != nil {
		return false
	}
	return a.matches(s, v, 0)
}

// adjust returns the value in the form that a part of the schema wants, and whether the schema accepts it then.
func (a *adjuster) adjust(s *jsonschema.Schema, value json.RawMessage, path string, depth int) (json.RawMessage,
	[]Adjustment, bool) {
	if a.values++; a.values > maxValues || a.work > maxWork || depth > maxExplainDepth {
		return value, nil, false
	}
	if a.accepts(s, value) {
		return value, nil, true
	}
	kind := rawjson.KindOf(value)
	if kind == rawjson.String {
		return a.adjustText(s, value, path, depth)
	}
	if kind == rawjson.Number {
		if text := rawjson.Quote(string(value)); a.accepts(s, text) {
			return text, []Adjustment{{path, rawjson.String.String()}}, true
		}
	}
	best, changes := value, []Adjustment(nil)
	for i, parts := range a.forms(s) {
		made, done := value, []Adjustment(nil)
		switch kind {
		case rawjson.Object:
			made, done = a.adjustObject(parts, value, path, depth)
		case rawjson.Array:
			made, done = a.adjustArray(parts, value, path, depth)
		}
		if done != nil && a.accepts(s, made) {
			return made, done, true
		}
		if i == 0 {
			best, changes = made, done
		}
	}
	return best, changes, false
}

// adjustText reads a text that is exactly one value of another type.
func (a *adjuster) adjustText(s *jsonschema.Schema, value json.RawMessage, path string, depth int) (json.RawMessage,
	[]Adjustment, bool) {
	text, _ := rawjson.Text(value)
	inner, err := rawjson.Check([]byte(text))
	kind := rawjson.KindOf(inner)
	if err != nil || len(inner) != len(text) || kind == rawjson.String || decodedSize(inner, maxDecoded) > maxDecoded {
		return value, nil, false
	}
	made, done, ok := a.adjust(s, inner, path, depth+1)
	if !ok {
		return value, nil, false
	}
	return made, append([]Adjustment{{path, kind.String()}}, done...), true
}

// maxParts limits the parts of a schema that describe a value together.
const maxParts = 64

// forms returns the parts of a schema that describe a value: first those that always do, then these with each
// alternative of anyOf and oneOf.
func (a *adjuster) forms(s *jsonschema.Schema) [][]*jsonschema.Schema {
	always := a.parts(nil, s)
	all := [][]*jsonschema.Schema{always}
	for _, part := range always {
		for _, alternative := range slices.Concat(part.AnyOf, part.OneOf) {
			if len(all) < maxParts {
				all = append(all, a.parts(slices.Clone(always), alternative))
			}
		}
	}
	return all
}

// parts appends a schema, and the schemas that it refers to or includes.
func (a *adjuster) parts(list []*jsonschema.Schema, s *jsonschema.Schema) []*jsonschema.Schema {
	if s == nil || len(list) == maxParts || slices.Contains(list, s) {
		return list
	}
	list = append(list, s)
	if s.Ref != "" {
		list = a.parts(list, a.lookup(s.Ref))
	}
	for _, sub := range s.AllOf {
		list = a.parts(list, sub)
	}
	return list
}

func (a *adjuster) adjustObject(parts []*jsonschema.Schema, value json.RawMessage, path string,
	depth int) (json.RawMessage, []Adjustment) {
	var changes []Adjustment
	var b rawjson.Builder
	b.Object()
	for _, m := range rawjson.Members(value) {
		at := path + "/" + rawjson.ToPointer.Replace(m.Name)
		v, known, accepted := m.Value, false, true
		for _, part := range parts {
			for _, sub := range memberSchemas(part, m.Name) {
				if isFalse(sub) && sub == part.AdditionalProperties { // the part forbids the member
					continue
				}
				known = true
				var done []Adjustment
				var ok bool
				v, done, ok = a.adjust(sub, v, at, depth+1)
				changes, accepted = append(changes, done...), accepted && ok
			}
		}
		isRequired := slices.ContainsFunc(parts, func(s *jsonschema.Schema) bool {
			return slices.Contains(s.Required, m.Name)
		})
		if known && !accepted && !isRequired && (string(m.Value) == "null" || string(m.Value) == `""`) {
			changes = append(changes, Adjustment{at, absent})
			continue
		}
		b.Name(m.Name).Raw(v)
	}
	return b.End().Bytes(), changes
}

// memberSchemas returns the schemas that a part has for a member.
func memberSchemas(s *jsonschema.Schema, name string) (list []*jsonschema.Schema) {
	if sub := s.Properties[name]; sub != nil {
		list = append(list, sub)
	}
	for pattern, sub := range s.PatternProperties {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(name) {
			list = append(list, sub)
		}
	}
	if list == nil && s.AdditionalProperties != nil {
		list = append(list, s.AdditionalProperties)
	}
	return list
}

func (a *adjuster) adjustArray(parts []*jsonschema.Schema, value json.RawMessage, path string,
	depth int) (json.RawMessage, []Adjustment) {
	var changes []Adjustment
	var b rawjson.Builder
	b.Array()
	i := 0
	for v := range rawjson.Elements(value) {
		for _, part := range parts {
			if sub := itemSchema(part, i); sub != nil {
				var done []Adjustment
				v, done, _ = a.adjust(sub, v, path+"/"+strconv.Itoa(i), depth+1)
				changes = append(changes, done...)
			}
		}
		b.Raw(v)
		i++
	}
	return b.End().Bytes(), changes
}

// itemSchema returns the schema of an item of an array, or nil.
func itemSchema(s *jsonschema.Schema, i int) *jsonschema.Schema {
	first, rest := s.PrefixItems, s.Items
	if s.ItemsArray != nil {
		first, rest = s.ItemsArray, s.AdditionalItems
	}
	if i < len(first) {
		return first[i]
	}
	return rest
}
