package merge

import (
	"encoding/json"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// WRAP-41: text is merged by lines. A capital letter is the person's change. A digit is new in the generated text.
func TestMergeText(t *testing.T) {
	split := func(s string) string { return strings.ReplaceAll(s, " ", "\n") + "\n" }
	for _, c := range []struct {
		base, mine, theirs, want string
		conflicts                int
	}{
		{"a b c", "a b c", "a 1 c", "a 1 c", 0},
		{"a b c", "a B c", "a b c", "a B c", 0},
		{"a b c d e", "a B c d e", "a b c 1 e", "a B c 1 e", 0},
		{"a b c", "a b c D", "1 a b c", "1 a b c D", 0},
		{"a b c", "a c", "a b c 1", "a c 1", 0},
		{"a b c", "a B c", "a 1 c", "a B c", 1},
		{"a b c", "a 1 c", "a 1 c", "a 1 c", 0},
		{"a b c", "A", "1", "A", 1},
		{"a b c d", "a X b c d", "a b c 1 d", "a X b c 1 d", 0},
		{"a b a b", "a b X a b", "a b a b 1", "a b X a b 1", 0},
	} {
		got, conflicts := mergeText(split(c.base), split(c.mine), split(c.theirs))
		if got != split(c.want) || conflicts != c.conflicts {
			t.Errorf("%v: %q, %d", c, got, conflicts)
		}
	}
}

// WRAP-41: JSON by members, whatever the layout.
func TestMergeJSON(t *testing.T) {
	for _, c := range []struct {
		base, mine, theirs, want string
		conflicts                int
	}{
		{`{"a":1,"b":{"c":2}}`, `{"a":1,"b":{"c":3}}`, `{"a":1,"b":{"c":2,"d":4}}`, `{"a":1,"b":{"c":3,"d":4}}`, 0},
		{`{"a":1}`, `{"a":1,"mine":true}`, `{"a":2}`, `{"a":2,"mine":true}`, 0},
		{`{"a":1,"b":2}`, `{"b":2}`, `{"a":1,"b":3}`, `{"b":3}`, 0},
		{`{"a":1,"b":2}`, `{"a":5,"b":2}`, `{"b":2}`, `{"a":5,"b":2}`, 1},
		{`{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":2}`, 1},
		{`{"a":[1]}`, `{ "a": [1] , "x":0}`, `{"a":[1,2]}`, `{"a":[1,2],"x":0}`, 0},
		{`{"a":1.0}`, `{"a":1.0,"x":0}`, `{"a":12345678901234567890}`, `{"a":12345678901234567890,"x":0}`, 0},
	} {
		got, conflicts := mergeJSON(c.base, c.mine, c.theirs)
		if compact := string(rawjson.AppendCompact(nil, json.RawMessage(got))); strings.TrimSpace(compact) != c.want ||
			conflicts != c.conflicts {
			t.Errorf("%v: %s, %d", c, got, conflicts)
		}
	}
	if got, n := mergeJSON("{\n}\n", "not json\n", "{\n\"a\": 1\n}\n"); n == 0 || got != "not json\n" {
		t.Errorf("%q, %d", got, n)
	}
}

// If only one side changed a text, its change is made. The same change of both sides is made once.
func FuzzMerge(f *testing.F) {
	f.Add("a\nb\nc", "a\nB\nc", "a\nb\nd")
	f.Add(`{"a":1}`, `{"a":{}}`, `{"b":[]}`)
	f.Fuzz(func(t *testing.T, base, mine, theirs string) {
		for _, merge := range []func(base, mine, theirs string) (string, int){mergeText, mergeJSON} {
			if got, n := merge(base, base, theirs); got != theirs || n != 0 {
				t.Errorf("mine untouched: %q, %d", got, n)
			}
			if got, n := merge(base, mine, base); got != mine || n != 0 {
				t.Errorf("nothing new: %q, %d", got, n)
			}
			if got, n := merge(base, mine, mine); got != mine || n != 0 {
				t.Errorf("both the same: %q, %d", got, n)
			}
			merge(base, mine, theirs)
		}
	})
}
