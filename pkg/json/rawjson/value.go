package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Kind is the type of a value.
type Kind byte

// The kinds. Invalid is the kind of an empty text.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String returns the name of the kind, as JSON Schema and jq have it.
func (k Kind) String() string {
	return [...]string{"", "null", "boolean", "number", "string", "array", "object"}[k]
}

// KindOf returns the kind of a value.
func KindOf(v json.RawMessage) Kind {
	i := SpaceEnd(v, 0)
	if i == len(v) {
		return Invalid
	}
	switch v[i] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// Absent reports whether a member's value counts as missing: no text, or null.
func Absent(v json.RawMessage) bool {
	k := KindOf(v)
	return k == Invalid || k == Null
}

// A Member is one member of an object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// All yields every member of an object in order, including repeated names. It yields nothing
// for another kind of value.
func All(v json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for name, value := range members(v) {
			if !yield(unquote(name), value) {
				return
			}
		}
	}
}

// members yields names in quotes, so that a search allocates nothing.
func members(v []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		for name, at := range Spans(v) {
			if !yield(name, v[at.From:at.To:at.To]) {
				return
			}
		}
	}
}

// A Span is a part of a text.
type Span struct{ From, To int }

// Spans yields the name of every member of an object, in quotes and with its escapes, and the place of its value.
func Spans(v []byte) iter.Seq2[[]byte, Span] {
	return func(yield func([]byte, Span) bool) {
		i := SpaceEnd(v, 0)
		if i >= len(v) || v[i] != '{' {
			return
		}
		for i = SpaceEnd(v, i+1); i < len(v) && v[i] == '"'; {
			nameEnd := StringEnd(v, i)
			start := SpaceEnd(v, nameEnd)
			start = SpaceEnd(v, min(start+1, len(v)))
			end := ValueEnd(v, start)
			if !yield(v[i:nameEnd], Span{start, end}) {
				return
			}
			i = SpaceEnd(v, end)
			i = SpaceEnd(v, min(i+1, len(v)))
		}
	}
}

// Members returns the members of an object, each name once. It returns nil for another kind
// of value or an empty object.
func Members(v json.RawMessage) []Member {
	var list []Member
	var index map[string]int // only for long lists
	for name, value := range All(v) {
		at, found := index[name]
		if index == nil {
			at = slices.IndexFunc(list, func(m Member) bool { return m.Name == name })
			found = at >= 0
		}
		if found {
			list[at].Value = value
			continue
		}
		if list == nil {
			list = make([]Member, 0, 4) // enough for most objects
		}
		list = append(list, Member{name, value})
		if index != nil {
			index[name] = len(list) - 1
		} else if len(list) == 32 {
			index = make(map[string]int, 64)
			for k := range list {
				index[list[k].Name] = k
			}
		}
	}
	return list
}

// Get returns the value of an object's member, or nil.
func Get(v json.RawMessage, name string) json.RawMessage {
	var found json.RawMessage
	for quoted, value := range members(v) {
		if NameIs(quoted, name) {
			found = value
		}
	}
	return found
}

// With returns an object in which a member has a value. A new member is the last one. A nil value removes the member.
func With(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	var b Builder
	b.Object()
	done := value == nil
	for _, m := range Members(object) {
		if m.Name == name {
			m.Value, done = value, true
		}
		if m.Value != nil {
			b.Name(m.Name).Raw(m.Value)
		}
	}
	if !done {
		b.Name(name).Raw(value)
	}
	return b.End().Bytes()
}

// Nested returns a value in nested objects, one for each name, the outermost first.
func Nested(value json.RawMessage, names ...string) json.RawMessage {
	for _, name := range slices.Backward(names) {
		var b Builder
		value = b.Object().Name(name).Raw(value).End().Bytes()
	}
	return value
}

// Path follows the names of members through nested objects. It returns nil if one is
// missing.
func Path(v json.RawMessage, names ...string) json.RawMessage {
	for _, name := range names {
		if v = Get(v, name); v == nil {
			return nil
		}
	}
	return v
}

// NameIs reports whether a member's name equals name. quoted is the name as it is in the
// text.
func NameIs(quoted []byte, name string) bool {
	if len(quoted) == len(name)+2 {
		return string(quoted[1:len(quoted)-1]) == name
	}
	// A name with escapes is longer than its content.
	return len(quoted) > len(name)+2 && bytes.IndexByte(quoted, '\\') >= 0 && unquote(quoted) == name
}

// PositiveInt returns an integer above zero, written as a JSON number with digits only or as a string of digits. It
// returns 0 for anything else, and 2147483647 for larger numbers.
func PositiveInt(v json.RawMessage) int {
	digits := string(v)
	if text, ok := Text(v); ok {
		digits = text
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return math.MaxInt32 // the digits are valid, so the error is "out of range"
	}
	return int(n)
}

// Elements yields the elements of an array. It yields nothing for another kind of value.
func Elements(v json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		i := SpaceEnd(v, 0)
		if i >= len(v) || v[i] != '[' {
			return
		}
		for i = SpaceEnd(v, i+1); i < len(v) && v[i] != ']'; {
			end := ValueEnd(v, i)
			if !yield(v[i:end:end]) {
				return
			}
			i = SpaceEnd(v, end)
			i = SpaceEnd(v, min(i+1, len(v)))
		}
	}
}

// Text returns the content of a string value. Half surrogates become U+FFFD.
// ok is false for another kind of value.
func Text(v json.RawMessage) (s string, ok bool) {
	v = SkipSpace(v)
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	return unquote(v[:StringEnd(v, 0)]), true
}

// AppendText appends the content of a string in quotes, like [Text].
func AppendText(dst, quoted []byte) []byte {
	return appendUnquoted(slices.Grow(dst, len(quoted)), unquoted(quoted))
}

// TextOf returns the content of a string member of an object. It returns "" if the member is
// missing or not a string.
func TextOf(v json.RawMessage, name string) string {
	s, _ := Text(Get(v, name))
	return s
}

// True reports whether a value is the literal true.
func True(v json.RawMessage) bool { return string(v) == "true" }

func unquote(quoted []byte) string {
	if len(quoted) < 2 || quoted[len(quoted)-1] != '"' {
		return ""
	}
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	return string(appendUnquoted(make([]byte, 0, len(inner)), inner))
}

func appendUnquoted(dst, inner []byte) []byte {
	for i := 0; i < len(inner); {
		at := bytes.IndexByte(inner[i:], '\\')
		if at < 0 || i+at+1 >= len(inner) {
			return append(dst, inner[i:]...)
		}
		dst = append(dst, inner[i:i+at]...)
		i += at + 1
		c := inner[i]
		i++
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hex4(inner[i:])
			i = min(i+4, len(inner))
			if utf16.IsSurrogate(r) {
				low := rune(utf8.RuneError)
				if i+6 <= len(inner) && inner[i] == '\\' && inner[i+1] == 'u' {
					low = hex4(inner[i+2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

func hex4(b []byte) rune {
	if len(b) < 4 {
		return utf8.RuneError
	}
	r, _ := strconv.ParseUint(string(b[:4]), 16, 32)
	return rune(r)
}

// Each calls f with every member of an object in order. Names are in quotes with their
// escapes, so no copy is made.
func Each(v json.RawMessage, f func(name, value json.RawMessage)) {
	for name, value := range members(v) {
		f(name, value)
	}
}

// IsStrings reports whether a value is an array of strings.
func IsStrings(v json.RawMessage) bool {
	_, ok := Strings(v)
	return ok && !Absent(v)
}

// Strings returns the elements of an array of strings, which can be absent. ok is false for
// any other value.
func Strings(v json.RawMessage) (list []string, ok bool) {
	if KindOf(v) != Array {
		return nil, Absent(v)
	}
	for e := range Elements(v) {
		text, isText := Text(e)
		if !isText {
			return nil, false
		}
		list = append(list, text)
	}
	return list, true
}

// Replacers for the names in a JSON Pointer (RFC 6901).
var (
	ToPointer   = strings.NewReplacer("~", "~0", "/", "~1")
	FromPointer = strings.NewReplacer("~1", "/", "~0", "~")
)

// At returns the value that a JSON Pointer leads to, or the last value on its way that exists.
func At(v json.RawMessage, pointer string) json.RawMessage {
	for _, name := range strings.Split(pointer, "/")[1:] {
		next := Get(v, FromPointer.Replace(name))
		if i, err := strconv.Atoi(name); err == nil && KindOf(v) == Array {
			if list := slices.Collect(Elements(v)); i >= 0 && i < len(list) {
				next = list[i]
			}
		}
		if next == nil {
			break
		}
		v = next
	}
	return v
}

// Position returns the line and column, both from 1, at which piece begins in text. piece
// must be a slice of text, not a copy; otherwise ok is false. A column counts characters.
func Position(text, piece []byte) (line, column int, ok bool) {
	if len(piece) == 0 {
		return 0, 0, false
	}
	for i := 0; i+len(piece) <= len(text); i++ {
		if &text[i] == &piece[0] {
			line, column = positionAt(text, i)
			return line, column, true
		}
	}
	return 0, 0, false
}

func positionAt(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	lines := bytes.Count(before, []byte("\n"))
	if last := bytes.LastIndexByte(before, '\n'); last >= 0 {
		before = before[last+1:]
	} else {
		before = bytes.TrimPrefix(before, ByteOrderMark)
	}
	return lines + 1, utf8.RuneCount(before) + 1
}
