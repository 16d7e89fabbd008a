package jqtext

import (
	"bytes"
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
)

// A Layout determines how JSON is written. The zero value writes compact JSON.
type Layout struct {
	Indent string // white space of one level; "" writes everything on one line
	Sorted bool   // members sorted by name instead of in input order
	ASCII  bool   // escapes for characters that are not ASCII
	Colors Palette
}

// Append appends a value. Strings have the form of SDK-18. A number at the top level has the
// form of SDK-17, and numbers in containers are copied (SDK-205). The last of repeated
// members is written at the position of the first (SDK-19).
func (l Layout) Append(dst []byte, v json.RawMessage) []byte {
	w := writer{Layout: l, src: rawjson.Normal(v), dst: dst}
	switch {
	case rawjson.KindOf(v) == rawjson.Number:
		w.literal(AppendNumber(nil, bytes.TrimSpace(v)))
	case l.Sorted:
		w.src = rawjson.AppendCanonical(nil, v)
		fallthrough
	default:
		w.value(0)
	}
	return w.dst
}

// A writer rewrites the text of one value, which is compact and repeats no members, in one pass.
type writer struct {
	Layout
	src []byte
	pos int
	dst []byte
}

func (w *writer) value(depth int) {
	start := w.pos
	if start == len(w.src) {
		return
	}
	switch w.src[start] {
	case '{':
		w.container(depth, w.Colors.object, '}')
	case '[':
		w.container(depth, w.Colors.array, ']')
	case '"':
		w.pos = rawjson.StringEnd(w.src, start)
		w.string(w.src[start:w.pos], w.Colors.text)
	default:
		w.pos = rawjson.ValueEnd(w.src, start)
		w.literal(w.src[start:w.pos])
	}
}

func (w *writer) literal(text []byte) {
	color := w.Colors.literal(text[0])
	w.dst = append(w.dst, color...)
	w.dst = append(w.dst, text...)
	w.reset(color)
}

func (w *writer) string(quoted []byte, color string) {
	w.dst = append(w.dst, color...)
	if w.ASCII {
		w.dst = appendASCII(w.dst, quoted)
	} else {
		w.dst = appendString(w.dst, quoted)
	}
	w.reset(color)
}

// container writes the array or object that ends with a bracket.
func (w *writer) container(depth int, color string, end byte) {
	w.colored(color, w.src[w.pos])
	w.pos++
	empty := w.src[w.pos] == end
	for w.src[w.pos] != end {
		if w.src[w.pos] == ',' {
			w.colored(color, ',')
			w.pos++
		}
		w.newline(depth + 1)
		if end == '}' {
			name := w.pos
			w.pos = rawjson.StringEnd(w.src, name)
			w.string(w.src[name:w.pos], w.Colors.name)
			w.colored(color, ':')
			if w.Indent != "" {
				w.dst = append(w.dst, ' ')
			}
			w.pos++
		}
		w.value(depth + 1)
	}
	if !empty {
		w.newline(depth)
	}
	w.colored(color, end)
	w.pos++
}

func (w *writer) newline(depth int) {
	if w.Indent == "" {
		return
	}
	w.dst = append(w.dst, '\n')
	for range depth {
		w.dst = append(w.dst, w.Indent...)
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
