package item

import "testing"

// the forms of a positive integer.
func TestSeconds(t *testing.T) {
	for in, want := range map[string]string{
		`5`: "5", `"08"`: "8", `"5"`: "5", `0`: "null", `-1`: "null", `1.5`: "null", `5.0`: "null", `1e1`: "null",
		`true`: "null", `null`: "null", `""`: "null", `"+5"`: "null", `3000000000`: "2147483647",
		`"99999999999999999999"`: "2147483647", `2147483647`: "2147483647",
	} {
		s := NewSource(Location{File: "f"}, []byte(`{"timeoutSecs":`+in+`}`))
		f := Fields{Sources: []Source{s}, Dir: NoDir{}}
		got := string(f.Seconds("timeoutSecs"))
		if got == "" {
			got = "null"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
