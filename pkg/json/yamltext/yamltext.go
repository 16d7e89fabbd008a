// Package yamltext writes JSON values as YAML that people edit.
package yamltext

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"mcp-bash/pkg/json/rawjson"
)

// maxFlow limits the length of a list on one line.
const maxFlow = 80

// AppendMembers appends the members of an object as lines, each indented by a number of spaces.
func AppendMembers(dst []byte, object json.RawMessage, indent int) []byte {
	for name, value := range rawjson.All(object) {
		dst = append(dst, strings.Repeat(" ", indent)...)
		dst = append(appendScalar(dst, rawjson.Quote(name)), ':')
		dst = appendValue(dst, value, indent)
	}
	return dst
}

// appendValue appends a value after its key, with a line feed at the end.
func appendValue(dst []byte, v json.RawMessage, indent int) []byte {
	text, isText := rawjson.Text(v)
	switch kind := rawjson.KindOf(v); {
	case kind == rawjson.Object && len(rawjson.Members(v)) > 0:
		return AppendMembers(append(dst, '\n'), v, indent+2)
	case kind == rawjson.Array && (len(v) > maxFlow || strings.ContainsAny(string(v), "{")):
		dst = append(dst, '\n')
		for e := range rawjson.Elements(v) {
			dst = append(dst, strings.Repeat(" ", indent+2)...)
			dst = append(appendFlow(append(dst, "- "...), e), '\n')
		}
		return dst
	case kind == rawjson.Array || kind == rawjson.Object:
		return append(appendFlow(append(dst, ' '), v), '\n')
	case isText && isBlock(text):
		return appendBlock(dst, text, indent+2)
	}
	return append(appendScalar(append(dst, ' '), v), '\n')
}

// appendFlow appends a value on one line.
func appendFlow(dst []byte, v json.RawMessage) []byte {
	separator := ""
	switch rawjson.KindOf(v) {
	case rawjson.Array:
		dst = append(dst, '[')
		for e := range rawjson.Elements(v) {
			dst = appendFlow(append(dst, separator...), e)
			separator = ", "
		}
		return append(dst, ']')
	case rawjson.Object:
		dst = append(dst, '{')
		for name, member := range rawjson.All(v) {
			dst = appendScalar(append(dst, separator...), rawjson.Quote(name))
			dst = appendFlow(append(dst, ": "...), member)
			separator = ", "
		}
		return append(dst, '}')
	}
	return appendScalar(dst, v)
}

// plain matches texts that need no quotes: words, which no version of YAML takes for another type.
var plain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_./-]*( [A-Za-z0-9_./()-]+)*[.!?]?$`)
})

// IsWord reports whether a version of YAML takes a text for another type.
func IsWord(text string) bool {
	return strings.Contains(" true false yes no on off y n null ", " "+strings.ToLower(text)+" ")
}

func appendScalar(dst []byte, v json.RawMessage) []byte {
	text, isText := rawjson.Text(v)
	switch {
	case !isText:
		return append(dst, v...)
	case plain().MatchString(text) && !IsWord(text):
		return append(dst, text...)
	}
	return append(dst, Quote(text)...)
}

// Quote writes a text in double quotes, without characters that YAML does not permit.
func Quote(text string) string {
	var b strings.Builder
	for _, r := range string(rawjson.Quote(text)) {
		if isPlain(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// isPlain reports whether a character can be written as it is.
func isPlain(r rune) bool {
	return r >= ' ' && r <= '~' || r >= 0xa0 && r != 0x2028 && r != 0x2029 && r != 0xfeff && r != 0xfffe && r != 0xffff
}

// isBlock reports whether a text has several lines that can be written as they are.
func isBlock(text string) bool {
	return strings.Contains(strings.TrimSuffix(text, "\n"), "\n") && !strings.HasPrefix(text, " ") &&
		!strings.HasPrefix(text, "\n") && !strings.HasSuffix(text, "\n\n") &&
		!strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !isPlain(r) })
}

// appendBlock appends a text of several lines as a literal.
func appendBlock(dst []byte, text string, indent int) []byte {
	header := " |\n"
	if !strings.HasSuffix(text, "\n") {
		header = " |-\n"
	}
	dst = append(dst, header...)
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if line != "" {
			dst = append(append(dst, strings.Repeat(" ", indent)...), line...)
		}
		dst = append(dst, '\n')
	}
	return dst
}
