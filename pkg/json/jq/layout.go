package jq

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// A layout determines how JSON is written. The zero value writes compact JSON.
type layout struct {
	indent string // white space of one level; "" writes everything on one line
	sorted bool   // members sorted by name instead of in input order
	ascii  bool   // escapes for characters that are not ASCII
	colors palette
}

// append appends a value. Strings have the form of SDK-18. A number at the top level has the
// form of SDK-17, and numbers in containers are copied (SDK-205). The last of repeated
// members is written at the position of the first (SDK-19).
func (l layout) append(dst []byte, v json.RawMessage) []byte {
	w := writer{layout: l, src: v, dst: dst}
	if rawjson.KindOf(v) == rawjson.Number {
		w.literal(appendNumber(nil, bytes.TrimSpace(v)))
	} else {
		w.value(0)
	}
	return w.dst
}

// A writer rewrites the text of one value in one pass.
type writer struct {
	layout
	src     []byte
	pos     int
	dst     []byte
	members []member // of the open objects, innermost last
}

// A member is a written member of an object. Its fields are offsets into the output: the
// start of its name, the end of its name, and its end.
type member struct{ start, name, end int }

func (w *writer) value(depth int) {
	w.pos = rawjson.SpaceEnd(w.src, w.pos)
	if w.pos == len(w.src) {
		return
	}
	start := w.pos
	switch w.src[start] {
	case '{':
		w.object(depth)
	case '[':
		w.array(depth)
	case '"':
		w.pos = rawjson.StringEnd(w.src, start)
		w.string(w.src[start:w.pos], w.colors.text)
	default:
		w.pos = rawjson.ValueEnd(w.src, start)
		w.literal(w.src[start:w.pos])
	}
}

func (w *writer) literal(text []byte) {
	color := w.colors.literal(text[0])
	w.dst = append(w.dst, color...)
	w.dst = append(w.dst, text...)
	w.reset(color)
}

func (w *writer) string(quoted []byte, color string) {
	w.dst = append(w.dst, color...)
	if w.ascii {
		w.dst = appendASCII(w.dst, quoted)
	} else {
		w.dst = appendString(w.dst, quoted)
	}
	w.reset(color)
}

func (w *writer) array(depth int) {
	color := w.colors.array
	w.colored(color, '[')
	w.pos = rawjson.SpaceEnd(w.src, w.pos+1)
	empty := true
	for w.pos < len(w.src) && w.src[w.pos] != ']' {
		if !empty {
			w.pos++ // the comma
			w.colored(color, ',')
		}
		empty = false
		w.newline(depth + 1)
		w.value(depth + 1)
		w.pos = rawjson.SpaceEnd(w.src, w.pos)
	}
	if !empty {
		w.newline(depth)
	}
	w.pos++
	w.colored(color, ']')
}

func (w *writer) object(depth int) {
	color := w.colors.object
	w.colored(color, '{')
	w.pos = rawjson.SpaceEnd(w.src, w.pos+1)
	body, first := len(w.dst), len(w.members)
	for w.pos < len(w.src) && w.src[w.pos] != '}' {
		if len(w.members) > first {
			w.pos = rawjson.SpaceEnd(w.src, w.pos+1) // the comma
			w.colored(color, ',')
		}
		w.newline(depth + 1)
		m := member{start: len(w.dst)}
		name := w.pos
		w.pos = rawjson.StringEnd(w.src, name)
		w.string(w.src[name:w.pos], w.colors.name)
		m.name = len(w.dst)
		w.pos = rawjson.SpaceEnd(w.src, w.pos) + 1
		w.colored(color, ':')
		if w.indent != "" {
			w.dst = append(w.dst, ' ')
		}
		w.value(depth + 1)
		m.end = len(w.dst)
		w.members = append(w.members, m)
		w.pos = rawjson.SpaceEnd(w.src, w.pos)
	}
	if members := w.members[first:]; len(members) > 0 {
		if repeated := w.repeated(members); w.sorted || repeated {
			w.rearrange(members, body, depth)
		}
		w.newline(depth)
	}
	w.members = w.members[:first]
	w.pos++
	w.colored(color, '}')
}

// few is the number of members up to which names are compared in pairs instead of in a map.
const few = 16

// repeated reports whether two members have the same name. Comparing written names is
// correct because all are written in the same form.
func (w *writer) repeated(members []member) bool {
	if len(members) > few {
		seen := make(map[string]bool, len(members))
		for _, m := range members {
			seen[string(w.dst[m.start:m.name])] = true
		}
		return len(seen) < len(members)
	}
	for i, m := range members {
		for _, n := range members[:i] {
			if bytes.Equal(w.dst[m.start:m.name], w.dst[n.start:n.name]) {
				return true
			}
		}
	}
	return false
}

// rearrange writes the members of an object again, each name once, and sorted if the layout
// requires it.
func (w *writer) rearrange(members []member, body, depth int) {
	type named struct {
		name string
		text []byte
	}
	written := slices.Clone(w.dst[body:])
	list := make([]named, 0, len(members))
	index := make(map[string]int, len(members))
	for _, m := range members {
		name := string(written[m.start-body : m.name-body])
		text := written[m.start-body : m.end-body]
		if at, ok := index[name]; ok {
			list[at].text = text
			continue
		}
		index[name] = len(list)
		list = append(list, named{name, text})
	}
	if w.sorted {
		for i := range list {
			list[i].name = content(list[i].name)
		}
		slices.SortFunc(list, func(a, b named) int { return strings.Compare(a.name, b.name) })
	}
	w.dst = w.dst[:body]
	for i, m := range list {
		if i > 0 {
			w.colored(w.colors.object, ',')
		}
		w.newline(depth + 1)
		w.dst = append(w.dst, m.text...)
	}
}

// content returns the content of a written name, which can be surrounded by colours.
func content(name string) string {
	start, end := strings.IndexByte(name, '"'), strings.LastIndexByte(name, '"')
	s, _ := rawjson.Text(json.RawMessage(name[start : end+1]))
	return s
}

func (w *writer) newline(depth int) {
	if w.indent == "" {
		return
	}
	w.dst = append(w.dst, '\n')
	for range depth {
		w.dst = append(w.dst, w.indent...)
	}
}

// colored appends a bracket or separator in a colour, or without one for "".
func (w *writer) colored(color string, mark byte) {
	w.dst = append(w.dst, color...)
	w.dst = append(w.dst, mark)
	w.reset(color)
}

func (w *writer) reset(color string) {
	if color != "" {
		w.dst = append(w.dst, resetColor...)
	}
}
