package yamledit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/lazyregexp"
)

// member writes a member of a mapping on separate lines.
func member(name string, value json.RawMessage, indent int, br string) string {
	head := strings.Repeat(" ", indent) + string(scalar(rawjson.Quote(name))) + ":"
	switch members := rawjson.Members(value); {
	case len(members) > 0:
		lines := head + br
		for _, m := range members {
			lines += member(m.Name, m.Value, indent+2, br)
		}
		return lines
	case rawjson.KindOf(value) == rawjson.Array:
		items := slices.Collect(rawjson.Elements(value))
		if len(items) == 0 || rawjson.KindOf(items[0]) != rawjson.Object {
			break
		}
		lines := head + br
		for _, v := range items {
			lines += item(v, indent+2, br)
		}
		return lines
	}
	return head + " " + inline(value) + br
}

// item writes an object as an item of a list.
func item(value json.RawMessage, indent int, br string) string {
	var lines string
	for _, m := range rawjson.Members(value) {
		lines += member(m.Name, m.Value, indent+2, br)
	}
	return strings.Repeat(" ", indent) + "- " + strings.TrimLeft(lines, " ")
}

// block writes an entry of a mapping or a list.
func block(name string, value json.RawMessage, indent int, list bool, br string) string {
	if list {
		return item(value, indent, br)
	}
	return member(name, value, indent, br)
}

// flow writes an entry between the brackets of its parent.
func flow(parent *yaml.Node, name string, value json.RawMessage) string {
	if parent.Kind == yaml.SequenceNode {
		return inline(value)
	}
	return string(quoted(name)) + ": " + inline(value)
}

func inline(value json.RawMessage) string {
	var parts []string
	switch rawjson.KindOf(value) {
	case rawjson.Array:
		for v := range rawjson.Elements(value) {
			parts = append(parts, inline(v))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case rawjson.Object:
		for _, m := range rawjson.Members(value) {
			parts = append(parts, string(quoted(m.Name))+": "+inline(m.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return string(scalar(value))
}

// plain and words determine which strings need no quotes.
var (
	plain = lazyregexp.New(`^[A-Za-z/][A-Za-z0-9_./-]*$`)
	words = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"} // in any case
)

// scalar writes a string, number, true, false or null.
func scalar(value json.RawMessage) []byte {
	text, ok := rawjson.Text(value)
	switch {
	case !ok:
		return value
	case plain.MatchString(text) && !slices.Contains(words, strings.ToLower(text)):
		return []byte(text)
	}
	return quoted(text)
}

// quoted writes a string in double quotes. It escapes characters that are line breaks in
// YAML but not in JSON.
func quoted(text string) []byte {
	var b strings.Builder
	for _, r := range string(rawjson.Quote(text)) {
		switch {
		case r >= 0x80 && r <= 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return []byte(b.String())
}
