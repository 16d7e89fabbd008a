package item

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
)

const longForm = `true, false or an object with "after", a positive integer, and "asksFirst", true or false`

// LongRunning returns the field longRunning: true, an object with members that are not the default,
// or nil for tools that are not long-running (TK-1).
func (f *Fields) LongRunning() json.RawMessage {
	v := f.Pick("longRunning", longForm, isLongRunning)
	switch {
	case v == nil || string(v) == "false":
		return nil
	case rawjson.KindOf(v) == rawjson.Bool:
		return v
	}
	var b rawjson.Builder
	b.Object()
	if after := rawjson.PositiveInt(rawjson.Get(v, "after")); after > 0 {
		b.Name("after").Int(after)
	}
	if rawjson.True(rawjson.Get(v, "asksFirst")) {
		b.Name("asksFirst").Bool(true)
	}
	if text := b.End().Bytes(); string(text) != "{}" {
		return text
	}
	return json.RawMessage("true")
}

func isLongRunning(v json.RawMessage) bool {
	if rawjson.KindOf(v) == rawjson.Bool {
		return true
	}
	if rawjson.KindOf(v) != rawjson.Object {
		return false
	}
	for _, m := range rawjson.Members(v) {
		switch m.Name {
		case "after":
			if rawjson.KindOf(m.Value) != rawjson.Number || rawjson.PositiveInt(m.Value) == 0 {
				return false
			}
		case "asksFirst":
			if rawjson.KindOf(m.Value) != rawjson.Bool {
				return false
			}
		default:
			return false
		}
	}
	return true
}
