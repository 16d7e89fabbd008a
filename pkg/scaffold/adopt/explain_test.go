package adopt

import (
	"strings"
	"testing"

	"mcp-bash/pkg/scaffold/helptext"
	"mcp-bash/pkg/scaffold/source"
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
		f := &Found{Language: "python3", Says: other(nil)}
		f.Explain(helptext.Read(help), nil)
		list, inputs := f.Says.Arguments, 0
		for _, a := range list {
			if a.Kind == source.Input {
				inputs++
			}
		}
		if (inputs == 1) != want || inputs > 1 || len(list) < 1+inputs {
			t.Errorf("%q: %d inputs in %d arguments", help, inputs, len(list))
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
		s, err := source.Read([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := Recipe(t.TempDir(), &Found{Tool: "x", Path: "x.sh", Says: s}, "/root", "")
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
