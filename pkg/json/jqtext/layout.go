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
}

// Append appends a value. Strings have the form of SDK-18. A number at the top level has the
// form of SDK-17, and numbers in containers are copied (SDK-205). The last of repeated
// members is written at the position of the first (SDK-19).
func (l Layout) Append(dst []byte, v json.RawMessage) []byte {
	w := writer{Layout: l, src: rawjson.Normal(v), dst: dst}
	switch {
	case rawjson.KindOf(v) == rawjson.Number:
		return AppendNumber(dst, bytes.TrimSpace(v))
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
		w.container(depth, '}')
	case '[':
		w.container(depth, ']')
	case '"':
		w.string()
	default:
		w.pos = rawjson.ValueEnd(w.src, start)
		w.dst = append(w.dst, w.src[start:w.pos]...)
	}
}

func (w *writer) string() {
	start := w.pos
	w.pos = rawjson.StringEnd(w.src, start)
	if quoted := w.src[start:w.pos]; w.ASCII {
		w.dst = appendASCII(w.dst, quoted)
	} else {
		w.dst = appendString(w.dst, quoted)
	}
}

// mark copies a bracket or separator.
func (w *writer) mark() {
	w.dst = append(w.dst, w.src[w.pos])
	w.pos++
}

// container writes the array or object that ends with a bracket.
func (w *writer) container(depth int, end byte) {
	w.mark()
	empty := w.src[w.pos] == end
	for w.src[w.pos] != end {
		if w.src[w.pos] == ',' {
			w.mark()
		}
		w.newline(depth + 1)
		if end == '}' {
			w.string()
			w.mark()
			if w.Indent != "" {
				w.dst = append(w.dst, ' ')
			}
		}
		w.value(depth + 1)
	}
	if !empty {
		w.newline(depth)
	}
	w.mark()
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
