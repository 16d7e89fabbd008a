package secrets

import (
	"encoding/json"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// maxNested limits how deeply JSON can be nested as strings in JSON. Deeper strings are
// redacted.
const maxNested = 8

// AppendJSON is [Redactor.Text] for a valid JSON value.
func (r *Redactor) AppendJSON(dst []byte, v json.RawMessage) []byte {
	return r.appendValue(dst, v, false, 1)
}

// appendValue appends a JSON value without its secrets. inEnv is true for environment
// variables, whose values are redacted regardless of their names.
func (r *Redactor) appendValue(dst []byte, v json.RawMessage, inEnv bool, nested int) []byte {
	switch rawjson.KindOf(v) {
	case rawjson.Object:
		return r.appendObject(dst, v, inEnv, nested)
	case rawjson.Array:
		return r.appendArray(dst, v, inEnv, nested)
	case rawjson.String:
		text, _ := rawjson.Text(v)
		if shown := r.value(text, nested); shown != text {
			return rawjson.AppendString(dst, shown)
		}
	}
	return append(dst, v...)
}

func (r *Redactor) appendObject(dst []byte, v json.RawMessage, inEnv bool, nested int) []byte {
	members := rawjson.Members(v)
	hasValue, isSecret := false, false // {"name":"TOKEN","value":"x"}
	for _, m := range members {
		text, _ := rawjson.Text(m.Value)
		hasValue = hasValue || strings.EqualFold(m.Name, "value")
		isSecret = isSecret || r.isName(text) && (strings.EqualFold(m.Name, "name") || strings.EqualFold(m.Name, "key"))
	}
	b := rawjson.Over(dst)
	b.Object()
	for _, m := range members {
		kind := rawjson.KindOf(m.Value)
		isScalar := kind != rawjson.Object && kind != rawjson.Array
		b.Name(cut(m.Name, append(r.known(m.Name), tokens(m.Name)...)))
		switch {
		case r.isName(m.Name) && !(kind == rawjson.Number && isCount(m.Name)),
			isSecret && strings.EqualFold(m.Name, "value"),
			inEnv && isScalar && !(hasValue && strings.EqualFold(m.Name, "name")):
			b.String(redacted)
		default:
			env := !isScalar && (inEnv || isEnvironment(m.Name))
			b.Append(func(dst []byte) []byte { return r.appendValue(dst, m.Value, env, nested) })
		}
	}
	return b.End().Bytes()
}

// appendArray appends a list of values, of variables (NAME=value), of the words of a command
// line, or of a header and its value.
func (r *Redactor) appendArray(dst []byte, v json.RawMessage, inEnv bool, nested int) []byte {
	b := rawjson.Over(dst)
	b.Array()
	before := ""
	for e := range rawjson.Elements(v) {
		text, _ := rawjson.Text(e)
		name, _, isVariable := strings.Cut(text, "=")
		kind := rawjson.KindOf(e)
		isScalar := kind != rawjson.Object && kind != rawjson.Array
		switch {
		case inEnv && isVariable:
			b.String(name + "=" + redacted)
		case isScalar && (inEnv || (isFlag(before) || isHeader(before)) && r.isName(before)),
			isUserFlag(before) && strings.Contains(text, ":"):
			b.String(redacted)
		default:
			b.Append(func(dst []byte) []byte { return r.appendValue(dst, e, inEnv, nested) })
		}
		before = text
	}
	return b.End().Bytes()
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
		return bearer + redacted
	case isThreeParts(text):
		return redacted
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
