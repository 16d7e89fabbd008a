// Package headers checks the HTTP headers that repeat members of a message. They must be equal, so that a proxy that
// reads headers sees the same request as the server (http section 3).
package headers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/feature/tool/paramheader"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/strict64"
)

// The canonical names of the headers of MCP.
const (
	Version   = "Mcp-Protocol-Version"
	Method    = "Mcp-Method"
	Name      = "Mcp-Name"
	Session   = "Mcp-Session-Id"
	LastEvent = "Last-Event-Id"
)

// Equal returns an error if a header does not occur exactly once with this value.
func Equal(h http.Header, name, want string) error {
	got, err := one(h, name)
	if err != nil {
		return err
	}
	return compare(name, got, want)
}

// EqualDecoded is [Equal] for a header whose value can be in the base64 form.
func EqualDecoded(h http.Header, name, want string) error {
	got, err := one(h, name)
	if err != nil {
		return err
	}
	if got, err = decode(got); err != nil {
		return fmt.Errorf("header %s: %w", name, err)
	}
	return compare(name, got, want)
}

func compare(name, got, want string) error {
	if got != want {
		return fmt.Errorf("header %s is %q, but the message has %q", name, shortened(got), shortened(want))
	}
	return nil
}

// one returns the value of a header that occurs once, in printable ASCII.
func one(h http.Header, name string) (string, error) {
	switch values := h[name]; {
	case len(values) == 0:
		return "", fmt.Errorf("header %s is missing", name)
	case len(values) > 1:
		return "", fmt.Errorf("header %s occurs %d times", name, len(values))
	case strings.ContainsFunc(values[0], func(c rune) bool { return c != '\t' && (c < ' ' || c > '~') }):
		return "", fmt.Errorf("header %s contains invalid characters", name)
	default:
		return values[0], nil
	}
}

const prefix, suffix = "=?base64?", "?="

// decode returns the text of a header value, which can be in the base64 form.
func decode(value string) (string, error) {
	coded, ok := strings.CutPrefix(value, prefix)
	if ok {
		coded, ok = strings.CutSuffix(coded, suffix)
	}
	if !ok {
		return value, nil
	}
	text, err := strict64.Std(coded)
	if err != nil || !utf8.Valid(text) {
		return "", fmt.Errorf("invalid base64")
	}
	return string(text), nil
}

func shortened(value string) string {
	const most = 64
	if len(value) > most {
		return value[:most] + "…"
	}
	return value
}

// Accepts reports whether a request accepts a media type. A request without Accept accepts all. The most specific range
// of the header decides, and a range with q=0 is not acceptable (RFC 9110, 12.5.1).
func Accepts(h http.Header, kind, subtype string) (accepted bool) {
	values := h["Accept"]
	if len(values) == 0 {
		return true
	}
	best := 0
	for _, value := range values {
		for more := true; more; {
			var part string
			part, value, more = cut(value, ',')
			n, acceptable := match(part, kind, subtype)
			if n > best {
				best, accepted = n, acceptable
			} else if n == best && n > 0 {
				accepted = accepted || acceptable
			}
		}
	}
	return accepted
}

// match compares a range of Accept with a media type. specific is 0 if they do not match, else 1 and the number of
// names that are not *.
func match(text, kind, subtype string) (specific int, acceptable bool) {
	media, parameters, more := cut(text, ';')
	k, s, _ := strings.Cut(ascii.Trim(media), "/")
	specific = 1
	for _, pair := range [][2]string{{k, kind}, {s, subtype}} {
		switch {
		case ascii.EqualFold(pair[0], pair[1]):
			specific++
		case pair[0] != "*":
			return 0, false
		}
	}
	acceptable = true
	for more {
		var parameter string
		parameter, parameters, more = cut(parameters, ';')
		if name, weight, _ := strings.Cut(ascii.Trim(parameter), "="); ascii.EqualFold(name, "q") {
			decimals, isZero := strings.CutPrefix(weight, "0")
			acceptable = !isZero || strings.Trim(decimals, ".0") != ""
		}
	}
	return specific, acceptable
}

// cut is [strings.Cut], without the separators in quoted strings.
func cut(text string, separator byte) (before, after string, found bool) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == separator && !quoted:
			return text[:i], text[i+1:], true
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		}
	}
	return text, "", false
}

// IsJSON reports whether the body of a request is JSON in UTF-8, without compression.
func IsJSON(h http.Header) bool {
	values := h["Content-Type"]
	if len(values) != 1 {
		return false
	}
	for _, coding := range h["Content-Encoding"] {
		if !ascii.EqualFold(coding, "identity") {
			return false
		}
	}
	if values[0] == "application/json" {
		return true
	}
	media, parameters, more := cut(values[0], ';')
	for more {
		var parameter string
		parameter, parameters, more = cut(parameters, ';')
		name, charset, _ := strings.Cut(ascii.Trim(parameter), "=")
		if ascii.EqualFold(name, "charset") && !ascii.EqualFold(strings.Trim(charset, `"`), "utf-8") {
			return false
		}
	}
	return ascii.EqualFold(ascii.Trim(media), "application/json")
}

// EqualParams returns an error if the headers for arguments of a tool do not repeat these arguments
// (H-442).
func EqualParams(h http.Header, params []paramheader.Param, arguments json.RawMessage) error {
	for _, p := range params {
		if err := equalParam(h, &p, p.Value(arguments)); err != nil {
			return err
		}
	}
	return nil
}

// equalParam compares the header of an argument. argument is nil if it is absent or null.
func equalParam(h http.Header, p *paramheader.Param, argument json.RawMessage) error {
	name := textproto.CanonicalMIMEHeaderKey(p.Header())
	if argument == nil {
		if len(h[name]) > 0 {
			return fmt.Errorf("header %s is present, but the argument is not", name)
		}
		return nil
	}
	switch rawjson.KindOf(argument) {
	case rawjson.String:
		text, _ := rawjson.Text(argument)
		return EqualDecoded(h, name, text)
	case rawjson.Bool:
		return EqualDecoded(h, name, string(argument))
	case rawjson.Number:
	default:
		return fmt.Errorf("header %s cannot repeat an argument that is an object or an array", name)
	}
	got, err := one(h, name)
	if err != nil {
		return err
	}
	if got, err = decode(got); err != nil {
		return fmt.Errorf("header %s: %w", name, err)
	}
	want, safe := paramheader.Integer(string(argument))
	if !safe {
		return fmt.Errorf("header %s repeats %s, which is not an integer that every client can send", name,
			shortened(string(argument)))
	}
	if n, ok := paramheader.Integer(got); !ok || n != want {
		return compare(name, got, string(argument))
	}
	return nil
}
