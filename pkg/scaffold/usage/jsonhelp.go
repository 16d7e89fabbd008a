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
		nodes++
		list, _ := of.([]any)
		object, _ := of.(map[string]any)
		if nodes > maxNodes || object != nil && p.jsonOption(key, object) {
			return
		}
		if nodes == 1 {
			p.Summary = sentence(textIn(object, "description", "summary", "help"))
		}
		for _, one := range list {
			walk("", one)
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			walk(name, object[name])
		}
	}
	walk("", top)
	return true
}

// textIn returns the first text among the members of an object, without control characters.
func textIn(of map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := of[name].(string); ok {
			return Plain(s, maxText)
		}
	}
	return ""
}

// textsIn returns the texts in a list.
func textsIn(of map[string]any, name string) (texts []string) {
	list, _ := of[name].([]any)
	for _, one := range list[:min(len(list), maxChoices)] {
		if s, ok := one.(string); ok && s != "" && len(s) <= maxName {
			texts = append(texts, cleanLine(s).text)
		}
	}
	return texts
}

// jsonOption adds the option that an object describes, and reports whether it does.
func (p *Program) jsonOption(key string, of map[string]any) bool {
	names := slices.Concat(textsIn(of, "flags"), textsIn(of, "names"), textsIn(of, "aliases"))
	for _, name := range []string{"short", "long", "name", "flag", "option"} {
		names = slices.Insert(names, 0, textIn(of, name))
	}
	var s spec
	for _, name := range append(names, key) {
		if m := nameAt.FindString(name); m == name && m != "" && len(m) <= maxName && !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
		}
	}
	kind := strings.ToLower(textIn(of, "type", "value", "metavar"))
	if !slices.Contains([]string{"", "bool", "boolean", "flag", "switch"}, kind) {
		s.value = &Value{Name: cut(kind, maxName), Choices: textsIn(of, "choices")}
	}
	s.repeat = of["repeatable"] == true || of["multiple"] == true || kind == "array"
	if len(s.names) > 0 {
		p.enter(s, textIn(of, "description", "help", "summary"))
	}
	return len(s.names) > 0
}
