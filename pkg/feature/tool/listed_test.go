package tool

import (
	"encoding/json"
	"testing"
)

// the entry of a tool in tools/list.
func TestAppendListed(t *testing.T) {
	for _, tc := range []struct {
		item string
		any  bool
		want string
	}{
		{`{"name":"a","description":"","path":"a/tool.sh","inputSchema":{"type":"object","properties":{}},` +
			`"timeoutSecs":null}`, false,
			`{"name":"a","description":"","path":"a/tool.sh","inputSchema":{"type":"object","properties":{}}}`},
		{`{"name":"a","timeoutSecs":5,"outputSchema":{"type":"array"},"requires":["sampling"],"validateInput":true,"x":1}`,
			false, `{"name":"a","timeoutSecs":5,"x":1}`},
		{`{"name":"a","outputSchema":{"type":"array"}}`, true, `{"name":"a","outputSchema":{"type":"array"}}`},
		{`{"name":"a","outputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://x"}}}`, false,
			`{"name":"a","outputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://x"}}}`},
		{`{"name":"a","version":"1.2.0","capabilities":["Network"],"securityLevel":"full","_meta":{"k":1}}`, false,
			`{"name":"a","_meta":{"k":1,"mcpbash/tool":{"id":"a","version":"1.2.0","capabilities":["Network"]}}}`},
		{`{"name":"a","trial":{"words":["-h"]}}`, false, `{"name":"a"}`},
		{`{"name":"a","id":"b"}`, false, `{"name":"a","_meta":{"mcpbash/tool":{"id":"b"}}}`},
	} {
		if got := string(AppendListed(nil, json.RawMessage(tc.item), tc.any)); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.item, got, tc.want)
		}
	}
}
