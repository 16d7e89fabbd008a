package wire

import "testing"

func TestChecker(t *testing.T) {
	c := NewChecker()
	c.Sent([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`))
	c.Sent([]byte(`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`))
	c.Sent([]byte(`[{"id":2,"method":"ping"},3]`))
	for _, tc := range []struct {
		line string
		ok   bool
	}{
		{`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x",` +
			`"version":"1"}}}`, true},
		{`{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}`, false},
		{`{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}}`, true},
		{`{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"x"}]}}`, false},
		{`{"jsonrpc":"2.0","id":2,"result":{}}`, true},
		{`{"jsonrpc":"2.0","id":3,"result":{}}`, false},
		{`{"jsonrpc":"2.0","id":7,"result":{}}`, false},
		{`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}`, true},
		{`{"jsonrpc":"2.0","id":7,"error":{"message":"m"}}`, false},
		{`{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}`, true},
		{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`, true},
		{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2,"total":null}}`,
			false},
		{`{"jsonrpc": "2.0","method":"x"}`, false},
		{`{"method":"x"}`, false},
		{`nonsense`, false},
	} {
		if err := c.Received([]byte(tc.line + "\n")); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.line, err)
		}
	}
	const task = `"taskId":"x","status":"working","createdAt":"2026-01-01T00:00:00Z",` +
		`"lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null,"pollIntervalMs":1000`
	meta := `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`
	for id, method := range map[string]string{"20": "tools/list", "21": "tools/call", "22": "tools/list",
		"23": "tools/call", "24": "tools/call", "25": "tools/call", "26": "tools/call",
		"27": "tasks/get"} {
		c.Sent([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + meta + `}`))
	}
	for _, tc := range []struct {
		line string
		ok   bool
	}{
		{`{"jsonrpc":"2.0","id":20,"result":{"resultType":"complete","tools":[],"ttlMs":1,"cacheScope":"public"}}`, true},
		{`{"jsonrpc":"2.0","id":20,"result":{"resultType":"complete","tools":[],"cacheScope":"public"}}`, false},
		{`{"jsonrpc":"2.0","id":20,"result":{"tools":[],"ttlMs":1,"cacheScope":"public"}}`, false},
		{`{"jsonrpc":"2.0","id":21,"result":{"resultType":"input_required","requestState":"x"}}`, true},
		{`{"jsonrpc":"2.0","id":22,"result":{"resultType":"input_required","requestState":"x"}}`, false},
		{`{"jsonrpc":"2.0","id":23,"result":{"resultType":"task"}}`, false},
		{`{"jsonrpc":"2.0","id":23,"result":{"resultType":"task",` + task + `}}`, true},
		{`{"jsonrpc":"2.0","id":23,"result":{"resultType":"task",` + task + `,"requestState":"x"}}`, false},
		{`{"jsonrpc":"2.0","id":27,"result":{"resultType":"complete",` + task + `}}`, true},
		{`{"jsonrpc":"2.0","id":27,"result":{"resultType":"complete",` + task + `,"result":{}}}`, false},
		{`{"jsonrpc":"2.0","id":27,"result":{"resultType":"task",` + task + `}}`, false},
		{`{"jsonrpc":"2.0","id":24,"error":{"code":-32602,"message":"m"}}`, true},
		{`{"jsonrpc":"2.0","id":25,"error":{"code":-32002,"message":"m"}}`, false},
		{`{"jsonrpc":"2.0","id":26,"error":{"code":-32021,"message":"m"}}`, false},
		{`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{` +
			`"io.modelcontextprotocol/subscriptionId":1}}}`, false},
	} {
		if err := c.Received([]byte(tc.line + "\n")); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.line, err)
		}
	}
	if c.Received([]byte(`{"jsonrpc":"2.0","method":"x"}`)) == nil {
		t.Error("a line without its end is accepted")
	}
}
