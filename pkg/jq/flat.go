package jq

import (
	"bytes"
	"encoding/json"
	"strconv"

	"mcp-bash/pkg/rawjson"
)

// The limits of the flat table (SDK-205).
const (
	maxFlatRows  = 128
	maxFlatBytes = 16384
)

// Flat writes a document as the table that the Bash SDK reads without starting
// a process (SDK-205): one row for every node in document order, each
// PATH TAB KIND VALUE LF. The row of the root holds the document itself, which
// is how the SDK notices that the table belongs to another one (SDK-208).
//
// ok is false when the document has no table, and a script has to ask the
// program: when the table would exceed its limits, when a name or a string
// holds what a row or Bash cannot (SDK-206), and when the document is not in
// the form that [Normal] gives, so that its own text is not what the program
// would print for it.
func Flat(payload json.RawMessage) (table string, ok bool) {
	if len(payload) == 0 || len(payload) > maxFlatBytes || !fitsTable(payload) {
		return "", false
	}
	t := tabulator{
		text:  payload,
		table: make([]byte, 0, min(maxFlatBytes+1, 3*len(payload)+64)),
	}
	var path [128]byte
	if _, ok := t.node(0, append(path[:0], '.')); !ok {
		return "", false
	}
	return string(t.table), true
}

// fitsTable reports whether a document is compact, and its strings are written
// as SDK-18 says and free of the characters that SDK-206 refuses. Names are
// looked at more closely when their rows are written.
func fitsTable(text []byte) bool {
	for i := 0; i < len(text); {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			return false
		case '"':
			end := rawjson.StringEnd(text, i)
			inner := text[i+1 : end-1]
			if bytes.IndexByte(inner, 0x7f) >= 0 {
				return false
			}
			if bytes.IndexByte(inner, '\\') >= 0 && (!isNormalString(inner) || holdsRefused(inner)) {
				return false
			}
			i = end
		default:
			i++
		}
	}
	return true
}

// holdsRefused reports whether the inside of a string, written as SDK-18 says,
// holds U+0000, U+0001 or U+007F.
func holdsRefused(inner []byte) bool {
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			continue
		}
		if i++; inner[i] != 'u' {
			continue
		}
		switch string(inner[i+3 : i+5]) {
		case "00", "01", "7f":
			return true
		}
	}
	return false
}

// A tabulator writes the flat table of one document.
type tabulator struct {
	text  []byte
	table []byte
	rows  int
	names [maxFlatRows]span // of the objects that are open, innermost last
	count int               // of names
}

// A span is a piece of the document, which is no longer than maxFlatBytes.
type span struct{ start, end uint16 }

// node writes the rows of the value at i, whose path is given, and returns the
// index after the value. ok is false when there is no table. The path is
// extended in place for the nodes below.
func (t *tabulator) node(i int, path []byte) (end int, ok bool) {
	if t.rows++; t.rows > maxFlatRows {
		return i, false
	}
	t.table = append(append(t.table, path...), '\t')
	switch t.text[i] {
	case '{', '[':
		end = t.container(i)
	case '"':
		end = rawjson.StringEnd(t.text, i)
		t.string(t.text[i+1 : end-1])
	default:
		end = rawjson.ValueEnd(t.text, i)
		t.literal(t.text[i:end])
	}
	t.table = append(t.table, '\n')
	if len(t.table) > maxFlatBytes {
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

// container writes the row of an array or object: its text, in which only
// backslashes need doubling, for compact JSON holds no newline.
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

// string writes the row of a string: its content without the newlines at the
// end, backslashes doubled and newlines as \n. JSON writes both so already.
func (t *tabulator) string(inner []byte) {
	t.table = append(t.table, 's')
	if bytes.IndexByte(inner, '\\') < 0 {
		t.table = append(t.table, inner...)
		return
	}
	end := len(t.table) // of what is not a newline at the end
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		if c == '\\' {
			i++
			switch inner[i] {
			case 'n':
				t.table = append(t.table, '\\', 'n')
				continue
			case '\\':
				t.table = append(t.table, '\\')
			case '"':
				c = '"'
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'u':
				c = inner[i+3]<<4&0x10 | unhex(inner[i+4]) // 0002 to 001f
				i += 4
			}
		}
		t.table = append(t.table, c)
		end = len(t.table)
	}
	t.table = t.table[:end]
}

// unhex returns the value of a lower-case hexadecimal digit.
func unhex(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
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
		t.table = appendNumber(append(t.table, 'i'), text)
		if !isInteger(t.table[kind+1:]) {
			t.table[kind] = 'f'
		}
		return
	}
	t.table = append(t.table, text...)
}

// members writes the rows of an object's members, the first of which starts at
// i. ok is false when a name cannot stand in a path, or stands there twice.
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
		if t.count == maxFlatRows || t.isRepeated(name, first) {
			return false
		}
		t.names[t.count] = span{uint16(i + 1), uint16(end - 1)}
		t.count++
		below := append(path, '.')
		if isIdentifier(name) {
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

// isRepeated reports whether the innermost open object, whose names are those
// from first, had a member of that name before.
func (t *tabulator) isRepeated(name []byte, first int) bool {
	for _, before := range t.names[first:t.count] {
		if bytes.Equal(name, t.text[before.start:before.end]) {
			return true
		}
	}
	return false
}

// elements writes the rows of an array's elements, the first of which starts
// at i.
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
