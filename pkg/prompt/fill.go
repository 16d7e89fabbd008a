package prompt

import (
	"encoding/json"
	"strings"

	"mcp-bash/pkg/rawjson"
)

// values are the arguments that can stand in a text (PR-5).
type values map[string]string

func valuesOf(arguments json.RawMessage) values {
	v := values{}
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

// fill replaces every {{name}} of a known name by its value, in one pass and
// literally (PR-5, PR-6). Everything else stays as it is.
func (v values) fill(template string) string {
	var b strings.Builder
	for {
		open := strings.Index(template, "{{")
		if open < 0 {
			break
		}
		b.WriteString(template[:open])
		template = template[open:]
		end := strings.Index(template, "}}")
		if end > 0 && isName(template[2:end]) {
			if value, ok := v[template[2:end]]; ok {
				b.WriteString(value)
				template = template[end+2:]
				continue
			}
		}
		b.WriteByte('{') // a name may still begin at the next brace
		template = template[1:]
	}
	b.WriteString(template)
	return b.String()
}

func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
