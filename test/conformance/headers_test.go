package main

import (
	"net/http"
	"strings"
	"testing"
)

// The headers of a request must agree with its body.
func TestHeaders(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	const list = `{"id":1,"method":"tools/list","params":{` + meta + `}}`
	call := func(name, arguments string) string {
		return `{"id":1,"method":"tools/call","params":{"name":` + name + `,"arguments":` + arguments + `,` + meta + `}}`
	}
	const calling = "Mcp-Protocol-Version:2026-07-28|Mcp-Method:tools/call|Mcp-Name:a"
	marked := parameters([]byte(`{"properties":{"s":{"x-mcp-header":"S"},"plain":{},"o":{"properties":{` +
		`"n":{"x-mcp-header":"N"},"b":{"x-mcp-header":"B"}}}},"anyOf":[{"properties":{"c":{"x-mcp-header":"C"}}}]}`))
	for name, tc := range map[string]struct{ headers, body, want string }{
		"fine":              {"Mcp-Protocol-Version:2026-07-28|Mcp-Method:tools/list", list, ""},
		"no version":        {"Mcp-Method:tools/list", list, "Mcp-Protocol-Version must be there once"},
		"another version":   {"Mcp-Protocol-Version:2025-11-25|Mcp-Method:tools/list", list, "MCP-Protocol-Version is"},
		"body names none":   {"Mcp-Protocol-Version:2025-11-25|Mcp-Method:x", `{"id":1,"method":"x"}`, ""},
		"no method":         {"Mcp-Protocol-Version:2026-07-28", list, "Mcp-Method must be there"},
		"another method":    {"Mcp-Protocol-Version:2026-07-28|Mcp-Method:Tools/list", list, "Mcp-Method is"},
		"method twice":      {"Mcp-Protocol-Version:2026-07-28|Mcp-Method:tools/list|Mcp-Method:tools/list", list, "once"},
		"not ASCII":         {"Mcp-Protocol-Version:2026-07-28|Mcp-Method:tools/list\u00e9", list, "printable ASCII"},
		"name":              {calling, call(`"a"`, `{}`), ""},
		"no name":           {strings.TrimSuffix(calling, "|Mcp-Name:a"), call(`"a"`, `{}`), "Mcp-Name must be there"},
		"another name":      {calling, call(`"b"`, `{}`), "Mcp-Name is"},
		"no name in body":   {strings.TrimSuffix(calling, "|Mcp-Name:a"), call(`5`, `{}`), ""},
		"encoded name":      {calling[:len(calling)-1] + "=?base64?w6Q=?=", call(`"ä"`, `{}`), ""},
		"badly encoded":     {calling[:len(calling)-1] + "=?base64?w6Q?=", call(`"ä"`, `{}`), "no Base64"},
		"not encoded":       {calling[:len(calling)-1] + "=?base64?w6Q=", call(`"=?base64?w6Q="`, `{}`), ""},
		"parameter":         {calling + "|Mcp-Param-S:x", call(`"a"`, `{"s":"x","plain":"y","c":"z"}`), ""},
		"another parameter": {calling + "|Mcp-Param-S:y", call(`"a"`, `{"s":"x"}`), "Mcp-Param-S is"},
		"no parameter":      {calling, call(`"a"`, `{"s":"x"}`), "Mcp-Param-S must be there"},
		"null parameter":    {calling, call(`"a"`, `{"s":null}`), ""},
		"number":            {calling + "|Mcp-Param-N:42.0", call(`"a"`, `{"o":{"n":42}}`), ""},
		"another number":    {calling + "|Mcp-Param-N:4", call(`"a"`, `{"o":{"n":42}}`), "Mcp-Param-N is"},
		"boolean":           {calling + "|Mcp-Param-B:true", call(`"a"`, `{"o":{"b":true}}`), ""},
		"another boolean":   {calling + "|Mcp-Param-B:True", call(`"a"`, `{"o":{"b":true}}`), "Mcp-Param-B is"},
	} {
		h := http.Header{}
		for pair := range strings.SplitSeq(tc.headers, "|") {
			key, value, _ := strings.Cut(pair, ":")
			h.Add(key, value)
		}
		err := checkHeaders(h, read([]byte(tc.body)), marked)
		if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
