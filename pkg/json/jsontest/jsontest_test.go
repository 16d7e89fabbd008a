package jsontest

import "testing"

func TestSame(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"no JSON", "no JSON", true}, {"no JSON", "No JSON", false},
		{`{"a":1,"b":[true]}`, "{\"b\": [\n true],\n \"a\": 1}", true}, {`"\u0041"`, `"A"`, true},
		{`{"a":1.50}`, `{"a":1.5}`, false}, {`[1,2]`, `[2,1]`, false}, {`{"a":1}`, `{"a":1`, false},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{"{\"a\":1,\"b\":2}\n[3]", "{\"b\":2,\n\"a\":1}\n[\n3]", true},
		{"1\n2", "2\n1", false}, {"1", "1\n1", false}, {"", "1", false},
	} {
		if Same(tc.a, tc.b) != tc.want || Same(tc.b, tc.a) != tc.want {
			t.Errorf("%s, %s: want %t", tc.a, tc.b, tc.want)
		}
	}
}
