// Package schema checks JSON values against JSON Schema (T-11, T-215).
// A library decides whether a value is valid; this package finds out where it
// is not, in words that a model can act on.
package schema

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Schema is ready to check values. It may be used from any goroutine.
type Schema struct {
	root     *jsonschema.Schema
	resolved *jsonschema.Resolved
}

// A Violation is one thing that is wrong with a value.
type Violation struct {
	Path    string // JSON Pointer to the value; of what is missing, where it should be
	Message string
}

func (v Violation) String() string {
	if v.Path == "" {
		return v.Message
	}
	return v.Path + ": " + v.Message
}

// maxViolations is how many are reported at most.
const maxViolations = 20

const draft07 = "http://json-schema.org/draft-07/schema#"

// Compile reads a schema: the keywords of draft 2020-12, or of draft-07 where
// it says so or is written so. References are followed inside the schema only;
// format and unknown keywords mean nothing. The error may be a [*FormError].
func Compile(text json.RawMessage) (*Schema, error) {
	root := new(jsonschema.Schema)
	if err := json.Unmarshal(text, root); err != nil {
		return nil, formError(text, "", err)
	}
	root.Schema = draftOf(root)
	resolved, err := root.Resolve(nil)
	if err != nil {
		return nil, resolveError(err)
	}
	return &Schema{root, resolved}, nil
}

// draftOf names the draft to read a schema by. Schemas that name none but use
// the spellings 2020-12 dropped mean draft-07.
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

// Check returns what is wrong with a value, at most [maxViolations]; nil when
// it is valid. A value that would need too much memory is not (T-11).
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

// A Cache compiles each schema once. The zero value is ready; it may be used
// from any goroutine.
type Cache struct {
	mu   sync.Mutex
	made map[string]compiled
}

type compiled struct {
	schema *Schema
	err    error
}

// maxCached bounds the cache; a project with more schemas than this that are
// called is compiled anew now and then.
const maxCached = 1000

// Get returns the compiled schema of a text. first reports that it was
// compiled just now, which is the time to complain about an error.
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
