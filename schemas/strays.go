package schemas

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/json/rawjson"
)

// A Stray is a member of a document that nothing reads.
type Stray struct {
	rawjson.Member
	In    json.RawMessage // the object with the member
	Known []string        // the members that the object can have
	Depth int             // of the object in the document, from 0
}

// Strays returns the members that a schema does not describe, in all objects of a document that it closes. An object
// is closed if its schema has properties and no additionalProperties: the schema check reports the others. Names that
// begin with "$" or "_" belong to other programs.
func Strays(name string, doc json.RawMessage) []Stray {
	root, ok := raw.Load(name)
	if !ok {
		var node map[string]any
		if err := json.Unmarshal(bundle(name), &node); err != nil {
			panic(err) // bundle has made it
		}
		root, _ = raw.LoadOrStore(name, node)
	}
	node := root.(map[string]any)
	w := &strays{defs: node["$defs"].(map[string]any)}
	w.value(node, doc, 0)
	return w.list
}

var raw sync.Map // from names to the parsed results of bundle

type strays struct {
	defs map[string]any
	list []Stray
}

// value compares a value with the schema of its place.
func (w *strays) value(schema any, v json.RawMessage, depth int) {
	node := w.alternative(schema, v)
	if node == nil {
		return // a deep value costs nothing
	}
	switch rawjson.KindOf(v) {
	case rawjson.Array:
		for element := range rawjson.Elements(v) {
			w.value(node["items"], element, depth+1)
		}
	case rawjson.Object:
		known, closed := node["properties"].(map[string]any)
		others, open := node["additionalProperties"]
		for _, m := range rawjson.Members(v) {
			described, ok := known[m.Name]
			switch {
			case ok:
				w.value(described, m.Value, depth+1)
			case open:
				w.value(others, m.Value, depth+1)
			case closed && !strings.HasPrefix(m.Name, "$") && !strings.HasPrefix(m.Name, "_"):
				w.list = append(w.list, Stray{m, v, names(known), depth})
			}
		}
	}
}

// alternative returns the schema of a value without references, and of several schemas the one for its type. It
// returns nil for a schema that is a boolean or missing.
func (w *strays) alternative(schema any, v json.RawMessage) map[string]any {
	node, _ := schema.(map[string]any)
	if ref, ok := node["$ref"].(string); ok {
		node, _ = w.defs[path.Base(ref)].(map[string]any)
	}
	list, _ := node["anyOf"].([]any)
	for _, one := range list {
		if one := w.alternative(one, v); isFor(one, v) {
			return one
		}
	}
	return node
}

func isFor(node map[string]any, v json.RawMessage) bool {
	return node["type"] == "object" && rawjson.KindOf(v) == rawjson.Object ||
		node["type"] == "array" && rawjson.KindOf(v) == rawjson.Array
}

func names(known map[string]any) (list []string) {
	for name := range known {
		if !strings.HasPrefix(name, "$") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
