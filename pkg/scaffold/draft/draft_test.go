package draft

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/text/helptext"
)

const help = `Usage: brew [OPTION]... POT [CUP]...
Brews tea.

  -d, --delete-everything   deletes all files
  -f, --form=FORM           the form [round|square] of cups
      --kind {json,xml}     kind of the report
  -s, --size SIZE           size (default: 7)
      --share SHARE         share [default: 0.5]
  -c, --[no-]color[=WHEN]   colors
  -c CODE                   runs this code
      --help                this help
`

// WRAP-21, WRAP-26, WRAP-28: a value is a text unless brackets show a choice or a number, and no word makes an
// option dangerous or harmless.
func TestRecipe(t *testing.T) {
	r := Recipe([]string{"brew", "tea"}, helptext.Read(help), "stdin")
	var got []string
	for _, a := range r.Arguments {
		got = append(got, strings.TrimRight(fmt.Sprintf("%s %s %s %s %s", a.Name, a.Option, a.Type, a.Form,
			strings.Join(a.Choices, "|")), " "))
		if a.Only || a.Destructive {
			t.Errorf("%s is marked", a.Name)
		}
	}
	want := []string{
		"delete_everything --delete-everything switch", "form --form choice equals round|square", "size --size integer",
		"color --color switch", "c -c string", "kind --kind choice  json|xml", "share --share number", "pot  string",
		"cup  string",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if list := strings.Join(r.Capabilities, " "); list != "Search" || r.Stdin != nil || Generic(r) {
		t.Errorf("%s, %v", list, r.Stdin)
	}
}

// WRAP-27: a required operand can be standard input, if the help names it for an argument.
func TestStandardInput(t *testing.T) {
	for text, want := range map[string]bool{
		"usage: brew FILE\n\n  FILE   the pot\n":                               false,
		"usage: brew FILE\n\n  FILE   the pot, - for standard input\n":         true,
		"usage: brew FILE\n\n  FILE   the pot, or stdin\n":                     true,
		"usage: brew CUP\n\n  -f, --file FILE   the pot (default: stdin)\n":    true,
		"usage: brew CUP\n\n  -f, --file FILE   the pot, not in mystdin.txt\n": false,
	} {
		if r := Recipe([]string{"brew"}, helptext.Read(text), "stdin"); (r.Stdin != nil) != want {
			t.Errorf("%q: %+v", text, r.Stdin)
		}
	}
}

// WRAP-27: a help without a usage line does not show the operands, and one without anything shows nothing. The words
// of a command are left out.
func TestUnknown(t *testing.T) {
	for text, generic := range map[string]bool{"": true, "  -a  all\n": false, "Usage: brew [POT] CUP\n": true} {
		r := Recipe([]string{"brew"}, helptext.Read(text), "stdin")
		last := r.Arguments[len(r.Arguments)-1]
		if last.Name != anyWords || !last.Repeat || last.Dashes || Generic(r) != generic || r.Stdin == nil {
			t.Errorf("%q: %+v", text, last)
		}
		if Open(r); !r.Arguments[len(r.Arguments)-1].Dashes {
			t.Errorf("%q: its words cannot be options", text)
		}
	}
	r := Recipe([]string{"brew", "tea", "green"}, helptext.Read("Usage: brew tea green [POT]\n  -k, --keep  x\n"), "stdin")
	Open(r)
	if a := r.Arguments; len(a) != 3 || a[1].Name != otherOptions || !a[1].Dashes || a[2].Name != "pot" {
		t.Errorf("%+v", r.Arguments)
	}
}

// WRAP-29: a text of the largest size takes no more than a moment, and the recipe has a limit.
func TestLimits(t *testing.T) {
	var options strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&options, "  -%d  x\n", i)
	}
	for _, text := range []string{options.String(), strings.Repeat("  --a\n", 1<<17),
		"  -a  x\n" + strings.Repeat("       y\n", 1<<17)} {
		r := Recipe([]string{"brew"}, helptext.Read(text), "stdin")
		if n := len(r.Arguments); n > maxArguments+1 || len(r.Arguments[0].Description) > 200 {
			t.Error(n)
		}
	}
}

// WRAP-22, WRAP-29: a recipe of any text has no fault, and no text of the program can hide anything.
func FuzzRecipe(f *testing.F) {
	f.Add(help)
	f.Add("  -" + strings.Repeat("J", 100) + "=x  a name that is too long\n  -a=b, -c  x\n")
	f.Add("usage: a [b]... c\n  -a  \x1b[31mred\x1b[0m \u202e\n  --=x\n  -é ü  x\n --1 {a,,b}  x\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := Recipe([]string{"brew"}, helptext.Read(text), "stdin")
		if data, err := json.Marshal(r); err != nil {
			t.Error(err)
		} else if len(data) < 100_000 {
			if _, err := recipe.Parse(data); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
