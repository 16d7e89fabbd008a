package usage

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// readJSON adds the options of a help text that is JSON, and reports whether it is.
func (p *Program) readJSON(text []byte) bool {
	var top any
	if len(text) > maxBytes || json.Unmarshal(text, &top) != nil {
		return false
	}
	object, _ := top.(map[string]any)
	p.Summary = sentence(texts(object, "description", "summary", "help")...)
	p.walk("", top)
	return true
}

// walk adds the options below a value. Objects with a name that begins with a dash are options.
func (p *Program) walk(key string, of any) {
	list, _ := of.([]any)
	for _, one := range list {
		p.walk("", one)
	}
	object, ok := of.(map[string]any)
	if !ok {
		return
	}
	var s spec
	names := texts(object, "long", "option", "flag", "name", "short", "flags", "names", "aliases")
	for _, name := range append(names, key) {
		if m := nameAt.FindString(name); m == name && m != "" && len(m) <= maxName && !slices.Contains(s.names, m) {
			s.names = append(s.names, m)
		}
	}
	if len(s.names) == 0 {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			p.walk(name, object[name])
		}
		return
	}
	kind := append(texts(object, "type", "value", "metavar"), "")[0]
	if !slices.Contains([]string{"", "bool", "boolean", "flag", "switch"}, strings.ToLower(kind)) {
		s.value = &Value{Name: cut(kind, maxName), Choices: texts(object, "choices")}
	}
	s.repeat = object["repeatable"] == true || object["multiple"] == true
	p.enter(s, sentence(texts(object, "description", "help", "summary")...))
}

// texts returns the texts among the members of an object and in their lists, without control characters.
func texts(of map[string]any, names ...string) (list []string) {
	for _, name := range names {
		members, ok := of[name].([]any)
		if !ok {
			members = []any{of[name]}
		}
		for _, one := range members[:min(len(members), maxChoices)] {
			if s, ok := one.(string); ok && s != "" {
				list = append(list, Plain(s, maxText))
			}
		}
	}
	return list
}
