package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
)

// P-2200, P-808: forms of the elicitation capability.
func TestElicitationCapability(t *testing.T) {
	for in, want := range map[string][2]bool{
		`{}`:                                   {false, false},
		`{"elicitation":null}`:                 {false, false},
		`{"elicitation":false}`:                {false, false},
		`{"elicitation":{}}`:                   {true, false},
		`{"elicitation":{"other":1}}`:          {true, false},
		`{"elicitation":{"form":{}}}`:          {true, false},
		`{"elicitation":{"url":{}}}`:           {false, true},
		`{"elicitation":{"oob":{}}}`:           {false, true},
		`{"elicitation":{"form":{},"url":{}}}`: {true, true},
	} {
		c := ParseCapabilities(json.RawMessage(in))
		if got := [2]bool{c.ElicitForm, c.ElicitURL}; got != want {
			t.Errorf("%s: form, url = %v, want %v", in, got, want)
		}
	}
}

// P-808, RES-302: the capabilities of a client.
func TestCapabilities(t *testing.T) {
	c := ParseCapabilities(json.RawMessage(`{"sampling":{},"roots":{"listChanged":true},` +
		`"extensions":{"io.modelcontextprotocol/ui":{}}}`))
	if !c.Sampling || !c.Roots || !c.RootsListChanged || !c.UI {
		t.Errorf("%+v", c)
	}
	c = ParseCapabilities(json.RawMessage(`{"sampling":null,"roots":{"listChanged":"true"},` +
		`"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}}`))
	if c.Sampling || !c.Roots || c.RootsListChanged || c.UI {
		t.Errorf("%+v", c)
	}
	c = ParseCapabilities(json.RawMessage(`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["x","text/html;` +
		`profile=mcp-app"]}}}`))
	if !c.UI {
		t.Errorf("%+v", c)
	}
	if c := ParseCapabilities(json.RawMessage(`[1]`)); c.Elicitation() || c.UI {
		t.Errorf("%+v", c)
	}
}

// P-1301, P-1302: names of log levels.
func TestLevels(t *testing.T) {
	for in, want := range map[string]Level{"true": Debug, "1": Debug, "false": Info, "0": Info, "WARNING": Warning,
		"nonsense": Info, "emergency": Emergency} {
		if got := ParseLevelSetting(in); got != want {
			t.Errorf("ParseLevelSetting(%q) = %v", in, got)
		}
	}
	for _, in := range []string{"warn", "trace", "true", ""} {
		if _, ok := ParseLevel(in); ok {
			t.Errorf("ParseLevel(%q) accepted", in)
		}
	}
}

// T-702: the JSON of an error.
func TestErrorJSON(t *testing.T) {
	for _, tc := range []struct {
		err  Error
		want string
	}{
		{Error{Code: -32602, Message: "a \"b\""}, `{"code":-32602,"message":"a \"b\""}`},
		{Error{Code: 1, Message: "m", Data: json.RawMessage(`null`)}, `{"code":1,"message":"m"}`},
		{Error{Code: 1, Message: "m", Data: json.RawMessage(`{"x":1}`)}, `{"code":1,"message":"m","data":{"x":1}}`},
	} {
		if got := string(tc.err.AppendJSON(nil)); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
}

// P-500: Params finds the same members as a search for their names, in the original text and in a copy.
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
		clear(v) // the transport reuses the memory
		for i := range want {
			if got := c.Get(Param(i)); !bytes.Equal(got, want[i]) {
				t.Errorf("%s of the copy is %q, not %q", paramNames[i], got, want[i])
			}
		}
	})
}

// _meta must be an object. WithMeta replaces it.
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

// CF-4: a fault is logged again after a minute, and there are at most 256 faults in a minute.
func TestSparse(t *testing.T) {
	var now time.Duration
	var got []string
	log := sparse(func(_ Level, _, message string) { got = append(got, message) }, func() time.Duration { return now })
	for _, step := range []struct {
		at      time.Duration
		message string
		passes  bool
	}{
		{0, "a", true}, {0, "a", false}, {time.Second, "b", true}, {sparsePause - 1, "a", false}, {sparsePause, "a", true},
		{sparsePause, "b", false}, {2*sparsePause - 1, "a", false},
	} {
		now = step.at
		before := len(got)
		log(Err, "l", step.message)
		if passes := len(got) > before; passes != step.passes {
			t.Errorf("%q at %s: %t", step.message, step.at, passes)
		}
	}
	now = time.Hour
	before := len(got)
	for i := range 2 * sparseMost {
		log(Err, "l", strconv.Itoa(i))
	}
	if n := len(got) - before; n != sparseMost {
		t.Errorf("%d messages in a minute, want %d", n, sparseMost)
	}
}
