package tomledit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// table writes an object as a table. Each object in it becomes a separate table.
func (f *File) table(path []string, value json.RawMessage) []byte {
	br := f.lineBreak()
	out := slices.Concat([]byte("["), key(path), []byte("]"), br)
	var tables [][]byte
	for _, m := range rawjson.Members(value) {
		if rawjson.KindOf(m.Value) == rawjson.Object {
			tables = append(tables, f.table(slices.Concat(path, []string{m.Name}), m.Value))
			continue
		}
		out = slices.Concat(out, key([]string{m.Name}), []byte(" = "), literal(m.Value), br)
	}
	return bytes.Join(append([][]byte{out}, tables...), br)
}

const bareLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// key writes a key. A part is quoted if necessary.
func key(path []string) []byte {
	var parts []string
	for _, name := range path {
		if name == "" || strings.Trim(name, bareLetters) != "" {
			name = string(rawjson.Quote(name))
		}
		parts = append(parts, name)
	}
	return []byte(strings.Join(parts, "."))
}

// literal writes a value on one line. Strings of JSON are valid in TOML.
func literal(value json.RawMessage) []byte {
	var parts [][]byte
	switch rawjson.KindOf(value) {
	case rawjson.Array:
		for v := range rawjson.Elements(value) {
			parts = append(parts, literal(v))
		}
		return slices.Concat([]byte("["), bytes.Join(parts, []byte(", ")), []byte("]"))
	case rawjson.Object:
		for _, m := range rawjson.Members(value) {
			parts = append(parts, slices.Concat(key([]string{m.Name}), []byte(" = "), literal(m.Value)))
		}
		return slices.Concat([]byte("{"), bytes.Join(parts, []byte(", ")), []byte("}"))
	case rawjson.String:
		text, _ := rawjson.Text(value)
		return rawjson.Quote(text)
	}
	return value
}
