package runtool

import (
	"encoding/json"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// CLI-819: with any words and any schema, the arguments stay a JSON object that has the name of the last word.
func FuzzWords(f *testing.F) {
	f.Add("a=1", "b:=[2]", `{"properties":{"a":{"type":"integer"},"b":{"type":"array"}}}`)
	f.Add("a=x", "a=y", `{"properties":{"a":{"type":"array","items":{"type":["string","null"]}}}}`)
	f.Add("a:={", "-", `{"additionalProperties":false}`)
	f.Fuzz(func(t *testing.T, one, two, schema string) {
		inputSchema, err := rawjson.Check([]byte(schema))
		if err != nil {
			return
		}
		words, _, err := readWords([]string{one, two})
		if err != nil || len(words) == 0 {
			return
		}
		arguments, err := withWords(json.RawMessage("{}"), words, inputSchema)
		if err != nil {
			return
		}
		if v, err := rawjson.Check(arguments); err != nil || rawjson.Get(v, words[len(words)-1].name) == nil {
			t.Errorf("%q, %q: %s, %v", one, two, arguments, err)
		}
	})
}
