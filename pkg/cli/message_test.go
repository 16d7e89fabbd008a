package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// CLI-115.
func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\r\nénd\n": "plain\ttext\r\nénd\n",
		"\x1b]0;owned\x07":     `\u001b]0;owned\u0007`,
		"50%\rdone":            `50%\u000ddone`,
		"end\r":                `end\u000d`,
		"c1 \u009b2J":          `c1 \u009b2J`,
		"raw \x9b2J":           "raw \uFFFD2J",
		"cut \xe2\x82":         "cut \uFFFD\uFFFD",
		"abc\u202edcb\u2066":   `abc\u202edcb\u2066`,
		"back\b\x7f\x00":       `back\u0008\u007f\u0000`,
		"two\u2028lines\u2029": `two\u2028lines\u2029`,
		"right is right: שלום 你好 👋🏽": "right is right: שלום 你好 👋🏽",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got, want := Line("a\nb\tc\r\n\x1b"), `a\nb\tc\r\n\u001b`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzPrintable(f *testing.F) {
	for _, seed := range []string{"a\x1b[31mb", "\r\r\n", "\u202e\u009b\xc2", `{"k":"\u001b"}`} {
		f.Add(seed, uint(3))
	}
	f.Fuzz(func(t *testing.T, text string, cut uint) {
		shown := Printable(text)
		if !utf8.ValidString(shown) {
			t.Fatalf("%q", shown)
		}
		for at, r := range shown {
			if r == '\r' && strings.HasPrefix(shown[at:], "\r\n") {
				continue
			}
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q holds %U", shown, r)
			}
		}
		if again := Printable(shown); again != shown {
			t.Fatalf("%q, then %q", shown, again)
		}
		if strings.ContainsFunc(Line(text), unicode.IsControl) {
			t.Fatalf("%q", Line(text))
		}
		// However it is cut, the same is shown, but for what never is completed.
		at := int(cut % uint(len(text)+1))
		first, rest := appendPrintable(nil, []byte(text[:at]))
		second, rest := appendPrintable(nil, append(rest, text[at:]...))
		whole, wantRest := appendPrintable(nil, []byte(text))
		if !bytes.Equal(append(first, second...), whole) || !bytes.Equal(rest, wantRest) {
			t.Fatalf("%q and %q, not %q", first, second, whole)
		}
		// JSON stays the same JSON, white space between its values apart.
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(text)) == nil {
			shown := Printable(compact.String())
			before, _ := decode(compact.String())
			if after, err := decode(shown); err != nil || !reflect.DeepEqual(before, after) {
				t.Fatalf("%q: %v", shown, err)
			}
		}
	})
}

// decode keeps numbers as they are written: some are too large for any type.
func decode(text string) (value any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return value, d.Decode(&value)
}

// CLI-117: texts in a message stay on its lines; lines of the format, marked texts and data are kept.
func TestPrintf(t *testing.T) {
	type kind string
	for _, tc := range []struct {
		arg  any
		want string
	}{
		{"a\nb", `a\nb`}, {kind("a\rb"), `a\u000db`}, {errors.New("a\u2028b\u2029c"), `a\u2028b\u2029c`},
		{[]string{"a\nb"}, `[a\nb]`}, {Lines("a\nb"), "a\nb"}, {[]byte("a\nb"), "a\nb"}, {json.RawMessage("{\n}"), "{\n}"},
		{&url.URL{Path: "a\u202eb"}, "a%E2%80%AEb"},
	} {
		var b strings.Builder
		Printf(&b, "x: %s\n", tc.arg)
		if got, want := b.String(), "x: "+tc.want+"\n"; got != want || Sprintf("x: %s\n", tc.arg) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Failf(CodeInvalid, "one %s\ntwo", "\nx").Error(); got != `one \nx`+"\ntwo" {
		t.Errorf("%q", got)
	}
	for err, want := range map[error]Lines{
		errors.New("a\nb"): `a\nb`, fmt.Errorf("z: %w", Usagef("a\n%s", "b\nc")): "a\nb\\nc",
	} {
		if got := MessageOf(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
