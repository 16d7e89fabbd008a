// Package paramheader finds the arguments of a tool that a client repeats in HTTP headers. The tool's inputSchema marks
// them with x-mcp-header.
package paramheader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// Annotation is the member of a property's schema that names the header.
const Annotation = "x-mcp-header"

// A Param is an argument that is repeated in a header.
type Param struct {
	Name string   // the value of the annotation
	Path []string // the names of the members that lead to the argument
	Type string   // string, integer or boolean
}

// Header returns the name of the header.
func (p *Param) Header() string { return "Mcp-Param-" + p.Name }

// Value returns the argument. It is nil if it is absent or null, so that there is no header.
func (p *Param) Value(arguments json.RawMessage) json.RawMessage {
	v := rawjson.Path(arguments, p.Path...)
	if rawjson.Absent(v) {
		return nil
	}
	return v
}

// A Fault is an invalid annotation. Clients reject a tool that has one.
type Fault struct {
	Piece  json.RawMessage // the annotation's value or its property, part of the schema's text
	Reason string
}

// Parse returns the annotated arguments of an inputSchema, or the faults of its annotations. A schema
// with a fault has no annotated arguments.
func Parse(inputSchema json.RawMessage) ([]Param, []Fault) {
	if !bytes.Contains(inputSchema, []byte(Annotation)) && !bytes.Contains(inputSchema, []byte(`\u`)) {
		return nil, nil
	}
	f := &finder{byName: map[string]string{}}
	f.schema(inputSchema, nil, true)
	if len(f.faults) > 0 {
		return nil, f.faults
	}
	return f.params, nil
}

type finder struct {
	params []Param
	faults []Fault
	byName map[string]string // the first name for each name in lower case
}

// Keywords whose value is data, which can contain anything.
var data = []string{"const", "default", "enum", "examples", "required", "dependentRequired"}

// Keywords whose value is an object of schemas by name.
var schemaMaps = []string{"$defs", "definitions", "dependentSchemas", "dependencies", "patternProperties", "properties"}

// schema looks for annotations in v, a schema or an array of schemas. path has the names of members from the root. If
// reachable is true, all of them are properties, so path is also the path of the argument.
func (f *finder) schema(v json.RawMessage, path []string, reachable bool) {
	switch rawjson.KindOf(v) {
	case rawjson.Array:
		for e := range rawjson.Elements(v) {
			f.schema(e, path, false)
		}
		return
	case rawjson.Object:
	default:
		return
	}
	for name, value := range rawjson.All(v) {
		switch {
		case name == Annotation:
			f.annotation(v, value, path, reachable && len(path) > 0)
		case slices.Contains(data, name):
		case slices.Contains(schemaMaps, name):
			for member, schema := range rawjson.All(value) {
				f.schema(schema, append(path[:len(path):len(path)], member), reachable && name == "properties")
			}
		default:
			f.schema(value, path, false)
		}
	}
}

// annotation takes an annotation of a property's schema, or reports why it is invalid.
func (f *finder) annotation(schema, value json.RawMessage, path []string, reachable bool) {
	fault := func(format string, args ...any) {
		f.faults = append(f.faults, Fault{value, fmt.Sprintf(format, args...)})
	}
	name, isText := rawjson.Text(value)
	switch first, taken := f.byName[strings.ToLower(name)]; {
	case !isText:
		fault("must be a string")
		return
	case name == "":
		fault("must not be empty")
	case !isToken(name):
		fault("%q is not part of a header's name: only letters, digits and !#$%%&'*+-.^_`|~ are allowed", name)
	case taken:
		fault("%q is used twice; headers' names ignore case, so %q is the same", name, first)
	default:
		f.byName[strings.ToLower(name)] = name
	}
	if !reachable {
		fault("must be in a property, on a way of nothing but \"properties\" from the root of the schema")
	}
	kind := rawjson.TextOf(schema, "type")
	if !slices.Contains([]string{"string", "integer", "boolean"}, kind) {
		fault(`needs a property of "type": "string", "integer" or "boolean"`)
	}
	if kind == "integer" {
		for _, v := range outOfRange(schema) {
			fault("%s is not an integer from -(2^53-1) to 2^53-1, which every client can send", v)
		}
	}
	f.params = append(f.params, Param{Name: name, Path: path, Type: kind})
}

// outOfRange returns the values of a schema of integers that some clients would round.
func outOfRange(schema json.RawMessage) (found []json.RawMessage) {
	list := []json.RawMessage{rawjson.Get(schema, "const"), rawjson.Get(schema, "default")}
	list = slices.AppendSeq(list, rawjson.Elements(rawjson.Get(schema, "enum")))
	for _, v := range list {
		if _, ok := Integer(string(v)); rawjson.KindOf(v) == rawjson.Number && !ok {
			found = append(found, v)
		}
	}
	return found
}

func isToken(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// maxSafe is the largest integer that a client can send, and -maxSafe the smallest one.
const maxSafe = 1<<53 - 1

// Integer returns the value of a JSON number. It returns false for other texts, for fractions, and for numbers outside
// of the range that each client can send.
func Integer(text string) (int64, bool) {
	const longest, largestExponent = 64, 99
	v, err := rawjson.Check([]byte(text))
	if err != nil || rawjson.KindOf(v) != rawjson.Number || len(v) != len(text) || len(text) > longest {
		return 0, false
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		if n, err := strconv.Atoi(text[at+1:]); err != nil || n > largestExponent || n < -largestExponent {
			return 0, false
		}
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok || !n.IsInt() || !n.Num().IsInt64() {
		return 0, false
	}
	i := n.Num().Int64()
	return i, i >= -maxSafe && i <= maxSafe
}
