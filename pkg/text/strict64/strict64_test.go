package strict64

import (
	"bytes"
	"encoding/base64"
	"testing"
)

func TestDecode(t *testing.T) {
	for _, text := range []string{"", "YQ", "YWI", "YWJj", "-_-_"} {
		if b, err := URL(text); err != nil || base64.RawURLEncoding.EncodeToString(b) != text {
			t.Errorf("%q: %q, %v", text, b, err)
		}
	}
	for _, text := range []string{"YQ==", "YQ=", "YR", "YQ\n", "\nYQ", "Y\rQ", "Y\r\nQ", "YQ ", "Y Q", "+/+/", "Y", "YQ.",
		"\n"} {
		if b, err := URL(text); err == nil {
			t.Errorf("%q: %q", text, b)
		}
	}
	for _, text := range []string{"YQ", "YQ=", "YR==", "YQ==\n", "YQ=\n=", "Y\nQ==", "-_-_", "YQ==YQ=="} {
		if b, err := Std(text); err == nil {
			t.Errorf("%q: %q", text, b)
		}
	}
}

// Each value has one spelling.
func FuzzDecode(f *testing.F) {
	f.Add("YQ==\n")
	f.Add("-_-_")
	f.Fuzz(func(t *testing.T, text string) {
		if b, err := URL(text); err == nil && base64.RawURLEncoding.EncodeToString(b) != text {
			t.Errorf("%q is another spelling of %q", text, b)
		}
		b, err := Std(text)
		if err == nil && base64.StdEncoding.EncodeToString(b) != text {
			t.Errorf("%q is another spelling of %q", text, b)
		}
		if b, err = Std(base64.StdEncoding.EncodeToString([]byte(text))); err != nil || !bytes.Equal(b, []byte(text)) {
			t.Errorf("%q becomes %q, %v", text, b, err)
		}
	})
}
