package rawjson

import (
	"bytes"
	"encoding/json"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// escaped marks the bytes that [AppendString] cannot copy.
var escaped = func() (t [256]bool) {
	for c := range t {
		t[c] = c < ' ' || c == '"' || c == '\\' || c == 0x7f || c >= utf8.RuneSelf
	}
	return t
}()

// AppendString appends s as a quoted JSON string. Control characters and U+007F are escaped, and each invalid UTF-8
// byte becomes U+FFFD. Everything else is copied.
func AppendString[S string | []byte](dst []byte, s S) []byte {
	return appendQuoted(dst, s, every80)
}

// AppendValid is [AppendString] for valid UTF-8.
func AppendValid[S string | []byte](dst []byte, s S) []byte {
	return appendQuoted(dst, s, 0)
}

// Words of eight equal bytes.
const (
	every01 = 0x0101010101010101
	every20 = 0x20 * every01
	every80 = 0x80 * every01
	quotes  = '"' * every01
	slashes = '\\' * every01
	deletes = 0x7f * every01
)

// plain returns how many bytes from i on can be copied, as far as whole words show. If high
// is 0, these include bytes beyond ASCII. If high is every80, they do not.
func plain[S string | []byte](s S, i int, high uint64) int {
	for n := i; ; n += 8 {
		if n+8 > len(s) {
			return n - i
		}
		w := s[n : n+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		// A byte b is less than c if b-c borrows and the high bit of b is not set. It equals
		// c if b^c is less than one. Borrows can affect bytes after the first match.
		q, b, d := x^quotes, x^slashes, x^deletes
		stop := ((x-every20)&^x|(q-every01)&^q|(b-every01)&^b|(d-every01)&^d)&every80 | x&high
		if stop != 0 {
			return n - i + bits.TrailingZeros64(stop)/8
		}
	}
}

func appendQuoted[S string | []byte](dst []byte, s S, high uint64) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if !escaped[c] {
			i++
			if i < len(s) && !escaped[s[i]] {
				i += plain(s, i, high)
			}
			continue
		}
		if c >= utf8.RuneSelf {
			if high == 0 {
				i++
				continue
			}
			// At most four bytes are needed to decode one rune. The conversion of so short a
			// slice stays off the heap.
			r, size := utf8.DecodeRuneInString(string(s[i:min(i+4, len(s))]))
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		if c >= utf8.RuneSelf {
			dst = append(dst, "\uFFFD"...)
		} else {
			dst = appendEscape(dst, c)
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// appendEscape appends the shortest escape of an ASCII character.
func appendEscape(dst []byte, c byte) []byte {
	const short = "\nn\"\"\\\\\tt\rr\bb\ff" // pairs of a character and its escape
	for i := 0; i < len(short); i += 2 {
		if short[i] == c {
			return append(dst, '\\', short[i+1])
		}
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// Quote returns s as a JSON string value.
func Quote(s string) json.RawMessage { return AppendString(nil, s) }

// Int returns n as a JSON number value.
func Int(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// IsCompact reports whether a value has no white space outside its strings.
func IsCompact(v json.RawMessage) bool {
	for i := 0; i < len(v); {
		switch v[i] {
		case '"':
			i = StringEnd(v, i)
		case ' ', '\t', '\n', '\r':
			return false
		default:
			i++
		}
	}
	return true
}

// AppendCompact appends a value without white space outside its strings. Everything else is
// copied.
func AppendCompact(dst []byte, v json.RawMessage) []byte {
	for i := 0; i < len(v); {
		switch v[i] {
		case '"':
			end := StringEnd(v, i)
			dst = append(dst, v[i:end]...)
			i = end
		case ' ', '\t', '\n', '\r':
			i++
		default:
			dst = append(dst, v[i])
			i++
		}
	}
	return dst
}

// Normal returns a compact value in which every member name is unique in its object. Strings
// and numbers are copied. A value that already has this form is returned unchanged.
func Normal(v json.RawMessage) json.RawMessage {
	if IsCompact(v) && !hasRepeats(v) {
		return v
	}
	return Layout{}.Append(make([]byte, 0, len(v)), v)
}

func hasRepeats(v json.RawMessage) bool {
	switch KindOf(v) {
	case Array:
		for e := range Elements(v) {
			if hasRepeats(e) {
				return true
			}
		}
	case Object:
		var few fewMembers
		plain := few.read(v)
		for _, value := range members(v) {
			if hasRepeats(value) {
				return true
			}
		}
		if !plain {
			n := 0
			for range members(v) {
				n++
			}
			return n != len(Members(v))
		}
	}
	return false
}

// fewMembers are the members of a typical object, which can be rewritten without copying
// names. There are few members, no name is repeated, and all names are already written as
// AppendString would write them.
type fewMembers struct {
	list [16]quotedMember
	n    int
}

type quotedMember struct{ quoted, value []byte }

// read reports whether the object has that form.
func (f *fewMembers) read(v []byte) bool {
	f.n = 0
	for quoted, value := range members(v) {
		if f.n == len(f.list) || bytes.IndexByte(quoted, '\\') >= 0 || bytes.IndexByte(quoted, 0x7f) >= 0 {
			return false
		}
		for i := range f.n {
			if bytes.Equal(f.list[i].quoted, quoted) {
				return false
			}
		}
		f.list[f.n].quoted, f.list[f.n].value = quoted, value
		f.n++
	}
	return true
}

// sort sorts by name without quotes. With quotes, a space and an exclamation mark would sort
// before the closing quote.
func (f *fewMembers) sort() {
	for i := 1; i < f.n; i++ {
		for k := i; k > 0 && bytes.Compare(unquoted(f.list[k].quoted), unquoted(f.list[k-1].quoted)) < 0; k-- {
			f.list[k], f.list[k-1] = f.list[k-1], f.list[k]
		}
	}
}

func unquoted(quoted []byte) []byte { return quoted[1 : len(quoted)-1] }

// AppendIndent appends an indented value: two spaces for each level, one space after a colon, and empty containers
// without a space. depth is the level of the value.
func AppendIndent(dst []byte, v json.RawMessage, depth int) []byte {
	return Layout{Indent: "  ", depth: depth}.Append(dst, v)
}

// AppendCanonical appends the canonical form of a value. It has no white space, members in the byte order of their
// names, and strings with as few escapes as possible. Numbers are copied.
func AppendCanonical(dst []byte, v json.RawMessage) []byte {
	return Layout{Sorted: true, Quote: appendCanonicalString}.Append(dst, v)
}

// Equal reports whether two values are equal, regardless of white space, escapes and the order
// of members.
func Equal(a, b json.RawMessage) bool {
	return bytes.Equal(AppendCanonical(nil, a), AppendCanonical(nil, b))
}

// A Layout determines how a value is written. The zero value writes compact JSON, in which each name is unique in its
// object.
type Layout struct {
	Indent string // white space of one level; "" writes everything on one line
	Sorted bool   // members in the byte order of their names
	// Quote appends a string, which is in quotes. nil: strings are copied, and names are written as by [AppendString].
	Quote func(dst, quoted []byte) []byte
	depth int
}

func (l Layout) newline(dst []byte) []byte {
	if l.Indent != "" {
		dst = append(dst, '\n')
		for range l.depth {
			dst = append(dst, l.Indent...)
		}
	}
	return dst
}

func (l Layout) quote(dst, quoted []byte) []byte {
	if l.Quote == nil {
		return append(dst, quoted...)
	}
	return l.Quote(dst, quoted)
}

// Append appends a value. Numbers are copied.
func (l Layout) Append(dst []byte, v json.RawMessage) []byte {
	v = SkipSpace(v)
	inner := l
	inner.depth++
	switch KindOf(v) {
	case Object:
		var few fewMembers
		list := few.list[:]
		if few.read(v) {
			if list = list[:few.n]; l.Sorted {
				few.sort()
			}
		} else {
			list = manyMembers(v, l.Sorted)
		}
		dst = append(dst, '{')
		for i := range list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(l.quote(inner.newline(dst), list[i].quoted), ':')
			if l.Indent != "" {
				dst = append(dst, ' ')
			}
			dst = inner.Append(dst, list[i].value)
		}
		if len(list) > 0 {
			dst = l.newline(dst)
		}
		return append(dst, '}')
	case Array:
		dst = append(dst, '[')
		empty := true
		for e := range Elements(v) {
			if !empty {
				dst = append(dst, ',')
			}
			empty = false
			dst = inner.Append(inner.newline(dst), e)
		}
		if !empty {
			dst = l.newline(dst)
		}
		return append(dst, ']')
	case String:
		return l.quote(dst, v[:StringEnd(v, 0)])
	}
	return append(dst, bytes.TrimRight(v, " \t\r\n")...)
}

// manyMembers returns the members of any object.
func manyMembers(v json.RawMessage, sorted bool) (list []quotedMember) {
	members := Members(v)
	if sorted {
		slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	}
	for _, m := range members {
		list = append(list, quotedMember{Quote(m.Name), m.Value})
	}
	return list
}

// appendCanonicalString appends a string with as few escapes as possible.
func appendCanonicalString(dst, quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return append(dst, quoted...)
	}
	s, start := unquote(quoted), 0
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		dst = appendEscape(dst, c)
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

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
