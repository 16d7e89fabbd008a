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

// A jsonHelp is the reader of a help text that is JSON.
type jsonHelp struct {
	p     *Program
	nodes int
}

// read parses a JSON help text, and reports whether the text is JSON.
func (j *jsonHelp) read(text []byte) bool {
	text = bytes.TrimSpace(text)
	var top any
	if len(text) == 0 || text[0] != '{' && text[0] != '[' || json.Unmarshal(text, &top) != nil {
		return false
	}
	if object, ok := top.(map[string]any); ok {
		j.p.Summary = sentence(texts(object, "description", "summary", "help")...)
	}
	j.walk("", top)
	return true
}

// walk adds the options below a value. Objects with a name that begins with a dash are options.
func (j *jsonHelp) walk(key string, of any) {
	if j.nodes++; j.nodes > maxNodes {
		return
	}
	switch of := of.(type) {
	case []any:
		for _, one := range of {
			j.walk("", one)
		}
	case map[string]any:
		var s spec
		for _, name := range append(texts(of, "long", "option", "flag", "name", "short", "flags", "names", "aliases"), key) {
			if m := nameAt.FindString(name); m == name && m != "" && len(m) <= maxName && !slices.Contains(s.names, m) {
				s.names = append(s.names, m)
			}
		}
		if len(s.names) == 0 {
			for _, name := range slices.Sorted(maps.Keys(of)) {
				j.walk(name, of[name])
			}
			return
		}
		kind := strings.Join(append(texts(of, "type", "value", "metavar"), "")[:1], "")
		if !slices.Contains([]string{"", "bool", "boolean", "flag", "switch"}, strings.ToLower(kind)) {
			s.value = &Value{Name: cut(kind, maxName), Choices: texts(of, "choices")}
		}
		s.repeat = of["repeatable"] == true || of["multiple"] == true
		j.p.enter(s, sentence(texts(of, "description", "help", "summary")...))
	}
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
