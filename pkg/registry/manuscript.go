package registry

import (
	"bytes"
	"encoding/json"
	"slices"

	"mcp-bash/pkg/rawjson"
)

// A manuscript is a JSON object that is being changed. All that is not changed
// keeps its bytes, down to the white space. What is added is laid out with two
// spaces a level.
type manuscript struct{ text []byte }

// newManuscript takes a text that is a JSON object. One that stands on a single
// line has no layout that could be kept.
func newManuscript(text []byte) *manuscript {
	if doc, err := rawjson.Check(text); err == nil && bytes.IndexByte(doc, '\n') < 0 {
		text = rawjson.AppendIndent(nil, doc, 0)
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(bytes.Clone(text), '\n')
	}
	return &manuscript{text}
}

// A piece is where a member of an object or an element of an array lies.
type piece struct {
	start    int // of the member's name, or of the element
	from, to int // the value
}

// pieces returns what the object or array that begins at a byte consists of,
// and where its closing bracket stands. name, when not empty, asks for the
// members of that name alone.
func (m *manuscript) pieces(at int, name string) (list []piece, end int) {
	object := m.text[at] == '{'
	i := m.skip(at + 1)
	for m.text[i] != '}' && m.text[i] != ']' {
		p := piece{start: i}
		matches := name == ""
		if object {
			quoted, rest, _ := rawjson.Next(m.text[i:])
			matches = matches || rawjson.NameIs(quoted, name)
			i = m.skip(len(m.text)-len(rest)) + 1 // the colon
		}
		value, rest, _ := rawjson.Next(m.text[i:])
		p.to = len(m.text) - len(rest)
		p.from = p.to - len(value)
		if matches {
			list = append(list, p)
		}
		if i = m.skip(p.to); m.text[i] == ',' {
			i = m.skip(i + 1)
		}
	}
	return list, i
}

func (m *manuscript) skip(at int) int { return len(m.text) - len(rawjson.SkipSpace(m.text[at:])) }

// replace puts other text in place of a stretch.
func (m *manuscript) replace(from, to int, text []byte) {
	m.text = slices.Concat(m.text[:from], text, m.text[to:])
}

// value finds the value of a member of the document; the last one counts where
// it is repeated.
func (m *manuscript) value(name string) (p piece, found bool) {
	list, _ := m.pieces(m.skip(0), name)
	if len(list) == 0 {
		return piece{}, false
	}
	return list[len(list)-1], true
}

// set gives a member of the document a value.
func (m *manuscript) set(name string, value json.RawMessage) {
	value = rawjson.AppendIndent(nil, value, 1)
	if p, found := m.value(name); found {
		m.replace(p.from, p.to, value)
		return
	}
	m.insert(m.skip(0), slices.Concat(rawjson.Quote(name), []byte(": "), value), "\n  ")
}

// list finds the array that a member holds; an absent or null one is none.
func (m *manuscript) list(name string) (at int, found bool) {
	p, found := m.value(name)
	return p.from, found && m.text[p.from] == '['
}

// add appends a value to the array that a member holds, making it where there
// is none.
func (m *manuscript) add(name string, value json.RawMessage) {
	at, found := m.list(name)
	if !found {
		var b rawjson.Builder
		m.set(name, b.Array().Raw(value).End().Bytes())
		return
	}
	between := "\n    "
	if rawjson.KindOf(value) == rawjson.String {
		between = " "
	}
	m.insert(at, rawjson.AppendIndent(nil, value, 2), between)
}

// insert appends a member or element to what begins at a byte. It begins its
// line as the last one does that begins a line; between says how where none
// does.
func (m *manuscript) insert(at int, text []byte, between string) {
	list, end := m.pieces(at, "")
	if len(list) == 0 {
		closing := ""
		if between[0] == '\n' {
			closing = between[:len(between)-2]
		} else {
			between = ""
		}
		m.replace(at+1, end, slices.Concat([]byte(between), text, []byte(closing)))
		return
	}
	for _, p := range slices.Backward(list) {
		if layout := m.spaceBefore(p.start); bytes.IndexByte(layout, '\n') >= 0 {
			between = string(layout)
			break
		}
	}
	last := list[len(list)-1]
	m.replace(last.to, last.to, slices.Concat([]byte(","), []byte(between), text))
}

func (m *manuscript) spaceBefore(at int) []byte {
	return m.text[len(bytes.TrimRight(m.text[:at], " \t\r\n")):at]
}

// put puts a value in place of an element of the array that a member holds.
func (m *manuscript) put(name string, i int, value json.RawMessage) {
	at, _ := m.list(name)
	list, _ := m.pieces(at, "")
	m.replace(list[i].from, list[i].to, rawjson.AppendIndent(nil, value, 2))
}

// cut takes an element out of the array that a member holds.
func (m *manuscript) cut(name string, i int) {
	at, _ := m.list(name)
	list, end := m.pieces(at, "")
	switch {
	case len(list) == 1:
		m.replace(at+1, end, nil)
	case i < len(list)-1:
		m.replace(list[i].from, list[i+1].from, nil)
	default:
		m.replace(list[i-1].to, list[i].to, nil)
	}
}

// elements returns the array that a member holds.
func (m *manuscript) elements(name string) []json.RawMessage {
	at, found := m.list(name)
	if !found {
		return nil
	}
	list, _ := m.pieces(at, "")
	values := make([]json.RawMessage, len(list))
	for i, p := range list {
		values[i] = m.text[p.from:p.to]
	}
	return values
}

// drop takes strings out of the array that a member holds.
func (m *manuscript) drop(name string, texts ...string) {
	values := m.elements(name)
	for i := len(values) - 1; i >= 0; i-- {
		if text, ok := rawjson.Text(values[i]); ok && slices.Contains(texts, text) {
			m.cut(name, i)
		}
	}
}

// member returns a member of the document.
func (m *manuscript) member(name string) json.RawMessage {
	p, found := m.value(name)
	if !found {
		return nil
	}
	return m.text[p.from:p.to]
}

// has reports whether a member holds an array.
func (m *manuscript) has(name string) bool {
	_, found := m.list(name)
	return found
}
