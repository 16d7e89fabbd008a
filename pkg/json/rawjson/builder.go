package rawjson

import (
	"encoding/json"
	"slices"
	"strconv"
)

// A Builder writes one compact value, member by member, and adds the commas. The zero value
// is ready to use. [Over] returns a Builder that appends to a buffer.
//
//	var b rawjson.Builder
//	b.Object().Name("name").String("hello").Name("size").Int(3).End()
//	b.Bytes() // {"name":"hello","size":3}
type Builder struct {
	buf   []byte
	open  []byte // the missing closing brackets
	comma bool   // the next value needs a comma before it
}

// Over returns a Builder that appends to dst. The Builder owns dst.
func Over(dst []byte) *Builder { return &Builder{buf: dst} }

// Bytes returns what was written.
func (b *Builder) Bytes() []byte { return b.buf }

func (b *Builder) value() {
	if b.comma {
		b.buf = append(b.buf, ',')
	}
	b.comma = true
}

// Object opens an object; [Builder.End] closes it.
func (b *Builder) Object() *Builder { return b.begin('{', '}') }

// Array opens an array; [Builder.End] closes it.
func (b *Builder) Array() *Builder { return b.begin('[', ']') }

func (b *Builder) begin(opening, closing byte) *Builder {
	b.value()
	b.buf = append(b.buf, opening)
	b.open = append(b.open, closing)
	b.comma = false
	return b
}

// End closes the innermost open object or array.
func (b *Builder) End() *Builder {
	last := len(b.open) - 1
	b.buf = append(b.buf, b.open[last])
	b.open = b.open[:last]
	b.comma = true
	return b
}

// Members writes the members of an object, except those with one of the names.
func (b *Builder) Members(object json.RawMessage, except ...string) *Builder {
	for _, m := range Members(object) {
		if !slices.Contains(except, m.Name) {
			b.Name(m.Name).Raw(m.Value)
		}
	}
	return b
}

// Name writes the name of the next member.
func (b *Builder) Name(name string) *Builder {
	b.value()
	b.buf = append(AppendString(b.buf, name), ':')
	b.comma = false
	return b
}

// String writes a string.
func (b *Builder) String(s string) *Builder {
	b.value()
	b.buf = AppendString(b.buf, s)
	return b
}

// Text writes a string from bytes, as [AppendString] does.
func (b *Builder) Text(s []byte) *Builder {
	b.value()
	b.buf = AppendString(b.buf, s)
	return b
}

// Optional writes a member with a text, unless the text is empty.
func (b *Builder) Optional(name, s string) *Builder {
	if s == "" {
		return b
	}
	return b.Name(name).String(s)
}

// OptionalRaw writes a member with a value, unless it is nil.
func (b *Builder) OptionalRaw(name string, v json.RawMessage) *Builder {
	if v == nil {
		return b
	}
	return b.Name(name).Raw(v)
}

// Int writes a number.
func (b *Builder) Int(n int) *Builder {
	b.value()
	b.buf = strconv.AppendInt(b.buf, int64(n), 10)
	return b
}

// Bool writes true or false.
func (b *Builder) Bool(v bool) *Builder {
	b.value()
	b.buf = strconv.AppendBool(b.buf, v)
	return b
}

// Null writes null.
func (b *Builder) Null() *Builder { return b.Raw(json.RawMessage("null")) }

// Raw writes a value as it is. An empty value becomes null.
func (b *Builder) Raw(v json.RawMessage) *Builder {
	b.value()
	if len(v) == 0 {
		b.buf = append(b.buf, "null"...)
		return b
	}
	b.buf = append(b.buf, v...)
	return b
}

// Append calls f to append one value to the buffer.
func (b *Builder) Append(f func(dst []byte) []byte) *Builder {
	b.value()
	b.buf = f(b.buf)
	return b
}

// Strings writes an array of strings.
func (b *Builder) Strings(list []string) *Builder {
	b.Array()
	for _, s := range list {
		b.String(s)
	}
	return b.End()
}
