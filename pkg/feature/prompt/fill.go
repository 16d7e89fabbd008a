package prompt

import (
	"encoding/json"
	"errors"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

type filler struct {
	values map[string]string // arguments that can be inserted (T-805)
	files  *files
	room   budget
}

// A budget is the number of bytes that may still be inserted into a response. It limits the memory
// for templates with many placeholders or files.
type budget struct{ left int }

// take subtracts n bytes. Once the budget is exceeded, it stays so.
func (r *budget) take(n int) error {
	if r.left -= min(n, r.left+1); r.left < 0 {
		return errTooLarge
	}
	return nil
}

var errTooLarge = errors.New("larger than a response may be; see MCPBASH_MAX_TOOL_OUTPUT_SIZE")

func valuesOf(arguments json.RawMessage) map[string]string {
	v := map[string]string{}
	for name, value := range rawjson.All(arguments) {
		switch rawjson.KindOf(value) {
		case rawjson.String:
			v[name], _ = rawjson.Text(value)
		case rawjson.Number, rawjson.Bool:
			v[name] = string(value)
		default:
			delete(v, name)
		}
	}
	return v
}

// fill replaces each {{name}} of a known argument by its value, in one pass and literally (T-805,
// T-806). The error is errTooLarge.
func (f *filler) fill(template string) (string, error) {
	var b strings.Builder
	for {
		open := strings.Index(template, "{{")
		if open < 0 {
			break
		}
		name := nameAt(template[open+2:])
		rest, closed := strings.CutPrefix(template[open+2+len(name):], "}}")
		value, known := f.values[name]
		if !closed || !known || name == "" { // a name may begin at the second brace
			b.WriteString(template[:open+1])
			template = template[open+1:]
			continue
		}
		if err := f.room.take(len(value)); err != nil {
			return "", err
		}
		b.Grow(len(template) + len(value))
		b.WriteString(template[:open])
		b.WriteString(value)
		template = rest
	}
	if b.Len() == 0 {
		return template, nil
	}
	b.WriteString(template)
	return b.String(), nil
}

// nameAt returns the name at the beginning of a text, or "".
func nameAt(s string) string {
	for i, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return s[:i]
		}
	}
	return s
}
