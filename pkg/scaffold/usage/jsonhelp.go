package usage

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// maxNodes limits how many parts of a JSON help text are read.
const maxNodes = 20_000

// jsonHelp parses a help text that is JSON. Objects whose name begins with a dash, at any
// depth, are options. It reports whether the text is JSON.
func jsonHelp(text []byte, p *Program) bool {
	text = bytes.TrimSpace(text)
	var top any
	if len(text) == 0 || text[0] != '{' && text[0] != '[' || json.Unmarshal(text, &top) != nil {
		return false
	}
	nodes := 0
	var walk func(key string, of any)
	walk = func(key string, of any) {
		if nodes++; nodes > maxNodes {
			return
		}
		switch v := of.(type) {
		case []any:
			for _, one := range v {
				walk("", one)
			}
		case map[string]any:
			if p.jsonOption(key, v) {
				return
			}
			if nodes == 1 {
				p.Summary = sentence(textIn(v, "description", "summary", "help"))
			}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(name, v[name])
			}
		}
	}
	walk("", top)
	return true
}

// textIn returns the first text among the members of an object, without control characters.
func textIn(of map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := of[name].(string); ok {
			return cleanLine(strings.Join(strings.Fields(s), " ")).text
		}
	}
	return ""
}

// jsonOption adds the option that an object describes, and reports whether it does.
func (p *Program) jsonOption(key string, of map[string]any) bool {
	var names []string
	for _, name := range []string{"name", "long", "short", "flag", "option"} {
		names = append(names, textIn(of, name))
	}
	for _, name := range []string{"flags", "names", "aliases"} {
		list, _ := of[name].([]any)
		for _, one := range list {
			s, _ := one.(string)
			names = append(names, s)
		}
	}
	var s spec
	for _, name := range append(names, key) {
		if m := nameAt.FindString(name); m == name && m != "" && len(m) <= maxName && !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
		}
	}
	if len(s.names) == 0 {
		return false
	}
	kind := strings.ToLower(textIn(of, "type", "value", "metavar"))
	if kind != "" && !slices.Contains([]string{"bool", "boolean", "flag", "switch"}, kind) {
		s.value = &Value{Name: cut(kind, maxName)}
		list, _ := of["choices"].([]any)
		for _, one := range list[:min(len(list), maxChoices)] {
			if text, ok := one.(string); ok && text != "" && len(text) <= maxName {
				s.value.Choices = append(s.value.Choices, cleanLine(text).text)
			}
		}
	}
	s.repeat = of["repeatable"] == true || of["multiple"] == true || kind == "array"
	p.enter(s, sentence(textIn(of, "description", "help", "summary")))
	return true
}
