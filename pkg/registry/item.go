package registry

import (
	"encoding/json"

	"mcp-bash/pkg/rawjson"
)

// A writer writes an item, its keys in the order of its calls.
type writer struct {
	s *subject
	b *rawjson.Builder
}

// write begins an item.
func (s *subject) write(name string) writer {
	w := writer{s, rawjson.Over(s.work)}
	w.b.Object().Name("name").String(name)
	return w
}

// put writes a value that is given.
func (w writer) put(name string, value json.RawMessage) {
	if value != nil {
		w.b.Name(name).Raw(rawjson.Normal(value))
	}
}

// value writes a value, null where none is given.
func (w writer) value(name string, value json.RawMessage) {
	if value == nil {
		w.b.Name(name).Null()
		return
	}
	w.put(name, value)
}

// copy writes a field that is given, and of a kind of value, and returns it.
func (w writer) copy(name string, kind rawjson.Kind) json.RawMessage {
	value := w.s.ofKind(name, kind)
	w.put(name, value)
	return value
}

// text writes a string that is given, and not empty.
func (w writer) text(name string) {
	if value := w.s.ofKind(name, rawjson.String); !isEmptyText(value) {
		w.put(name, value)
	}
}

// whenTrue writes a field that is true.
func (w writer) whenTrue(name string) {
	if rawjson.True(w.s.ofKind(name, rawjson.Bool)) {
		w.b.Name(name).Bool(true)
	}
}

// description writes a description, empty where none is given.
func (w writer) description() {
	if w.copy("description", rawjson.String) == nil {
		w.b.Name("description").String("")
	}
}

// end ends the item, with the fields that are not known where those are kept
//
func (w writer) end(known []string) json.RawMessage {
	if w.s.extras {
		w.s.putExtras(w.b, known)
	}
	return w.b.End().Bytes()
}
