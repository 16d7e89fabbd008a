package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"mcp-bash/pkg/json/rawjson"
)

// An explainer walks an invalid value and describes what is wrong and where. It supports the
// common keywords. For the others, it only reports that the value does not match.
type explainer struct {
	root  *jsonschema.Schema
	found []Violation
	steps int // schemas that were applied
}

const (
	maxExplainDepth = 64        // stops references
	maxExplainSteps = 1_000_000 // stops alternatives of alternatives
)

func (e *explainer) add(path, format string, args ...any) {
	v := Violation{path, fmt.Sprintf(format, args...)}
	if len(e.found) < maxViolations && !slices.Contains(e.found, v) {
		e.found = append(e.found, v)
	}
}

func (e *explainer) explain(s *jsonschema.Schema, v any, path string, depth int) {
	e.steps++
	if s == nil || depth > maxExplainDepth || e.steps > maxExplainSteps || len(e.found) >= maxViolations {
		return
	}
	if s.Ref != "" {
		e.explain(e.lookup(s.Ref), v, path, depth+1)
	}
	for _, sub := range s.AllOf {
		e.explain(sub, v, path, depth+1)
	}
	if !e.checkType(s, v, path) {
		return
	}
	e.checkChoice(s, v, path)
	switch v := v.(type) {
	case string:
		e.checkString(s, v, path)
	case float64:
		e.checkNumber(s, v, path)
	case []any:
		e.checkArray(s, v, path, depth)
	case map[string]any:
		e.checkObject(s, v, path, depth)
	}
	e.checkCombined(s, v, path, depth)
}

// lookup returns the schema that a reference within the schema leads to, or nil.
func (e *explainer) lookup(ref string) *jsonschema.Schema {
	rest, ok := strings.CutPrefix(ref, "#")
	at := e.root
	for ok && at != nil && rest != "" {
		var keyword, name string
		keyword, rest, _ = strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		if keyword == "items" || keyword == "additionalProperties" {
			at = map[string]*jsonschema.Schema{"items": at.Items, "additionalProperties": at.AdditionalProperties}[keyword]
			continue
		}
		name, rest, _ = strings.Cut(rest, "/")
		at = map[string]map[string]*jsonschema.Schema{
			"$defs": at.Defs, "definitions": at.Definitions, "properties": at.Properties,
		}[keyword][rawjson.FromPointer.Replace(name)]
	}
	if !ok {
		return nil
	}
	return at
}

func (e *explainer) checkType(s *jsonschema.Schema, v any, path string) bool {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	if len(types) == 0 {
		return true
	}
	names := make([]string, len(types))
	for i, t := range types {
		if isType(t, v) {
			return true
		}
		names[i] = typeName(t)
	}
	e.add(path, "must be %s", strings.Join(names, " or "))
	return false
}

func isType(t string, v any) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case float64:
		return t == "number" || t == "integer" && v == math.Trunc(v)
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}

func typeName(t string) string {
	switch t {
	case "null":
		return "null"
	case "integer", "array", "object":
		return "an " + t
	}
	return "a " + t
}

func (e *explainer) checkChoice(s *jsonschema.Schema, v any, path string) {
	if s.Const != nil && !jsonschema.Equal(*s.Const, v) {
		e.add(path, "must be %s", text(*s.Const))
	}
	if s.Enum == nil || slices.ContainsFunc(s.Enum, func(w any) bool { return jsonschema.Equal(w, v) }) {
		return
	}
	choices := make([]string, len(s.Enum))
	for i, w := range s.Enum {
		choices[i] = text(w)
	}
	e.add(path, "must be one of %s", strings.Join(choices, ", "))
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(b)
}

func (e *explainer) checkString(s *jsonschema.Schema, v, path string) {
	e.checkSize(path, utf8.RuneCountInString(v), s.MinLength, s.MaxLength, "character")
	if s.Pattern != "" {
		if re, err := regexp.Compile(s.Pattern); err == nil && !re.MatchString(v) {
			e.add(path, "must match the pattern %s", s.Pattern)
		}
	}
}

func (e *explainer) checkNumber(s *jsonschema.Schema, v float64, path string) {
	if s.Minimum != nil && v < *s.Minimum {
		e.add(path, "must be >= %s", number(*s.Minimum))
	}
	if s.Maximum != nil && v > *s.Maximum {
		e.add(path, "must be <= %s", number(*s.Maximum))
	}
	if s.ExclusiveMinimum != nil && v <= *s.ExclusiveMinimum {
		e.add(path, "must be > %s", number(*s.ExclusiveMinimum))
	}
	if s.ExclusiveMaximum != nil && v >= *s.ExclusiveMaximum {
		e.add(path, "must be < %s", number(*s.ExclusiveMaximum))
	}
	if s.MultipleOf != nil && *s.MultipleOf != 0 && math.Mod(v, *s.MultipleOf) != 0 {
		e.add(path, "must be a multiple of %s", number(*s.MultipleOf))
	}
}

func (e *explainer) checkArray(s *jsonschema.Schema, v []any, path string, depth int) {
	e.checkSize(path, len(v), s.MinItems, s.MaxItems, "item")
	if s.UniqueItems {
		seen := make(map[string]bool, len(v))
		for _, item := range v {
			seen[text(item)] = true
		}
		if len(seen) < len(v) {
			e.add(path, "must not contain the same item twice")
		}
	}
	for i, item := range v {
		e.member(itemSchema(s, i), item, path+"/"+strconv.Itoa(i), depth)
	}
}

// member explains a part of a value. Its schema can be false, which forbids the part.
func (e *explainer) member(s *jsonschema.Schema, v any, path string, depth int) {
	if s != nil && isFalse(s) {
		e.add(path, "is not expected")
		return
	}
	e.explain(s, v, path, depth+1)
}

func (e *explainer) checkObject(s *jsonschema.Schema, v map[string]any, path string, depth int) {
	at := func(name string) string { return path + "/" + rawjson.ToPointer.Replace(name) }
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			e.add(at(name), "is required")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		for _, needed := range slices.Concat(s.DependentRequired[name], s.DependencyStrings[name]) {
			if _, ok := v[needed]; !ok {
				e.add(at(needed), "is required with %s", name)
			}
		}
		if sub := s.DependentSchemas[name]; sub != nil {
			e.explain(sub, v, path, depth+1)
		}
		if s.PropertyNames != nil && !e.matches(s.PropertyNames, name, depth) {
			e.add(at(name), "has a name that is not allowed")
		}
		for _, sub := range memberSchemas(s, name) {
			e.member(sub, v[name], at(name), depth)
		}
	}
	e.checkSize(path, len(v), s.MinProperties, s.MaxProperties, "member")
}

// checkCombined covers keywords that combine schemas. It does not know which alternative was
// intended, so it only reports that none matches.
func (e *explainer) checkCombined(s *jsonschema.Schema, v any, path string, depth int) {
	matching := func(list []*jsonschema.Schema) (n int) {
		for _, sub := range list {
			if e.matches(sub, v, depth) {
				n++
			}
		}
		return n
	}
	branch := s.Else
	if s.If != nil && e.matches(s.If, v, depth) {
		branch = s.Then
	}
	if s.AnyOf != nil && matching(s.AnyOf) == 0 || s.OneOf != nil && matching(s.OneOf) != 1 ||
		s.Not != nil && e.matches(s.Not, v, depth) || s.If != nil && branch != nil && !e.matches(branch, v, depth) {
		e.add(path, "does not match any of the forms allowed")
	}
}

// matches reports whether a value matches a part of the schema, as far as the explainer knows.
func (e *explainer) matches(s *jsonschema.Schema, v any, depth int) bool {
	if isFalse(s) {
		return false
	}
	part := explainer{root: e.root, steps: e.steps}
	part.explain(s, v, "", depth+1)
	e.steps = part.steps
	return len(part.found) == 0
}

// isFalse reports whether a schema is false, which the library reads as {"not":{}}.
func isFalse(s *jsonschema.Schema) bool {
	if s.Not == nil {
		return false // without the cost of the text
	}
	b, err := json.Marshal(s)
	return err == nil && (string(b) == "false" || string(b) == `{"not":{}}` || string(b) == `{"not":true}`)
}

// checkSize checks the number of parts that a value has.
func (e *explainer) checkSize(path string, n int, least, most *int, noun string) {
	add := func(how string, n int) {
		text := fmt.Sprintf("must have at %s %d %s", how, n, noun)
		if n != 1 {
			text += "s"
		}
		e.add(path, "%s", text)
	}
	if least != nil && n < *least {
		add("least", *least)
	}
	if most != nil && n > *most {
		add("most", *most)
	}
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
