package item

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
)

// A Writer writes an item. The keys are in the order of the calls.
type Writer struct {
	s *Input
	b *rawjson.Builder
}

// Begin begins the JSON of the item, with its name.
func (s *Input) Begin(name string) Writer {
	w := Writer{s, rawjson.Over(s.Buffer)}
	w.b.Object().Name("name").String(name)
	return w
}

// Put writes a value, unless it is nil.
func (w Writer) Put(name string, value json.RawMessage) {
	if value != nil {
		w.b.Name(name).Raw(rawjson.Normal(value))
	}
}

// PutOrNull writes a value, or null for nil.
func (w Writer) PutOrNull(name string, value json.RawMessage) {
	if value == nil {
		w.b.Name(name).Null()
		return
	}
	w.Put(name, value)
}

// Copy writes a field if its value is of a kind, and returns the value or nil.
func (w Writer) Copy(name string, kind rawjson.Kind) json.RawMessage {
	value := w.s.OfKind(name, kind)
	w.Put(name, value)
	return value
}

// Text writes a field that is a string and not empty.
func (w Writer) Text(name string) {
	if value := w.s.OfKind(name, rawjson.String); !IsEmptyText(value) {
		w.Put(name, value)
	}
}

// CopyTrue writes a field that is true.
func (w Writer) CopyTrue(name string) {
	if rawjson.True(w.s.OfKind(name, rawjson.Bool)) {
		w.b.Name(name).Bool(true)
	}
}

// Description writes the description. The default is an empty string.
func (w Writer) Description() {
	if w.Copy("description", rawjson.String) == nil {
		w.b.Name("description").String("")
	}
}

// End returns the item. It adds the unknown fields if the input keeps them.
func (w Writer) End(known []string) json.RawMessage {
	if w.s.KeepUnknown {
		w.s.putExtras(w.b, known)
	}
	return w.b.End().Bytes()
}
