package secrets

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// maxNested limits how deeply JSON can be nested as strings in JSON. Deeper strings are
// redacted.
const maxNested = 8

// AppendJSON is [Redactor.Text] for a valid JSON value. The arguments of every call go through it, so it allocates
// memory at most twice. A secret, a repeated name and JSON in a string need more.
func (r *Redactor) AppendJSON(dst []byte, v json.RawMessage) []byte { return r.appendJSON(dst, v, 1) }

func (r *Redactor) appendJSON(dst []byte, v json.RawMessage, nested int) []byte {
	w := walker{Redactor: r, nested: nested}
	v = rawjson.Normal(v)
	w.texts.Grow(2 * len(v)) // names are read twice
	return w.appendValue(dst, v, false)
}

// A walker goes through one JSON value.
type walker struct {
	*Redactor
	nested int
	texts  strings.Builder // all strings, so that they need no memory each
	plain  []byte          // a string without its escapes
}

// text returns the content of a JSON string, or "" for another kind of value.
func (w *walker) text(v []byte) string {
	if len(v) == 0 || v[0] != '"' {
		return ""
	}
	start := w.texts.Len()
	if bytes.IndexByte(v, '\\') < 0 {
		w.texts.Write(v[1 : len(v)-1])
	} else {
		w.plain = rawjson.AppendText(slices.Grow(w.plain[:0], w.texts.Cap()/2), v)
		w.texts.Write(w.plain)
	}
	return w.texts.String()[start:]
}

// appendValue appends a JSON value without its secrets. inEnv is true for environment
// variables, whose values are redacted regardless of their names.
func (w *walker) appendValue(dst []byte, v json.RawMessage, inEnv bool) []byte {
	switch rawjson.KindOf(v) {
	case rawjson.Object:
		return w.appendObject(dst, v, inEnv)
	case rawjson.Array:
		return w.appendArray(dst, v, inEnv)
	case rawjson.String:
		return w.appendString(dst, v, w.text(v))
	}
	return append(dst, v...)
}

func (w *walker) appendString(dst []byte, v json.RawMessage, text string) []byte {
	if shown := w.value(text, w.nested); shown != text {
		return rawjson.AppendString(dst, shown)
	}
	return append(dst, v...)
}

func (w *walker) appendObject(dst []byte, v json.RawMessage, inEnv bool) []byte {
	hasValue, isSecret := false, false // {"name":"TOKEN","value":"x"}
	for quoted, at := range rawjson.Spans(v) {
		name := w.text(quoted)
		hasValue = hasValue || strings.EqualFold(name, "value")
		isSecret = isSecret || (strings.EqualFold(name, "name") || strings.EqualFold(name, "key")) &&
			w.isName(w.text(v[at.From:at.To]))
	}
	dst = append(dst, '{')
	for quoted, at := range rawjson.Spans(v) {
		name, value := w.text(quoted), v[at.From:at.To]
		kind := rawjson.KindOf(value)
		isScalar := kind != rawjson.Object && kind != rawjson.Array
		dst = rawjson.AppendString(separate(dst), cut(name, append(w.known(name), tokens(name)...)))
		dst = append(dst, ':')
		switch {
		case w.isName(name) && !(kind == rawjson.Number && isCount(name)),
			isSecret && strings.EqualFold(name, "value"),
			inEnv && isScalar && !(hasValue && strings.EqualFold(name, "name")):
			dst = append(dst, quotedRedacted...)
		default:
			dst = w.appendValue(dst, value, !isScalar && (inEnv || isEnvironment(name)))
		}
	}
	return append(dst, '}')
}

const quotedRedacted = `"` + Redacted + `"`

// separate appends the comma between two members or elements.
func separate(dst []byte) []byte {
	if last := dst[len(dst)-1]; last != '{' && last != '[' {
		return append(dst, ',')
	}
	return dst
}

// appendArray appends a list of values, of variables (NAME=value), of the words of a command
// line, or of a header and its value.
func (w *walker) appendArray(dst []byte, v json.RawMessage, inEnv bool) []byte {
	dst = append(dst, '[')
	before := ""
	for e := range rawjson.Elements(v) {
		text := w.text(e)
		name, _, isVariable := strings.Cut(text, "=")
		kind := rawjson.KindOf(e)
		isScalar := kind != rawjson.Object && kind != rawjson.Array
		dst = separate(dst)
		switch {
		case inEnv && isVariable:
			dst = rawjson.AppendString(dst, name+"="+Redacted)
		case isScalar && (inEnv || (isFlag(before) || isHeader(before)) && w.isName(before)),
			isUserFlag(before) && strings.Contains(text, ":"):
			dst = append(dst, quotedRedacted...)
		case kind == rawjson.String:
			dst = w.appendString(dst, e, text)
		default:
			dst = w.appendValue(dst, e, inEnv)
		}
		before = text
	}
	return append(dst, ']')
}

// isHeader reports whether a word has the form of a header's name. In a list, only headers
// are followed by their value.
func isHeader(word string) bool {
	return strings.EqualFold(word, "authorization") || strings.EqualFold(word, "cookie") ||
		strings.Index(word, "-") > 0 && strings.IndexFunc(word, func(r rune) bool {
			return r != '-' && (r >= 0x80 || !alnum.has(byte(r)))
		}) < 0
}

// value returns the text of a JSON string without its secrets (P-2502).
func (r *Redactor) value(text string, nested int) string {
	const bearer = "Bearer "
	switch {
	case len(text) >= len(bearer) && strings.EqualFold(text[:len(bearer)], bearer):
		return bearer + Redacted
	case isThreeParts(text):
		return Redacted
	}
	return r.text(text, nested)
}

// isThreeParts reports whether a text has the form of a web token: three parts in Base64,
// separated by dots. A version number consists of digits only, so it is not a token.
func isThreeParts(text string) bool {
	const digits, others = "0123456789.", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
	return strings.Count(text, ".") == 2 && !strings.Contains("."+text+".", "..") &&
		strings.Trim(text, digits) != "" && strings.Trim(text, digits+others) == ""
}
