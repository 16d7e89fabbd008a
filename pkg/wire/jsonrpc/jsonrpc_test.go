package jsonrpc

import (
	"encoding/json"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// P-401, P-402, P-500 steps 1 to 7.
func TestParse(t *testing.T) {
	for _, tc := range []struct {
		line   string
		shape  Shape
		fault  Fault
		id     string
		method string
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, Request, None, "1", "ping"},
		{`{"id":"a\u0041","method":"x/y","params":[1]}`, Request, None, `"a\u0041"`, "x/y"},
		{`{"jsonrpc":"2.0","method":"ping"}`, Notification, None, "", "ping"},
		{`{"jsonrpc":"2\u002e0","id":1,"met\u0068od":"pin\u0067"}`, Request, None, "1", "ping"},
		{`{"id":1,"id":2,"method":"ping","method":"exit"}`, Request, None, "2", "exit"},
		{`{"id":1,"result":{}}`, Response, None, "1", ""},
		{`{"id":1,"error":{"code":1}}`, Response, None, "1", ""},
		{`{"id":1,"method":"ping","result":{}}`, Request, None, "1", "ping"},
		{`{"id":1,"method":7,"result":{}}`, Invalid, NoMethod, "1", ""},
		{`[]`, Batch, None, "", ""},
		{`1`, Invalid, NoMethod, "", ""}, {`"x"`, Invalid, NoMethod, "", ""}, {`null`, Invalid, NoMethod, "", ""},
		{`{}`, Invalid, NoMethod, "", ""},
		{`{"id":1}`, Invalid, NoMethod, "1", ""},
		{`{"id":1,"method":""}`, Invalid, NoMethod, "1", ""},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, Invalid, BadVersion, "1", "ping"},
		{`{"jsonrpc":2.0,"id":1,"method":"ping"}`, Invalid, BadVersion, "1", "ping"},
		{`{"jsonrpc":"1.0","method":"ping"}`, Notification, BadVersion, "", "ping"},
		{`{"id":null,"method":"ping"}`, Invalid, BadID, "", "ping"},
		{`{"id":{},"method":"ping"}`, Invalid, BadID, "", "ping"},
		{`{"id":true,"method":"ping"}`, Invalid, BadID, "", "ping"},
		{`{"id":1,"method":"ping","params":"x"}`, Invalid, BadParams, "1", "ping"},
		{`{"method":"ping","params":7}`, Notification, BadParams, "", "ping"},
		{`{"id":1,"method":"ping","params":null}`, Request, None, "1", "ping"},
	} {
		m, err := Parse([]byte(tc.line))
		if err != nil {
			t.Errorf("%s: %v", tc.line, err)
			continue
		}
		if m.Shape != tc.shape || m.Fault != tc.fault || string(m.ID) != tc.id || m.Method != tc.method {
			t.Errorf("%s: shape %d fault %d id %s method %q", tc.line, m.Shape, m.Fault, m.ID, m.Method)
		}
	}
	for line, want := range map[string]error{`{"a":1} x`: errSyntax, "{\"a\":\x00}": errSyntax,
		"{\"a\":\"\xff\"}": ErrUTF8, `{`: errSyntax} {
		if _, err := Parse([]byte(line)); err != want {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// P-1601: equal and different ids.
func TestIDKey(t *testing.T) {
	key := func(s string) string { return ID(s).Key() }
	for _, same := range [][2]string{{`1`, `1.0`}, {`"a"`, `"\u0061"`}, {`100`, `1e2`}, {`-0`, `0`}} {
		if key(same[0]) != key(same[1]) {
			t.Errorf("%s and %s differ", same[0], same[1])
		}
	}
	for _, other := range [][2]string{{`1`, `"1"`}, {`12345678901234567890123`, `12345678901234567890124`},
		{`1.5`, `1`}, {`"n1"`, `1`}} {
		if key(other[0]) == key(other[1]) {
			t.Errorf("%s and %s are the same", other[0], other[1])
		}
	}
}

// P-501, P-401: the text of responses and notifications.
func TestReplies(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{string(AppendResult(nil, ID(`1.50`), nil)), "{\"jsonrpc\":\"2.0\",\"id\":1.50,\"result\":{}}\n"},
		{string(AppendError(nil, nil, func(dst []byte) []byte { return append(dst, `{"code":1}`...) })),
			"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1}}\n"},
		{string(AppendError(nil, ID(`"x"`), func(dst []byte) []byte { return append(dst, `{"code":1}`...) })),
			"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":1}}\n"},
		{string(AppendNotification(nil, "n", json.RawMessage(`{}`))),
			"{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}\n"},
		{string(AppendRequest(nil, 7, "roots/list", nil)),
			"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}\n"},
	} {
		if tc.got != tc.want {
			t.Errorf("%q, want %q", tc.got, tc.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}`,
		`[{"id":1,"method":"ping"},[]]`, `{"id":"\ud800","result":null}`, `{"id":1e400,"method":"\u0000"}`, `{"a`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := Parse(line)
		if err != nil {
			return
		}
		if len(m.ID) > 0 {
			m.ID.Key()
			reply := AppendResult(nil, m.ID, nil)
			again, err := Parse(reply)
			if err != nil || again.Shape != Response || again.ID.Key() != m.ID.Key() {
				t.Fatalf("%q is answered by %q: %v", line, reply, err)
			}
		}
		for e := range rawjson.Elements(m.Array) {
			Classify(e)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"hello","arguments":{"name":"World",` +
		`"count":3}}}`)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}
