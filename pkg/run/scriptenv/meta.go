package scriptenv

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
)

// Keys are the settings that server.meta.json may contain.
func Keys() []string { return []string{Tools.Mode, Tools.List, Providers.Mode, Providers.List} }

// Meta is the object "env" of server.meta.json. Only Values contains values.
type Meta struct {
	Values  map[string]string // the valid settings
	Refused []string          // keys that are not permitted, in a form for messages
	Invalid []Invalid
}

// An Invalid is a setting that cannot be used.
type Invalid struct {
	Key    string // "env" for the whole object
	Reason string
}

// maxValue limits a value and maxShown a key in messages, in characters.
const (
	maxValue = 4096
	maxShown = 64
)

// ReadMeta reads the object "env" out of the text of server.meta.json.
func ReadMeta(text []byte) Meta {
	doc, fault := document(text)
	if fault != "" {
		return Meta{Invalid: []Invalid{{"env", fault}}}
	}
	object := rawjson.Get(doc, "env")
	switch rawjson.KindOf(object) {
	case rawjson.Invalid, rawjson.Null:
		return Meta{}
	case rawjson.Object:
	default:
		return Meta{Invalid: []Invalid{{"env", "env must be an object"}}}
	}
	m := Meta{Values: map[string]string{}}
	for _, setting := range rawjson.Members(object) {
		if !slices.Contains(Keys(), setting.Name) {
			m.Refused = append(m.Refused, shown(setting.Name))
			continue
		}
		value, ok := rawjson.Text(setting.Value)
		if reason := check(setting.Name, value, ok); reason != "" {
			m.Invalid = append(m.Invalid, Invalid{setting.Name, reason})
			continue
		}
		m.Values[setting.Name] = value
	}
	return m
}

// document returns the only JSON document of a text, or a fault.
func document(text []byte) (doc json.RawMessage, fault string) {
	count := 0
	for rest := text; ; count++ {
		var value json.RawMessage
		var err error
		switch value, rest, err = rawjson.Next(rest); {
		case err == io.EOF && count == 1:
			return doc, ""
		case err == io.EOF:
			return nil, "server.meta.json must contain exactly one JSON document"
		case err != nil:
			return nil, "server.meta.json is not valid JSON"
		}
		doc = value
	}
}

// check returns why a value is invalid, or "", in the order of E-9.
func check(key, value string, isText bool) string {
	isControl := func(r rune) bool { return r < ' ' || r == 0x7f }
	switch {
	case !isText:
		return "value must be a string"
	case utf8.RuneCountInString(value) > maxValue:
		return "value longer than 4096 characters"
	case strings.ContainsFunc(value, isControl):
		return "value contains control characters"
	}
	for _, scope := range []*Scope{&Tools, &Providers} {
		if key == scope.Mode && !slices.Contains(scope.modes, value) {
			return "mode must be one of: " + strings.Join(scope.modes, ", ")
		}
	}
	if key == Tools.Mode || key == Providers.Mode {
		return ""
	}
	names := split(value)
	if slices.ContainsFunc(names, func(name string) bool { return !isName(name) }) {
		return "names must match [A-Za-z_][A-Za-z0-9_]*, separated by commas"
	}
	if slices.ContainsFunc(names, func(name string) bool { return Matches(reserved, name) || Matches(own, name) }) {
		return "lists a reserved or shell-control variable name"
	}
	return ""
}

// shown returns a key for messages: at most 64 characters, with a question mark for each character
// that is invalid in variable names.
func shown(key string) string {
	var shown strings.Builder
	n := 0
	for _, r := range key {
		if n == maxShown {
			break
		}
		n++
		if isNoNameRune(r) {
			r = '?'
		}
		shown.WriteRune(r)
	}
	return shown.String()
}

// Complaints returns the lines for standard error about invalid settings.
func (m *Meta) Complaints() (lines []string) {
	const prefix = "mcp-bash: server.meta.json env: "
	for _, key := range m.Refused {
		lines = append(lines, prefix+"ignoring "+key+" (only "+strings.Join(Keys(), ", ")+
			" may be set there; set others in the launch environment)")
	}
	for _, setting := range m.Invalid {
		if setting.Key == "env" {
			lines = append(lines, prefix+setting.Reason)
		} else {
			lines = append(lines, prefix+"ignoring "+setting.Key+": "+setting.Reason)
		}
	}
	return lines
}
