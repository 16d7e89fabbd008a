package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Every byte at every position of a word, alone and next to others, survives AppendString
// with strings and with bytes (T-705).
func TestAppendStringWords(t *testing.T) {
	check := func(s string) {
		t.Helper()
		got := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != s ||
			!bytes.Equal(got, AppendString(nil, []byte(s))) || !bytes.Equal(got, AppendValid(nil, s)) {
			t.Fatalf("%q: %s, %v", s, got, err)
		}
		for i, c := range got {
			if c < ' ' || c == 0x7f {
				t.Fatalf("%q: byte %d is %#x", s, i, c)
			}
		}
	}
	for c := rune(0); c < 0x180; c++ {
		for _, around := range []string{"a", "\"", "\x01", "é", "\x1f\x7f\\ !"} {
			for n := range 18 {
				check(strings.Repeat(around, n) + string(c) + strings.Repeat("z", 17-n))
				check(strings.Repeat("z", n) + string(c) + strings.Repeat(around, 3) + strings.Repeat("y", 9))
			}
		}
	}
}
