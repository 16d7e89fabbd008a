package adopt

import (
	"strings"
	"testing"

	"mcp-bash/pkg/shellscript"
	"mcp-bash/pkg/text/helptext"
)

// ADD-26: a script of another language gets a standard input, unless it needs an operand that cannot be this input.
func TestInputOfOtherLanguages(t *testing.T) {
	for help, want := range map[string]bool{
		"usage: sessions.py [-h] [--gap MINUTES] [log]\n\noptions:\n  --gap MINUTES  pause that ends a session\n": true,
		"usage: sessions.py [-h] [--gap MINUTES] log\n\noptions:\n  --gap MINUTES  pause that ends a session\n":   false,
		"usage: sessions.py [-h] log [log ...]\n":                                                          false,
		"usage: sessions.py [-h] log\n\npositional arguments:\n  log       a file, - for standard input\n": true,
		"usage: sessions.py [-h] log\n\npositional arguments:\n  log       a file with sessions\n":         false,
		"usage: sessions.py\n": true,
		"":                     true,
	} {
		f := &Found{Language: "python3", Tool: "sessions", Script: other(nil)}
		f.Explain(helptext.Read(help), nil)
		r := f.recipe()
		n := len(r.Properties())
		if (r.Stdin != nil) != want || n < 1 || r.Stdin != nil && (n < 2 || r.Stdin.Name != "input") {
			t.Errorf("%q: %+v", help, r)
		}
	}
}

// ADD-23: a text that can reach an arithmetic expression as part of another one contains no commands.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		`x=n$1; ((x)); [ -f "$2" ] || exit 1`: "[^$`]* [^$`]*",
		`while read n; do ((s += n)); done`:   "[^$`]*",
		`echo "$1"; ((3 > 2))`:                "",
	} {
		s, err := shellscript.Read([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := (&Found{Tool: "x", Path: "x.sh", Script: s}).recipe()
		var got []string
		for _, a := range r.Arguments {
			got = append(got, a.Pattern)
		}
		if r.Stdin != nil {
			got = append(got, r.Stdin.Pattern)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
