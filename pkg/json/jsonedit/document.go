// Package jsonedit changes members of a JSON object in its text. All other bytes stay the
// same, so people's files keep their layout and comments. [Document] edits register.json and
// other files of a project. [File] edits files of other programs, which can have comments.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tailscale/hujson"

	"mcp-bash/pkg/json/rawjson"
)

// A Document is a JSON object that is being edited. Unchanged parts keep their bytes, including white space. New parts
// are indented by two spaces for each level.
type Document struct {
	Text []byte // must not be changed
	root hujson.Value
}

// New returns the document of a text, which must be a JSON object. If it is on a single
// line, New indents it first. New removes a byte order mark.
func New(text []byte) *Document {
	text = bytes.TrimPrefix(text, rawjson.ByteOrderMark)
	if doc, err := rawjson.Check(text); err == nil && bytes.IndexByte(doc, '\n') < 0 {
		text = rawjson.AppendIndent(nil, doc, 0)
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(bytes.Clone(text), '\n')
	}
	root, _ := hujson.Parse(text)
	return &Document{text, root}
}

// commit makes the edited tree the text of the document.
func (d *Document) commit() {
	d.root.UpdateOffsets()
	d.Text = d.root.Pack()
}

// find returns the value of a member, or nil. If the name is repeated, the last one counts.
func (d *Document) find(name string) *hujson.Value {
	members := d.root.Value.(*hujson.Object).Members
	for i, m := range slices.Backward(members) {
		if rawjson.NameIs(m.Name.Value.(hujson.Literal), name) {
			return &members[i].Value
		}
	}
	return nil
}

func (d *Document) array(name string) (array *hujson.Array) {
	if v := d.find(name); v != nil {
		array, _ = v.Value.(*hujson.Array)
	}
	return array
}

// indented returns a value with its inner lines indented for a level.
func indented(value json.RawMessage, depth int) hujson.ValueTrimmed {
	v, _ := hujson.Parse(rawjson.AppendIndent(nil, value, depth)) // JSON is valid
	return v.Value
}

// Set gives a member of the object a value. A new member is the last one.
func (d *Document) Set(name string, value json.RawMessage) {
	defer d.commit()
	if v := d.find(name); v != nil {
		v.Value = indented(value, 1)
		return
	}
	object := d.root.Value.(*hujson.Object)
	var m hujson.ObjectMember
	m.Name.Value = hujson.Literal(rawjson.Quote(name))
	m.Value.Value, m.Value.BeforeExtra = indented(value, 1), []byte(" ")
	m.Name.BeforeExtra = []byte("\n  ")
	if len(object.Members) == 0 {
		object.AfterExtra = []byte("\n")
	}
	for _, other := range slices.Backward(object.Members) {
		if bytes.IndexByte(other.Name.BeforeExtra, '\n') >= 0 {
			m.Name.BeforeExtra = other.Name.BeforeExtra
			break
		}
	}
	object.Members = append(object.Members, m)
}

// Append appends a value to the array in a member. If the member has another value, an array
// replaces it. The value gets the white space of the last element that begins a line.
func (d *Document) Append(name string, value json.RawMessage) {
	array := d.array(name)
	if array == nil {
		var b rawjson.Builder
		d.Set(name, b.Array().Raw(value).End().Bytes())
		return
	}
	element := hujson.Value{Value: indented(value, 2)}
	isText := rawjson.KindOf(value) == rawjson.String
	switch {
	case len(array.Elements) == 0 && isText:
		array.AfterExtra = nil
	case len(array.Elements) == 0:
		element.BeforeExtra, array.AfterExtra = []byte("\n    "), []byte("\n  ")
	case isText:
		element.BeforeExtra = []byte(" ")
	default:
		element.BeforeExtra = []byte("\n    ")
	}
	for _, other := range slices.Backward(array.Elements) {
		if bytes.IndexByte(other.BeforeExtra, '\n') >= 0 {
			element.BeforeExtra = other.BeforeExtra
			break
		}
	}
	array.Elements = append(array.Elements, element)
	d.commit()
}

// ReplaceElement replaces an element of the array in a member.
func (d *Document) ReplaceElement(name string, i int, value json.RawMessage) {
	d.array(name).Elements[i].Value = indented(value, 2)
	d.commit()
}

// Delete deletes an element of the array in a member.
func (d *Document) Delete(name string, i int) {
	array := d.array(name)
	list := array.Elements
	switch {
	case len(list) == 1:
		array.AfterExtra = nil
	case i < len(list)-1:
		list[i+1].BeforeExtra = list[i].BeforeExtra
	default:
		list[i-1].AfterExtra = nil
	}
	array.Elements = slices.Delete(list, i, i+1)
	d.commit()
}

// Elements returns the elements of the array in a member.
func (d *Document) Elements(name string) (values []json.RawMessage) {
	if array := d.array(name); array != nil {
		for _, e := range array.Elements {
			values = append(values, d.Text[e.StartOffset:e.EndOffset])
		}
	}
	return values
}

// DeleteStrings deletes strings from the array in a member.
func (d *Document) DeleteStrings(name string, texts ...string) {
	for i, value := range slices.Backward(d.Elements(name)) {
		if text, ok := rawjson.Text(value); ok && slices.Contains(texts, text) {
			d.Delete(name, i)
		}
	}
}

// Member returns the value of a member, or nil.
func (d *Document) Member(name string) json.RawMessage {
	if v := d.find(name); v != nil {
		return d.Text[v.StartOffset:v.EndOffset]
	}
	return nil
}

// HasArray reports whether the value of a member is an array.
func (d *Document) HasArray(name string) bool { return d.array(name) != nil }
