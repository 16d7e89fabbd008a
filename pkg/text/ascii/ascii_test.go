package ascii

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Letters and spaces outside ASCII stay as they are.
func TestASCII(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "abc": "abc", "aBC-Z[@`{": "abc-z[@`{", "\u212A\u017F\u0130Ä": "\u212A\u017F\u0130Ä", "Ä": "Ä",
	} {
		if got := Lower(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"Bearer", "bEARER", true}, {"", "", true}, {"a", "ab", false}, {"json", "j\u017Fon", false}, {"k", "\u212A", false},
		{"@", "`", false}, {"[", "{", false}, {"ä", "Ä", false}, {"1", "\x11", false},
	} {
		if EqualFold(tc.a, tc.b) != tc.want || EqualFold(tc.b, tc.a) != tc.want {
			t.Errorf("%q and %q", tc.a, tc.b)
		}
	}
	if got := Trim("\u00A0 \t x\u2003 \t"); got != "\u00A0 \t x\u2003" {
		t.Errorf("%q", got)
	}
	if got := TrimLine("\r\n x\u0085\n"); got != "x\u0085" {
		t.Errorf("%q", got)
	}
	if got := Words("  a\u00A0b c\td  "); !slices.Equal(got, []string{"a\u00A0b", "c\td"}) {
		t.Errorf("%q", got)
	}
}

// For ASCII, the package strings has the same results.
func FuzzASCII(f *testing.F) {
	f.Add("Bearer x", "bearer X")
	f.Fuzz(func(t *testing.T, a, b string) {
		plain := func(s string) string {
			return strings.Map(func(r rune) rune { return r & 0x7f }, s)
		}
		a, b = plain(a), plain(b)
		if Lower(a) != strings.ToLower(a) || EqualFold(a, b) != strings.EqualFold(a, b) {
			t.Errorf("%q %q", a, b)
		}
	})
}

// readers matches calls that read PEM, with the beginning of their argument.
var readers = regexp.MustCompile(`\.(AppendCertsFromPEM|X509KeyPair|LoadX509KeyPair)\(|\bpem\.Decode\(`)

// Programs call [PEM] for every text in PEM that they read.
func TestPEM(t *testing.T) {
	if got := string(PEM([]byte("\ufeff-----BEGIN A\n\ufeff-----BEGIN B"))); got != "-----BEGIN A\n-----BEGIN B" {
		t.Errorf("%q", got)
	}
	found := 0
	for _, dir := range []string{"../../../pkg", "../../../cmd"} {
		err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			for line := range strings.Lines(string(text)) {
				if readers.MatchString(line) {
					found++
					if !strings.Contains(line, "ascii.PEM(") {
						t.Errorf("%s: %s", file, line)
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 3 {
		t.Errorf("%d places", found)
	}
}
