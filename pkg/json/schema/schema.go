// Package schema checks JSON values against JSON Schema (T-11, T-215). A library decides
// whether a value is valid. This package describes what is wrong with an invalid value and
// where, in terms that a model can act on.
package schema

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
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

// Check returns the violations of a value, at most [maxViolations], or nil if it is valid. A
// value that would need too much memory is invalid (T-11).
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
