package headers

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

// H-10: media types in all their forms.
func TestAccepts(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "application/json": true, "text/html, application/json;q=0.2": true, "*/*": true, "application/*": true,
		"*/json": true, "APPLICATION/JSON": true, "application/jsonp": false, "text/event-stream": false, ",,;": false,
		"a/b,\tapplication/json \t;q=1": true, "\u00a0application/json": false, "application/j\u017fon": false,
	} {
		if got := Accepts(http.Header{"Accept": {value}}, "application", "json"); got != want {
			t.Errorf("%q: %t", value, got)
		}
	}
	if !Accepts(http.Header{}, "text", "event-stream") || !Accepts(http.Header{"Accept": {"a/b", "text/*"}}, "text", "x") {
		t.Error("no header, or several")
	}
	for value, want := range map[string]bool{
		"application/json": true, "application/json; charset=UTF-8": true, `Application/JSON;charset="utf-8"`: true,
		"application/json; charset=utf-16": false, "text/json": false, "": false, "application/json; a=b": true,
		"application/json\t;\tcharset=utf-8": true, "application/j\u017fon": false, "application/json\u00a0": false,
	} {
		if got := IsJSON(http.Header{"Content-Type": {value}}); got != want {
			t.Errorf("%q: %t", value, got)
		}
	}
	if IsJSON(http.Header{}) || IsJSON(http.Header{"Content-Type": {"application/json", "application/json"}}) {
		t.Error("no type, or several")
	}
}

// H-21, H-22: a header matches only the text that the client encoded.
func FuzzEqualDecoded(f *testing.F) {
	for _, s := range []string{"", "a", "Größe", " x ", "a\nb",
		"=?base64?YQ==?=", "=?base64??=", "=?base64?YQ=?=", "\xff"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, value, text string) {
		h := http.Header{Name: {value}}
		if EqualDecoded(h, Name, text) == nil && value != text {
			coded, ok := strings.CutPrefix(value, prefix)
			plain, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(coded, suffix))
			if !ok || err != nil || string(plain) != text {
				t.Errorf("%q matches %q", value, text)
			}
		}
		if !utf8.ValidString(text) {
			return
		}
		h = http.Header{Name: {prefix + base64.StdEncoding.EncodeToString([]byte(text)) + suffix}}
		if err := EqualDecoded(h, Name, text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		Accepts(http.Header{"Accept": {value}}, "text", "event-stream")
		IsJSON(http.Header{"Content-Type": {value}})
	})
}
