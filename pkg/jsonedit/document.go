package jsonedit

import (
	"bytes"
	"encoding/json"
	"slices"

	"mcp-bash/pkg/rawjson"
)

// A Document is a JSON object that is being changed. All that is not changed
// keeps its bytes, down to the white space. What is added is laid out with two
// spaces a level.
type Document struct{ Text []byte }

// New takes a text that is a JSON object. One that stands on a single
// line has no layout that could be kept.
func New(text []byte) *Document {
	if doc, err := rawjson.Check(text); err == nil && bytes.IndexByte(doc, '\n') < 0 {
		text = rawjson.AppendIndent(nil, doc, 0)
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(bytes.Clone(text), '\n')
	}
	return &Document{text}
}

// A span is where a member of an object or an element of an array lies.
type span struct {
	start    int // of the member's name, or of the element
	from, to int // the value
}

// spans returns what the object or array that begins at a byte consists of,
// and where its closing bracket stands. name, when not empty, asks for the
// members of that name alone.
func (m *Document) spans(at int, name string) (list []span, end int) {
	object := m.Text[at] == '{'
	i := m.skip(at + 1)
	for m.Text[i] != '}' && m.Text[i] != ']' {
		p := span{start: i}
		matches := name == ""
		if object {
			quoted, rest, _ := rawjson.Next(m.Text[i:])
			matches = matches || rawjson.NameIs(quoted, name)
			i = m.skip(len(m.Text)-len(rest)) + 1 // the colon
		}
		value, rest, _ := rawjson.Next(m.Text[i:])
		p.to = len(m.Text) - len(rest)
		p.from = p.to - len(value)
		if matches {
			list = append(list, p)
		}
		if i = m.skip(p.to); m.Text[i] == ',' {
			i = m.skip(i + 1)
		}
	}
	return list, i
}

func (m *Document) skip(at int) int { return len(m.Text) - len(rawjson.SkipSpace(m.Text[at:])) }

// replace puts other text in place of a stretch.
func (m *Document) replace(from, to int, text []byte) {
	m.Text = slices.Concat(m.Text[:from], text, m.Text[to:])
}

// find finds the value of a member of the document; the last one counts where
// it is repeated.
func (m *Document) find(name string) (p span, found bool) {
	list, _ := m.spans(m.skip(0), name)
	if len(list) == 0 {
		return span{}, false
	}
	return list[len(list)-1], true
}

// set gives a member of the document a value.
func (m *Document) set(name string, value json.RawMessage) {
	value = rawjson.AppendIndent(nil, value, 1)
	if p, found := m.find(name); found {
		m.replace(p.from, p.to, value)
		return
	}
	m.insert(m.skip(0), slices.Concat(rawjson.Quote(name), []byte(": "), value), "\n  ")
}

// findArray finds the array that a member holds; an absent or null one is none.
func (m *Document) findArray(name string) (at int, found bool) {
	p, found := m.find(name)
	return p.from, found && m.Text[p.from] == '['
}

// Append appends a value to the array that a member holds, making it where there
// is none.
func (m *Document) Append(name string, value json.RawMessage) {
	at, found := m.findArray(name)
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
func (m *Document) insert(at int, text []byte, between string) {
	list, end := m.spans(at, "")
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

func (m *Document) spaceBefore(at int) []byte {
	return m.Text[len(bytes.TrimRight(m.Text[:at], " \t\r\n")):at]
}

// ReplaceElement puts a value in place of an element of the array that a member holds.
func (m *Document) ReplaceElement(name string, i int, value json.RawMessage) {
	at, _ := m.findArray(name)
	list, _ := m.spans(at, "")
	m.replace(list[i].from, list[i].to, rawjson.AppendIndent(nil, value, 2))
}

// Delete takes an element out of the array that a member holds.
func (m *Document) Delete(name string, i int) {
	at, _ := m.findArray(name)
	list, end := m.spans(at, "")
	switch {
	case len(list) == 1:
		m.replace(at+1, end, nil)
	case i < len(list)-1:
		m.replace(list[i].from, list[i+1].from, nil)
	default:
		m.replace(list[i-1].to, list[i].to, nil)
	}
}

// Elements returns the array that a member holds.
func (m *Document) Elements(name string) []json.RawMessage {
	at, found := m.findArray(name)
	if !found {
		return nil
	}
	list, _ := m.spans(at, "")
	values := make([]json.RawMessage, len(list))
	for i, p := range list {
		values[i] = m.Text[p.from:p.to]
	}
	return values
}

// DeleteStrings takes strings out of the array that a member holds.
func (m *Document) DeleteStrings(name string, texts ...string) {
	values := m.Elements(name)
	for i := len(values) - 1; i >= 0; i-- {
		if text, ok := rawjson.Text(values[i]); ok && slices.Contains(texts, text) {
			m.Delete(name, i)
		}
	}
}

// Member returns a member of the document.
func (m *Document) Member(name string) json.RawMessage {
	p, found := m.find(name)
	if !found {
		return nil
	}
	return m.Text[p.from:p.to]
}

// HasArray reports whether a member holds an array.
func (m *Document) HasArray(name string) bool {
	_, found := m.findArray(name)
	return found
}
