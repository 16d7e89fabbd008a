// Package schema checks JSON values against JSON Schema. A library decides whether a value is valid. This package
// describes what is wrong with an invalid value and where, in terms that a model can act on.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"mcp-bash/pkg/json/rawjson"
)

// A Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	root     *jsonschema.Schema
	resolved *jsonschema.Resolved
}

// A Violation is one fault of a value.
type Violation struct {
	Path    string // JSON Pointer to the value, or to the place of a missing value
	Message string
}

func (v Violation) String() string {
	if v.Path == "" {
		return v.Message
	}
	return v.Path + ": " + v.Message
}

const maxViolations = 20

const draft07 = "http://json-schema.org/draft-07/schema#"

// Compile compiles a schema with the keywords of draft 2020-12. It uses draft-07 if the
// schema names that draft or uses its syntax. It follows references only within the schema,
// and ignores format and unknown keywords. The error can be a [*FormError].
func Compile(text json.RawMessage) (*Schema, error) {
	root := new(jsonschema.Schema)
	if err := json.Unmarshal(text, root); err != nil {
		return nil, formError(text, "", err)
	}
	root.Schema = draftOf(root)
	resolved, err := root.Resolve(nil)
	if err != nil {
		// without the type names of the library
		text := strings.NewReplacer("jsonschema.Schema: ", "", "<anonymous schema>: ", "").Replace(err.Error())
		return nil, errors.New(text)
	}
	if err := checkCircular(text); err != nil {
		return nil, err
	}
	return &Schema{root, resolved}, nil
}

// draftOf returns the draft of a schema. A schema without a draft that uses keywords that
// 2020-12 has dropped is draft-07.
func draftOf(s *jsonschema.Schema) string {
	if strings.Contains(s.Schema, "draft-07") || strings.Contains(s.Schema, "draft-06") {
		return draft07
	}
	if s.Schema == "" && usesDraft07(s, 0) {
		return draft07
	}
	return ""
}

func usesDraft07(s *jsonschema.Schema, depth int) bool {
	if s == nil || depth > 8 {
		return false
	}
	if s.ItemsArray != nil || s.DependencySchemas != nil || s.DependencyStrings != nil {
		return true
	}
	for _, group := range []map[string]*jsonschema.Schema{s.Properties, s.Definitions, s.Defs} {
		for _, sub := range group {
			if usesDraft07(sub, depth+1) {
				return true
			}
		}
	}
	return usesDraft07(s.Items, depth+1)
}

// Check returns the violations of a value, at most [maxViolations], or nil if it is valid. A value that would need too
// much memory is invalid.
func (s *Schema) Check(value json.RawMessage) []Violation {
	switch size := decodedSize(value, maxDecoded); {
	case size > maxDecoded:
		return []Violation{{"", "holds too many values to be checked"}}
	case size > largeDecoded:
		large.Lock()
		defer large.Unlock()
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return []Violation{{"", "is not valid JSON"}}
	}
	if s.resolved.Validate(v) == nil {
		return nil
	}
	e := explainer{root: s.root}
	e.explain(s.root, v, "", 0)
	if len(e.found) == 0 {
		e.add("", "does not match the schema")
	}
	return e.found
}

// A Cache compiles each schema once. The zero value is ready to use. It is safe for
// concurrent use.
type Cache struct {
	mu   sync.Mutex
	made map[string]compiled
}

type compiled struct {
	schema *Schema
	err    error
}

// maxCached limits the cache. If the tools of a project use more schemas, some are compiled
// again.
const maxCached = 1000

// Get returns the compiled schema of a text. first reports that it was compiled by this
// call, so an error has not been reported before.
func (c *Cache) Get(text json.RawMessage) (s *Schema, first bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.made[string(text)]; ok {
		return m.schema, false, m.err
	}
	s, err = Compile(text)
	if c.made == nil || len(c.made) >= maxCached {
		c.made = make(map[string]compiled)
	}
	c.made[string(text)] = compiled{s, err}
	return s, true, err
}

// A decoded value takes many times the memory of its text: a few bytes become a map.
const (
	maxDecoded   = 128 << 20 // approximate bytes; larger values are not checked
	largeDecoded = 1 << 20   // values above this size are checked one at a time
)

// large is locked while a large value is decoded and checked.
var large sync.Mutex

// The approximate memory of decoded values, in bytes. A string also takes the length of its
// text.
const (
	costValue  = 32  // an interface, with its share of the container's growth
	costString = 16  //
	costArray  = 48  // a slice and its header
	costObject = 336 // a map with room for eight members
	costMember = 64  // in a map that has grown
)

// decodedSize returns approximately how many bytes a valid value takes when it is decoded.
// It stops when the size exceeds limit.
func decodedSize(v json.RawMessage, limit int) int {
	size := 0
	for i := 0; i < len(v) && size <= limit; {
		switch v[i] {
		case '"':
			end := rawjson.StringEnd(v, i)
			size += costValue + costString + end - i
			i = end
			continue
		case '{':
			size += costValue + costObject
		case '[':
			size += costValue + costArray
		case ':':
			size += costMember
		case ',', ' ', '\t', '\n', '\r', '}', ']':
		default: // a number or a word
			size += costValue
			for i < len(v) && !rawjson.IsDelimiter(v[i]) {
				i++
			}
			continue
		}
		i++
	}
	return size
}

// A schema that applies itself to the same value, such as {"$ref":"#"}, would be checked without end. The stack would
// overflow, which ends the process. A reference for a part of the value is fine, because each value has an end.

// appliedHere are keywords whose schemas apply to the value itself, not to a part of it.
var appliedHere = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// data are keywords whose values are not schemas.
var data = []string{"enum", "const", "default", "examples"}

// A document has the objects and lists of a schema by their JSON Pointer, such as "#/$defs/a".
type document struct {
	at    map[string]json.RawMessage
	named map[string][]string // the pointers of anchors and ids
	state map[string]int      // of the search: 1 for open, 2 for done
}

// checkCircular returns an error if a schema applies itself to the same value.
func checkCircular(text json.RawMessage) error {
	d := document{map[string]json.RawMessage{}, map[string][]string{}, map[string]int{}}
	d.add("#", text)
	for at := range d.at {
		if circle := d.search(at); circle != "" {
			return fmt.Errorf("%s refers to itself", circle)
		}
	}
	return nil
}

func (d *document) add(at string, v json.RawMessage) {
	switch rawjson.KindOf(v) {
	case rawjson.Array:
		d.at[at] = v
		i := 0
		for e := range rawjson.Elements(v) {
			d.add(at+"/"+strconv.Itoa(i), e)
			i++
		}
	case rawjson.Object:
		d.at[at] = v
		for name, e := range rawjson.All(v) {
			text, _ := rawjson.Text(e)
			switch {
			case name == "$anchor", name == "$dynamicAnchor":
				d.named["#"+text] = append(d.named["#"+text], at)
			case name == "$id":
				id := strings.TrimSuffix(text, "#")
				d.named[id] = append(d.named[id], at)
			case !slices.Contains(data, name):
				d.add(at+"/"+rawjson.ToPointer.Replace(name), e)
			}
		}
	}
}

// search returns the pointer of a schema that leads to itself, or "".
func (d *document) search(at string) string {
	switch d.state[at] {
	case 1:
		return at
	case 2:
		return ""
	}
	d.state[at] = 1
	defer func() { d.state[at] = 2 }()
	for _, next := range d.next(at) {
		if circle := d.search(next); circle != "" {
			return circle
		}
	}
	return ""
}

// next returns the schemas that apply to the same value as a schema.
func (d *document) next(at string) (list []string) {
	for _, keyword := range appliedHere {
		below := at + "/" + keyword
		switch v := d.at[below]; rawjson.KindOf(v) {
		case rawjson.Array:
			for i := 0; d.at[below+"/"+strconv.Itoa(i)] != nil; i++ {
				list = append(list, below+"/"+strconv.Itoa(i))
			}
		case rawjson.Object:
			if !strings.HasPrefix(keyword, "depend") {
				list = append(list, below)
				continue
			}
			for name := range rawjson.All(v) {
				list = append(list, below+"/"+rawjson.ToPointer.Replace(name))
			}
		}
	}
	for _, keyword := range []string{"$ref", "$dynamicRef"} {
		ref := rawjson.TextOf(d.at[at], keyword)
		base, fragment, _ := strings.Cut(ref, "#")
		switch {
		case ref == "":
			continue
		case fragment == "" && base != "":
			list = append(list, d.named[base]...)
		case fragment != "" && fragment[0] != '/':
			list = append(list, d.named["#"+fragment]...)
		default:
			list = append(list, "#"+fragment)
		}
	}
	return slices.DeleteFunc(list, func(at string) bool { return d.at[at] == nil })
}

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
