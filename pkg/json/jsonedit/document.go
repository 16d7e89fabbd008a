package jsonedit

import (
	"bytes"
	"encoding/json"
	"slices"

	"mcp-bash/pkg/json/rawjson"
)

// A Document is a JSON object that is being edited. Unchanged parts keep their bytes,
// including white space. New parts are indented by two spaces for each level.
type Document struct{ Text []byte }

// New returns the document of a text, which must be a JSON object. If it is on a single
// line, New indents it first.
func New(text []byte) *Document {
	if doc, err := rawjson.Check(text); err == nil && bytes.IndexByte(doc, '\n') < 0 {
		text = rawjson.AppendIndent(nil, doc, 0)
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(bytes.Clone(text), '\n')
	}
	return &Document{text}
}

// A span is the position of a member of an object or an element of an array.
type span struct {
	start    int // of the member's name, or of the element
	from, to int // the value
}

// spans returns the members or elements of the object or array at an offset, and the offset
// of its closing bracket. If name is not "", it returns only members with that name.
func (d *Document) spans(at int, name string) (list []span, end int) {
	object := d.Text[at] == '{'
	i := d.skip(at + 1)
	for d.Text[i] != '}' && d.Text[i] != ']' {
		p := span{start: i}
		matches := name == ""
		if object {
			quoted, rest, _ := rawjson.Next(d.Text[i:])
			matches = matches || rawjson.NameIs(quoted, name)
			i = d.skip(len(d.Text)-len(rest)) + 1 // the colon
		}
		value, rest, _ := rawjson.Next(d.Text[i:])
		p.to = len(d.Text) - len(rest)
		p.from = p.to - len(value)
		if matches {
			list = append(list, p)
		}
		if i = d.skip(p.to); d.Text[i] == ',' {
			i = d.skip(i + 1)
		}
	}
	return list, i
}

// skip returns the offset of the first byte that is not white space.
func (d *Document) skip(at int) int { return len(d.Text) - len(rawjson.SkipSpace(d.Text[at:])) }

// replace replaces a range of bytes.
func (d *Document) replace(from, to int, text []byte) {
	d.Text = slices.Concat(d.Text[:from], text, d.Text[to:])
}

// find returns a member of the document, or the last one if its name is repeated.
func (d *Document) find(name string) (p span, found bool) {
	list, _ := d.spans(d.skip(0), name)
	if len(list) == 0 {
		return span{}, false
	}
	return list[len(list)-1], true
}

// set sets the value of a member.
func (d *Document) set(name string, value json.RawMessage) {
	value = rawjson.AppendIndent(nil, value, 1)
	if p, found := d.find(name); found {
		d.replace(p.from, p.to, value)
		return
	}
	d.insert(d.skip(0), slices.Concat(rawjson.Quote(name), []byte(": "), value), "\n  ")
}

// findArray returns the offset of the array that is the value of a member. found is false if
// the value is not an array.
func (d *Document) findArray(name string) (at int, found bool) {
	p, found := d.find(name)
	return p.from, found && d.Text[p.from] == '['
}

// Append appends a value to the array in a member. If the member has another value, an array
// replaces it.
func (d *Document) Append(name string, value json.RawMessage) {
	at, found := d.findArray(name)
	if !found {
		var b rawjson.Builder
		d.set(name, b.Array().Raw(value).End().Bytes())
		return
	}
	between := "\n    "
	if rawjson.KindOf(value) == rawjson.String {
		between = " "
	}
	d.insert(at, rawjson.AppendIndent(nil, value, 2), between)
}

// insert appends a member or element to the object or array at an offset. It precedes it
// with the same white space as the last one that begins a line, or with between.
func (d *Document) insert(at int, text []byte, between string) {
	list, end := d.spans(at, "")
	if len(list) == 0 {
		closing := ""
		if between[0] == '\n' {
			closing = between[:len(between)-2]
		} else {
			between = ""
		}
		d.replace(at+1, end, slices.Concat([]byte(between), text, []byte(closing)))
		return
	}
	for _, p := range slices.Backward(list) {
		if layout := d.spaceBefore(p.start); bytes.IndexByte(layout, '\n') >= 0 {
			between = string(layout)
			break
		}
	}
	last := list[len(list)-1]
	d.replace(last.to, last.to, slices.Concat([]byte(","), []byte(between), text))
}

func (d *Document) spaceBefore(at int) []byte {
	return d.Text[len(bytes.TrimRight(d.Text[:at], " \t\r\n")):at]
}

// ReplaceElement replaces an element of the array in a member.
func (d *Document) ReplaceElement(name string, i int, value json.RawMessage) {
	at, _ := d.findArray(name)
	list, _ := d.spans(at, "")
	d.replace(list[i].from, list[i].to, rawjson.AppendIndent(nil, value, 2))
}

// Delete deletes an element of the array in a member.
func (d *Document) Delete(name string, i int) {
	at, _ := d.findArray(name)
	list, end := d.spans(at, "")
	switch {
	case len(list) == 1:
		d.replace(at+1, end, nil)
	case i < len(list)-1:
		d.replace(list[i].from, list[i+1].from, nil)
	default:
		d.replace(list[i-1].to, list[i].to, nil)
	}
}

// Elements returns the elements of the array in a member.
func (d *Document) Elements(name string) []json.RawMessage {
	at, found := d.findArray(name)
	if !found {
		return nil
	}
	list, _ := d.spans(at, "")
	values := make([]json.RawMessage, len(list))
	for i, p := range list {
		values[i] = d.Text[p.from:p.to]
	}
	return values
}

// DeleteStrings deletes strings from the array in a member.
func (d *Document) DeleteStrings(name string, texts ...string) {
	values := d.Elements(name)
	for i := len(values) - 1; i >= 0; i-- {
		if text, ok := rawjson.Text(values[i]); ok && slices.Contains(texts, text) {
			d.Delete(name, i)
		}
	}
}

// Member returns the value of a member, or nil.
func (d *Document) Member(name string) json.RawMessage {
	p, found := d.find(name)
	if !found {
		return nil
	}
	return d.Text[p.from:p.to]
}

// HasArray reports whether the value of a member is an array.
func (d *Document) HasArray(name string) bool {
	_, found := d.findArray(name)
	return found
}
