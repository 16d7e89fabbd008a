package events

import (
	"encoding/hex"
	"strconv"
	"time"

	"mcp-bash/pkg/json/rawjson"
)

// Longer texts, in bytes, and longer lists are cut, because clients choose them.
const (
	maxText = 1024
	maxList = 32
)

func appendText(dst []byte, text string) []byte {
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	return rawjson.AppendString(dst, text)
}

// A writer appends members of objects. It leaves out empty values. Unlike [rawjson.Builder], it allocates no memory,
// because every call of a tool writes a line.
type writer struct {
	dst   []byte
	comma bool // a member comes before the next one
}

func (w *writer) key(name string) {
	if w.comma {
		w.dst = append(w.dst, ',')
	}
	w.comma = true
	w.dst = append(append(append(w.dst, '"'), name...), '"', ':')
}

// open begins an object, which is a member unless name is "".
func (w *writer) open(name string) {
	if name != "" {
		w.key(name)
	}
	w.dst, w.comma = append(w.dst, '{'), false
}

func (w *writer) end() { w.dst, w.comma = append(w.dst, '}'), true }

func (w *writer) text(name, value string) {
	if value == "" {
		return
	}
	w.key(name)
	w.dst = appendText(w.dst, value)
}

func (w *writer) bytes(name string, value []byte) {
	if len(value) > 0 {
		w.key(name)
		w.dst = append(w.dst, value...)
	}
}

func (w *writer) hex(name string, value []byte) {
	w.key(name)
	w.dst = append(w.dst, '"')
	w.dst = hex.AppendEncode(w.dst, value)
	w.dst = append(w.dst, '"')
}

func (w *writer) list(name string, values []string) {
	if len(values) == 0 {
		return
	}
	w.key(name)
	w.dst = append(w.dst, '[')
	for i, v := range values[:min(len(values), maxList)] {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = appendText(w.dst, v)
	}
	w.dst = append(w.dst, ']')
}

func (w *writer) number(name string, n int64) {
	w.key(name)
	w.dst = strconv.AppendInt(w.dst, n, 10)
}

// count is number, except for zero.
func (w *writer) count(name string, n int) {
	if n != 0 {
		w.number(name, int64(n))
	}
}

func (w *writer) time(name string, t time.Time) {
	if t.IsZero() {
		return
	}
	w.key(name)
	w.dst = append(w.dst, '"')
	w.dst = t.UTC().AppendFormat(w.dst, TimeFormat)
	w.dst = append(w.dst, '"')
}
