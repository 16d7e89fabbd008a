// Package format writes JSON values as TOML and YAML for the files of clients. It contains no parser, so that programs
// that only print entries are small.
package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/yamltext"
	"mcp-bash/pkg/text/lazyregexp"
)

// An Editor changes values in the text of a file, and keeps the rest.
type Editor interface {
	Get(path ...string) (json.RawMessage, error)
	Set(value json.RawMessage, path ...string) error
	Remove(path ...string) error
	Bytes() []byte
}

// LineBreak returns the line break of a text.
func LineBreak(text []byte) string {
	if nl := bytes.IndexByte(text, '\n'); nl > 0 && text[nl-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Unusual returns the error for a text that an editor cannot edit.
func Unusual(path []string) error {
	return fmt.Errorf("%s has a layout that cannot be edited automatically; change it by hand", strings.Join(path, "."))
}

// Nested returns a value inside of one object for each name. The first name is the outermost object. If list is true, a
// list replaces this object, because the value contains its name.
func Nested(value json.RawMessage, names []string, list bool) json.RawMessage {
	if list && len(names) > 0 {
		var b rawjson.Builder
		return b.Array().Raw(rawjson.Nested(value, names[1:]...)).End().Bytes()
	}
	return rawjson.Nested(value, names...)
}

// Table writes an object as a table of TOML, with a line break br. Each object in it becomes a separate table.
func Table(path []string, value json.RawMessage, br string) string {
	out, tables := "["+Key(path...)+"]"+br, ""
	for _, m := range rawjson.Members(value) {
		if rawjson.KindOf(m.Value) == rawjson.Object {
			tables += br + Table(slices.Concat(path, []string{m.Name}), m.Value, br)
			continue
		}
		out += Key(m.Name) + " = " + Literal(m.Value) + br
	}
	return out + tables
}

const bareLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// Key writes a key of TOML. A part is quoted if necessary.
func Key(path ...string) string {
	var parts []string
	for _, name := range path {
		if name == "" || strings.Trim(name, bareLetters) != "" {
			name = string(rawjson.Quote(name))
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ".")
}

// Literal writes a value of TOML on one line. Strings of JSON are valid in TOML.
func Literal(value json.RawMessage) string {
	return inline(value, func(name string) string { return Key(name) + " = " }, func(v json.RawMessage) string {
		if text, ok := rawjson.Text(v); ok {
			v = rawjson.Quote(text)
		}
		return string(v)
	})
}

// inline writes a value on one line.
func inline(value json.RawMessage, begin func(name string) string, scalar func(json.RawMessage) string) string {
	var parts []string
	switch rawjson.KindOf(value) {
	case rawjson.Array:
		for v := range rawjson.Elements(value) {
			parts = append(parts, inline(v, begin, scalar))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case rawjson.Object:
		for _, m := range rawjson.Members(value) {
			parts = append(parts, begin(m.Name)+inline(m.Value, begin, scalar))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return scalar(value)
}

// Member writes a member of a mapping of YAML on separate lines, with a line break br.
func Member(name string, value json.RawMessage, indent int, br string) string {
	head := strings.Repeat(" ", indent) + Scalar(rawjson.Quote(name)) + ":"
	lines := ""
	for _, m := range rawjson.Members(value) {
		lines += Member(m.Name, m.Value, indent+2, br)
	}
	items := slices.Collect(rawjson.Elements(value))
	if len(items) > 0 && rawjson.KindOf(items[0]) == rawjson.Object {
		for _, v := range items {
			lines += Item(v, indent+2, br)
		}
	}
	if lines == "" {
		return head + " " + flow(value) + br
	}
	return head + br + lines
}

// Item writes an object as an item of a list of YAML.
func Item(value json.RawMessage, indent int, br string) string {
	var lines string
	for _, m := range rawjson.Members(value) {
		lines += Member(m.Name, m.Value, indent+2, br)
	}
	return strings.Repeat(" ", indent) + "- " + strings.TrimLeft(lines, " ")
}

// Flow writes an entry between the brackets of its parent in YAML, with its name unless the parent is a list.
func Flow(name string, value json.RawMessage, list bool) string {
	if list {
		return flow(value)
	}
	return yamltext.Quote(name) + ": " + flow(value)
}

func flow(value json.RawMessage) string {
	return inline(value, func(name string) string { return yamltext.Quote(name) + ": " }, Scalar)
}

// plain matches strings that need no quotes in YAML, unless they are words with a meaning.
var plain = lazyregexp.New(`^[A-Za-z/][A-Za-z0-9_./-]*$`)

// Scalar writes a string, number, true, false or null of YAML.
func Scalar(value json.RawMessage) string {
	text, ok := rawjson.Text(value)
	switch {
	case !ok:
		return string(value)
	case plain.MatchString(text) && !yamltext.IsWord(text):
		return text
	}
	return yamltext.Quote(text)
}
