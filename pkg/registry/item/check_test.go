package item

import (
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// The result of a check is valid JSON, and a second check finds no faults.
func FuzzSoundSchema(f *testing.F) {
	for _, seed := range []string{
		`{"type":"objct","properties":{"a":"b","c":{"type":["string",5]}}}`,
		`{"allOf":[5,{"items":[{},7]}],"required":["a","a"]}`,
		`{"$defs":{"a":true},"multipleOf":-0.0,"maxLength":1e400}`, `[]`, `true`, `{"a":1,"a":2,"type":"x","type":"null"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseObject([]byte(text))
		if err != nil {
			return
		}
		s := NewSource(Location{"f", "", []byte(text)}, v)
		faults := 0
		c := (&Fields{Reject: func(string, string) { faults++ }}).checker(LeftOut, &s, "s")
		sound := c.offered(c.objectType(v))
		if _, err := rawjson.Check(sound); err != nil {
			t.Fatalf("%q: %v", sound, err)
		}
		if faults == 0 && !strings.Contains(string(v), "type") && !strings.Contains(string(v),
			"properties") && !sameBytes(sound, v) {
			t.Errorf("%q has become %q without a fault", v, sound)
		}
		faults, c.reported = 0, 0
		if again := c.offered(c.objectType(sound)); faults != 0 || !sameBytes(again, sound) {
			t.Errorf("%q: %d faults, then %q", sound, faults, again)
		}
	})
}
