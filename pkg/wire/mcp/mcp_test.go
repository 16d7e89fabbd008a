package mcp

import (
	"encoding/json"
	"testing"
)

// P-2200, P-808.
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

// P-808, RES-302.
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

// P-1301, P-1302.
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

// T-702.
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
