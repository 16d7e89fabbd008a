package jqtext

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"mcp-bash/pkg/json/rawjson"
)

// Limits of the flat table.
const (
	MaxFlatRows  = 128
	MaxFlatBytes = 16384
)

// Flat writes a document as the table that the Bash SDK reads without starting a process. Each node has a row, in
// document order, in the form PATH TAB KIND VALUE LF. The row of the root contains the document itself, so that the SDK
// recognizes a table for another document.
//
// ok is false for a document without a table. Scripts then run the program. Such a document exceeds the table's limits,
// has characters that a row or Bash cannot represent, or is not in the form that [Normal] returns. In the last case,
// the program would print it differently.
func Flat(payload json.RawMessage) (table string, ok bool) {
	if len(payload) == 0 || len(payload) > MaxFlatBytes || !fitsTable(payload) {
		return "", false
	}
	t := tabulator{
		text:  payload,
		table: make([]byte, 0, min(MaxFlatBytes+1, 3*len(payload)+64)),
	}
	var path [128]byte
	if _, ok := t.node(0, append(path[:0], '.')); !ok {
		return "", false
	}
	return string(t.table), true
}

// fitsTable reports whether a document is compact, and its strings have the form of SDK-18
// without the characters that SDK-206 forbids. Names are checked further when their rows are
// written.
func fitsTable(text []byte) bool {
	var content, normal []byte // of a string
	for i := 0; i < len(text); {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			return false
		case '"':
			end := rawjson.StringEnd(text, i)
			if quoted := text[i:end]; isEscaped(quoted) {
				content = rawjson.AppendText(content[:0], quoted)
				normal = rawjson.AppendString(slices.Grow(normal[:0], len(quoted)), content)
				if !bytes.Equal(normal, quoted) || bytes.ContainsAny(content, "\x00\x01\x7f") {
					return false
				}
			}
			i = end
		default:
			i++
		}
	}
	return true
}

type tabulator struct {
	text    []byte
	table   []byte
	content []byte // of a string
	rows    int
	names   [MaxFlatRows]span // of the open objects, innermost last
	count   int               // the number of names
}

// A span is a part of the document, which has at most MaxFlatBytes.
type span struct{ start, end uint16 }

// node writes the rows of the value at i with a path, and returns the index after the value.
// ok is false if the document has no table. The path is extended in place for child nodes.
func (t *tabulator) node(i int, path []byte) (end int, ok bool) {
	if t.rows++; t.rows > MaxFlatRows {
		return i, false
	}
	t.table = append(append(t.table, path...), '\t')
	switch t.text[i] {
	case '{', '[':
		end = t.container(i)
	case '"':
		end = rawjson.StringEnd(t.text, i)
		t.string(t.text[i:end])
	default:
		end = rawjson.ValueEnd(t.text, i)
		t.literal(t.text[i:end])
	}
	t.table = append(t.table, '\n')
	if len(t.table) > MaxFlatBytes {
		return end, false
	}
	if len(path) == 1 {
		path = path[:0] // the root's dot begins the path of every other node
	}
	switch t.text[i] {
	case '{':
		return end, t.members(i+1, path)
	case '[':
		return end, t.elements(i+1, path)
	}
	return end, true
}

// container writes the row of an array or object, which is its text with doubled
// backslashes. Compact JSON has no newlines.
func (t *tabulator) container(i int) (end int) {
	kind := byte('o')
	if t.text[i] == '[' {
		kind = 'a'
	}
	t.table = append(t.table, kind)
	end = rawjson.ValueEnd(t.text, i)
	for rest := t.text[i:end]; ; {
		at := bytes.IndexByte(rest, '\\')
		if at < 0 {
			t.table = append(t.table, rest...)
			return end
		}
		t.table = append(append(t.table, rest[:at]...), '\\', '\\')
		rest = rest[at+1:]
	}
}

// string writes the row of a string. The row has the content without newlines at the end,
// with doubled backslashes, and with newlines as \n.
func (t *tabulator) string(quoted []byte) {
	t.table = append(t.table, 's')
	if !isEscaped(quoted) {
		t.table = append(t.table, quoted[1:len(quoted)-1]...)
		return
	}
	t.content = rawjson.AppendText(t.content[:0], quoted)
	for _, c := range bytes.TrimRight(t.content, "\n") {
		switch c {
		case '\n':
			t.table = append(t.table, '\\', 'n')
		case '\\':
			t.table = append(t.table, '\\', '\\')
		default:
			t.table = append(t.table, c)
		}
	}
}

func (t *tabulator) literal(text []byte) {
	switch text[0] {
	case 't':
		t.table = append(t.table, 't')
	case 'f':
		t.table = append(t.table, 'x')
	case 'n':
		t.table = append(t.table, 'z')
	default:
		kind := len(t.table)
		t.table = AppendNumber(append(t.table, 'i'), text)
		if !IsInteger(t.table[kind+1:]) {
			t.table[kind] = 'f'
		}
		return
	}
	t.table = append(t.table, text...)
}

// members writes the rows of an object's members. The first one starts at i. ok is false if
// a name is repeated or cannot be part of a path.
func (t *tabulator) members(i int, path []byte) (ok bool) {
	first := t.count
	for t.text[i] != '}' {
		if t.text[i] == ',' {
			i++
		}
		end := rawjson.StringEnd(t.text, i)
		name := t.text[i+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			return false // a quote, a backslash or a control character
		}
		if t.count == MaxFlatRows || t.isRepeated(name, first) {
			return false
		}
		t.names[t.count] = span{uint16(i + 1), uint16(end - 1)}
		t.count++
		below := append(path, '.')
		if IsIdentifier(name) {
			below = append(below, name...)
		} else {
			below = append(append(append(below, '"'), name...), '"')
		}
		if i, ok = t.node(end+1, below); !ok {
			return false
		}
	}
	t.count = first
	return true
}

// isRepeated reports whether the innermost open object already has a member with a name. Its
// names begin at first.
func (t *tabulator) isRepeated(name []byte, first int) bool {
	return slices.ContainsFunc(t.names[first:t.count], func(before span) bool {
		return bytes.Equal(name, t.text[before.start:before.end])
	})
}

// elements writes the rows of an array's elements, the first of which starts at i.
func (t *tabulator) elements(i int, path []byte) (ok bool) {
	if len(path) == 0 {
		path = append(path, '.')
	}
	for index := 0; t.text[i] != ']'; index++ {
		if t.text[i] == ',' {
			i++
		}
		below := append(strconv.AppendInt(append(path, '['), int64(index), 10), ']')
		if i, ok = t.node(i, below); !ok {
			return false
		}
	}
	return true
}
