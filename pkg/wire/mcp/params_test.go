package mcp

import (
	"bytes"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// P-500: parameters are the members that a search for their names finds, in the text itself and in a copy of it.
func FuzzParams(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `[]`, `[{"name":"x"}]`, `{}`, `{"name":"x"}`, ` { "na\u006de" : "x" , "uri":null} `,
		`{"name":"first","name":"last","_meta":{"progressToken":1},"arguments":{"name":"inner"}}`, `{"_meta":7,"limit":"5"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := rawjson.Check([]byte(text))
		if err != nil {
			v = nil
		}
		p := ReadParams(v)
		c := p.Clone()
		want := make([][]byte, paramCount)
		for i := range want {
			want[i] = bytes.Clone(rawjson.Get(v, paramNames[i]))
			if got := p.Get(Param(i)); !bytes.Equal(got, want[i]) {
				t.Errorf("%s is %q, not %q", paramNames[i], got, want[i])
			}
		}
		clear(v) // the transport reads the next message into it
		for i := range want {
			if got := c.Get(Param(i)); !bytes.Equal(got, want[i]) {
				t.Errorf("%s of the copy is %q, not %q", paramNames[i], got, want[i])
			}
		}
	})
}

// Only an object is a _meta, and a changed one replaces it.
func TestMeta(t *testing.T) {
	for text, want := range map[string]string{`{"_meta":{"a":1}}`: `{"a":1}`, `{"_meta":[]}`: "", `{}`: ""} {
		p := ReadParams([]byte(text))
		if got := string(p.Meta()); got != want {
			t.Errorf("%s: %s", text, got)
		}
		if p = p.WithMeta([]byte(`{"b":2}`)); string(p.Raw) != `{"_meta":{"b":2}}` || string(p.Meta()) != `{"b":2}` {
			t.Errorf("%s: changed to %s", text, p.Raw)
		}
	}
}
