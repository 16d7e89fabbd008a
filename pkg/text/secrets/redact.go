// Package secrets recognizes secrets. It recognizes names of secrets in JSON, headers,
// variables and command lines, and the format of tokens and private keys. [Redactor] keeps
// secrets out of logs, and [Scan] finds them in files.
//
// It does not recognize a secret that has neither such a name nor such a format.
package secrets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/ascii"
)

// Redacted replaces a secret.
const Redacted = "**redacted**"

// A Redactor removes secrets from texts that are stored or shown. The zero value is ready to
// use. It is safe for concurrent use.
type Redactor struct {
	Names  []string // more names of secrets, case-insensitive
	Values []string // known secrets
}

// Text is [Redactor.Text] of the zero value.
func Text(text string) string { return new(Redactor).Text(text) }

// Text returns a text without its secrets. It can be a message, a command line, headers,
// URLs, variables or JSON. The result of valid JSON is valid JSON. If the end of a secret is
// unclear, Text redacts too much rather than too little.
func (r *Redactor) Text(text string) string { return r.text(text, 0) }

func (r *Redactor) text(text string, nested int) string {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if v, err := rawjson.Check([]byte(text)); err == nil {
			if nested == maxNested {
				return Redacted
			}
			return string(r.appendJSON(nil, v, nested+1))
		}
	}
	spans := slices.Concat(r.known(text), tokens(text), privateKeys(text), puttyKeys(text), r.named(text))
	return cut(text, spans)
}

// Logins returns a text without the users and passwords in its URLs. Other secrets stay.
func Logins(text string) string {
	const mark = "://"
	var spans []span
	for at := 0; ; at += len(mark) {
		found := strings.Index(text[at:], mark)
		if found < 0 {
			return cut(text, spans)
		}
		at += found
		start := at
		for start > 0 && isNameByte(text[start-1]) {
			start--
		}
		if s, ok := userInfo(text, text[start:at], at+len(mark)); ok {
			spans = append(spans, s)
		}
	}
}

// known returns the positions of known secrets.
func (r *Redactor) known(text string) (spans []span) {
	for _, value := range r.Values {
		for at := 0; value != ""; {
			found := strings.Index(text[at:], value)
			if found < 0 {
				break
			}
			spans = append(spans, span{start: at + found, end: at + found + len(value)})
			at += found + len(value)
		}
	}
	return spans
}

// cut replaces parts of a text, which can overlap.
func cut(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	at := 0
	for i := 0; i < len(spans); {
		start, end := spans[i].start, spans[i].end
		for i++; i < len(spans) && spans[i].start < end; i++ {
			end = max(end, spans[i].end)
		}
		b.WriteString(text[at:start])
		b.WriteString(Redacted)
		at = end
	}
	b.WriteString(text[at:])
	return b.String()
}

func (r *Redactor) isName(name string) bool {
	return isSecretName(name) || slices.ContainsFunc(r.Names, func(n string) bool { return strings.EqualFold(n, name) })
}

// named returns the positions of values that a text assigns to names of secrets, as in
// TOKEN=x, --token x, token: x, "token":"x" and ?token=x. It also returns credentials
// without a name.
func (r *Redactor) named(text string) (spans []span) {
	for i := 0; i < len(text); {
		if !isNameByte(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && isNameByte(text[i]) {
			i++
		}
		name := text[start:i]
		s, ok := r.assigned(text, start, i)
		switch {
		case ok:
			i = s.end
		case strings.EqualFold(name, "bearer") || strings.EqualFold(name, "basic"):
			s, ok = credentials(text, i, strings.EqualFold(name, "basic"))
		case strings.HasPrefix(text[i:], "://"):
			s, ok = userInfo(text, name, i+len("://"))
		}
		if ok {
			spans = append(spans, s)
		}
	}
	return spans
}

func isNameByte(c byte) bool { return word.has(c) || c == '.' }

// assigned returns the position of the value of the name at start, if it is the name of a
// secret.
func (r *Redactor) assigned(text string, start, end int) (s span, ok bool) {
	name, at := text[start:end], end
	quote := delimiter(text[at:])
	at = skipBlanks(text, at+len(quote), quote != "")
	isColon := strings.HasPrefix(text[at:], ":")
	switch n := len(text[at:]) - len(strings.TrimLeft(text[at:], ":=>")); {
	case n > 0 && text[at] != '>':
		at = skipBlanks(text, at+n, quote != "")
	case !isFlag(name) || quote != "" || at == end:
		return s, false
	}
	switch {
	case isUserFlag(name):
		s = shellWord(text, at)
		colon := strings.IndexByte(text[s.start:s.end], ':')
		s.start += colon + 1
		return s, colon >= 0 && s.start < s.end
	case !r.isName(name), isColon && isPublished(text, start, end):
		return s, false
	}
	rest := text[at:]
	switch open := delimiter(rest); {
	case open != "":
		s = span{start: at + len(open), end: len(text)}
		if last := closing(text[s.start:], open); last >= 0 {
			s.end = s.start + last
		}
	case rest != "" && strings.IndexByte("{[", rest[0]) >= 0, isBlock(rest), start == 0 && !isFlag(name) && !isColon:
		s = span{start: at, end: len(text)} // to the end: more lines can follow
	case isColon && quote != "":
		s = span{start: at, end: at + indexOrEnd(rest, ",}]\r\n")}
	case start > 0 && (text[start-1] == '"' || text[start-1] == '\''): // the quote of 'NAME=value' or "Name: value"
		s = span{start: at, end: shellWord(text, start-1).end}
		if s.end > at && text[s.end-1] == text[start-1] {
			s.end--
		}
	case isColon:
		s = span{start: at, end: at + indexOrEnd(rest, "\r\n")}
	default:
		s = shellWord(text, at)
	}
	return s, s.start < s.end
}

// isBlock reports whether a text is a YAML block: an indicator, then more lines.
func isBlock(text string) bool {
	if text == "" || text[0] != '|' && text[0] != '>' {
		return false
	}
	return strings.HasPrefix(strings.TrimLeft(text[1:], " \t\r+-"), "\n")
}

// isFlag reports whether a word is an option whose value can be the next word.
func isFlag(word string) bool { return strings.HasPrefix(word, "-") && !strings.Contains(word, "=") }

// isUserFlag reports whether a word is an option of curl with the value name:password.
func isUserFlag(word string) bool { return word == "-u" || word == "--user" || word == "--proxy-user" }

// delimiter returns the quote at the beginning of a text, with the backslashes before it.
func delimiter(text string) string {
	n := len(text) - len(strings.TrimLeft(text, `\`))
	if n < len(text) && strings.IndexByte("\"'`", text[n]) >= 0 {
		return text[:n+1]
	}
	return ""
}

// closing returns the index of the end of a text in quotes, or -1. The closing quote has as
// many backslashes as the opening one. A nested quote has one more, and the number of
// backslashes doubles with each level of quotes.
func closing(text, open string) int {
	quote, outside := open[len(open)-1:], len(open)-1
	for at := 0; ; at++ {
		found := strings.Index(text[at:], quote)
		if found < 0 {
			return -1
		}
		at += found
		n := at - len(strings.TrimRight(text[:at], `\`))
		if n >= outside && (n-outside)%(2*(outside+1)) == 0 {
			return at - outside
		}
	}
}

// shellWord returns the word that begins at an offset of a command line. A quote at the
// beginning of the word can close in another line. After any other quote that does not
// close in its line, the word extends to the end of that line.
func shellWord(text string, at int) span {
	end := at
	for end < len(text) && strings.IndexByte(" \t\r\n", text[end]) < 0 {
		switch c := text[end]; c {
		case '\\':
			end++
		case '"', '\'':
			inside := text[end+1:]
			last := closing(inside, text[end:end+1])
			switch {
			case end == at && last < 0:
				return span{start: at, end: len(text)}
			case end > at && (last < 0 || strings.ContainsAny(inside[:last], "\r\n")):
				return span{start: at, end: end + 1 + indexOrEnd(inside, "\r\n")}
			}
			end += 1 + last
		}
		end++
	}
	return span{start: at, end: min(end, len(text))}
}

// credentials returns the position of the credentials after Bearer or Basic.
func credentials(text string, at int, isBasic bool) (s span, ok bool) {
	start := skipBlanks(text, at, false)
	if start == at {
		return s, false
	}
	value := text[start : start+indexOrEnd(text[start:], " \t\r\n\"'`\\")]
	const shortest = 8 // characters of Base64, because "basic" is also an ordinary word
	if isBasic && (len(value) < shortest || !strings.ContainsAny(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=")) {
		return s, false
	}
	return span{start: start, end: start + len(value)}, value != ""
}

// userInfo returns the position of the user and password in a URL whose host begins at an
// offset. A user name without a password is not secret in a URL of SSH.
func userInfo(text, scheme string, at int) (s span, ok bool) {
	const longest = 2048
	rest := text[at:min(at+longest, len(text))]
	if strings.IndexByte(rest, '@') < 0 {
		return s, false
	}
	rest = rest[:indexOrEnd(rest, " \t\r\n\"'`<>\\")]
	authority := rest[:indexOrEnd(rest, "/?#")]
	last := strings.LastIndexByte(authority, '@')
	if _, port, hasPort := strings.Cut(authority, ":"); last < 0 && hasPort && strings.Trim(port, "0123456789") != "" {
		last = strings.LastIndexByte(rest, '@') // the password contains a slash
	}
	if last <= 0 {
		return s, false
	}
	isSSH := strings.EqualFold(scheme, "ssh") || strings.EqualFold(scheme, "sftp")
	return span{start: at, end: at + last}, !isSSH || strings.Contains(rest[:last], ":")
}

// skipBlanks returns the offset after blanks and, if lines is true, line breaks.
func skipBlanks(text string, at int, lines bool) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || lines && (text[at] == '\n' || text[at] == '\r')) {
		at++
	}
	return at
}

func indexOrEnd(text, chars string) int {
	if at := strings.IndexAny(text, chars); at >= 0 {
		return at
	}
	return len(text)
}

// maxNested limits how deeply JSON can be nested as strings in JSON. Deeper strings are
// redacted.
const maxNested = 8

// AppendJSON is [Redactor.Text] for a valid JSON value. It runs for the arguments of every call, so it allocates memory
// at most twice. A secret, a repeated name and JSON in a string need more.
func (r *Redactor) AppendJSON(dst []byte, v json.RawMessage) []byte { return r.appendJSON(dst, v, 1) }

func (r *Redactor) appendJSON(dst []byte, v json.RawMessage, nested int) []byte {
	w := walker{Redactor: r, nested: nested}
	v = rawjson.Normal(v)
	w.texts.Grow(len(v))
	return w.appendValue(dst, v, false)
}

// A walker goes through one JSON value.
type walker struct {
	*Redactor
	nested int
	texts  strings.Builder // memory for all strings, to allocate once
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
	dst = append(dst, '{')
	var p *pair
	for quoted, at := range rawjson.Spans(v) {
		name, value := w.text(quoted), v[at.From:at.To]
		kind := rawjson.KindOf(value)
		isScalar := kind != rawjson.Object && kind != rawjson.Array
		isName, isValue := strings.EqualFold(name, "name"), strings.EqualFold(name, "value")
		if p == nil && (isValue || isName && inEnv) {
			p = w.pair(v)
		}
		dst = rawjson.AppendString(separate(dst), cut(name, append(w.known(name), tokens(name)...)))
		dst = append(dst, ':')
		switch {
		case w.isName(name) && !(kind == rawjson.Number && isCount(name)), isValue && p.isSecret,
			inEnv && isScalar && !(isName && p.hasValue):
			dst = append(dst, quotedRedacted...)
		default:
			dst = w.appendValue(dst, value, !isScalar && (inEnv || isEnvironment(name)))
		}
	}
	return append(dst, '}')
}

// A pair describes an object that gives a value a name: {"name":"TOKEN","value":"x"}.
type pair struct{ hasValue, isSecret bool }

func (w *walker) pair(object json.RawMessage) *pair {
	var p pair
	for quoted, at := range rawjson.Spans(object) {
		name := w.text(quoted)
		p.hasValue = p.hasValue || strings.EqualFold(name, "value")
		p.isSecret = p.isSecret || (strings.EqualFold(name, "name") || strings.EqualFold(name, "key")) &&
			w.isName(w.text(object[at.From:at.To]))
	}
	return &p
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

// value returns the text of a JSON string without its secrets.
func (r *Redactor) value(text string, nested int) string {
	if len(r.Values) == 0 && isShortWord(text) {
		return text
	}
	const bearer = "Bearer "
	if _, ok := ascii.CutPrefixFold(text, bearer); ok {
		return bearer + Redacted
	}
	if isThreeParts(text) {
		return Redacted
	}
	return r.text(text, nested)
}

// isShortWord reports whether a text is a word that is too short for a token, such as most arguments. It has no parts.
// It assigns no value to a name.
func isShortWord(text string) bool {
	for i := range len(text) {
		if c := text[i]; !alnum.has(c) && c != '_' {
			return false
		}
	}
	return len(text) < shortest
}

// isThreeParts reports whether a text has the form of a web token: three parts in Base64,
// separated by dots. A version number consists of digits only, so it is not a token.
func isThreeParts(text string) bool {
	const digits, others = "0123456789.", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
	return strings.Count(text, ".") == 2 && !strings.Contains("."+text+".", "..") &&
		strings.Trim(text, digits) != "" && strings.Trim(text, digits+others) == ""
}
