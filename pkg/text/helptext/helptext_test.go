package helptext

import (
	"fmt"
	"strings"
	"testing"
)

const text = `Makes an archive.

Usage: backup [-n] [--keep COUNT] SOURCE [TARGET...]

Options:
  -n, --dry-run          show what would be done
  -k COUNT, --keep COUNT  archives to keep (default: 7)
  -l, --level=LEVEL      how hard to try [fast|best],
                         for each archive
      --color[=WHEN]     colors
  -q
  -1 2 is not an option of this program, but a line of its prose that begins with a dash

  SOURCE   the folder to read
`

// expect compares lines.
func expect(t *testing.T, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// operandLines describes operands, one in each line.
func operandLines(h Help) (lines []string) {
	for _, o := range h.Operands {
		lines = append(lines, fmt.Sprintf("%s optional=%t repeat=%t text=%s", o.Name, o.Optional, o.Repeat, o.Text))
	}
	return lines
}

// ADD-20: options and operands are read from two columns and a usage line.
func TestRead(t *testing.T) {
	h := Read(text)
	var got []string
	for _, o := range h.Options {
		got = append(got, fmt.Sprintf("%s value=%s optional=%t equals=%t choices=%s default=%s text=%s",
			strings.Join(o.Names, " "), o.Value, o.Optional, o.Equals, o.Choices, o.Default, o.Text))
	}
	got = append(got, operandLines(h)...)
	got = append(got, h.Purpose)
	want := []string{
		"-n --dry-run value= optional=false equals=false choices=[] default= text=show what would be done",
		"-k --keep value=COUNT optional=false equals=false choices=[] default=7 text=archives to keep (default: 7)",
		"-l --level value=LEVEL optional=false equals=true choices=[fast best] default= text=how hard to try [fast|best], " +
			"for each archive",
		"--color value=WHEN optional=true equals=true choices=[] default= text=colors",
		"-q value= optional=false equals=false choices=[] default= text=",
		"SOURCE optional=false repeat=false text=the folder to read",
		"TARGET optional=true repeat=true text=",
		"Makes an archive.",
	}
	expect(t, got, want)
}

// Programs separate the two columns, the names and the value of an option in several ways. Prose that ends in an option
// is left out.
func TestForms(t *testing.T) {
	h := Read("\t--format : indent the output\n  -b,  --background   go to the background\n  -c  --count=N   how many\n" +
		"  -U<n>   lines of context\n  --verbose...   say more\nas does\n  --cached.\n  --retries   times [number]\n" +
		"  --ignore   files [array]\n  --reporter   name [string] [default: \"spec\"]\n")
	var got []string
	for _, o := range h.Options {
		got = append(got, fmt.Sprintf("%s value=%s attached=%t number=%t repeat=%t", strings.Join(o.Names, " "), o.Value,
			o.Attached, o.Number, o.Repeat))
	}
	want := []string{
		"--format value= attached=false number=false repeat=false",
		"-b --background value= attached=false number=false repeat=false",
		"-c --count value=N attached=false number=false repeat=false",
		"-U value=n attached=true number=false repeat=false",
		"--verbose value= attached=false number=false repeat=false",
		"--retries value=number attached=false number=true repeat=false",
		"--ignore value=array attached=false number=false repeat=true",
		"--reporter value=string attached=false number=false repeat=false",
	}
	expect(t, got, want)
}

// ADD-20: one space before the text is enough after a value in capitals or brackets. Text and the rest of a usage can
// begin so, too.
func TestOneSpace(t *testing.T) {
	h := Read("Usage: put [-n]\n    --bucket NAME\n    FILE\n\n  -n   see\n                 --bucket NAME for more\n" +
		"      --region REGION one of eu, us\n  -t, --to=<place> where to\n      --force replace files\n")
	var got []string
	for _, o := range h.Options {
		got = append(got, fmt.Sprintf("%s value=%s text=%s", strings.Join(o.Names, " "), o.Value, o.Text))
	}
	want := []string{
		"--bucket value=NAME text=",
		"-n value= text=see --bucket NAME for more",
		"--region value=REGION text=one of eu, us",
		"-t --to value=place text=where to",
	}
	expect(t, got, want)
}

// The value of an option in the usage line is not an operand, if the list has the option with a value.
func TestValueInUsage(t *testing.T) {
	h := Read("Usage: pick -f <file> -q <pattern>\n  -f, --file FILE   the file\n  -q, --quiet   nothing\n")
	if len(h.Operands) != 1 || h.Operands[0].Name != "pattern" {
		t.Errorf("%+v", h.Operands)
	}
}

// An operand that follows itself is repeated.
func TestRepeatedOperand(t *testing.T) {
	h := Read("usage: age [-q] FOLDER [FOLDER ...]\n")
	if len(h.Operands) != 1 || !h.Operands[0].Repeat || h.Operands[0].Optional {
		t.Errorf("%+v", h.Operands)
	}
}

// ADD-26: argparse breaks a long usage, and writes each name of an option with its value.
func TestArgparse(t *testing.T) {
	h := Read(`usage: stats.py [-h] [--by {hour,day}] [-l LEVEL]
                [--json]
                [FILE ...]

Count log lines.

positional arguments:
  FILE                  log files, stdin if none

options:
  -h, --help            show this help message and exit
  --by {hour,day}
  -l LEVEL, --level LEVEL
                        count only this level
  -w KEY=VALUE, --where KEY=VALUE
                        count only lines with it
  --set KEY=VALUE
  -f FIELD [FIELD ...], --fields FIELD [FIELD ...]
                        show these
  --tags TAG [TAG ...]  with all
  --json                print JSON
`)
	var got []string
	for _, o := range h.Options[1:] {
		names := strings.Join(o.Names, " ")
		got = append(got, fmt.Sprintf("%s value=%s choices=%s text=%s", names, o.Value, o.Choices, o.Text))
	}
	got = append(got, operandLines(h)...)
	want := []string{
		"--by value={hour,day} choices=[hour day] text=",
		"-l --level value=LEVEL choices=[] text=count only this level",
		"-w --where value=KEY=VALUE choices=[] text=count only lines with it",
		"--set value=KEY=VALUE choices=[] text=",
		"-f --fields value=FIELD choices=[] text=show these",
		"--tags value=TAG choices=[] text=with all",
		"--json value= choices=[] text=print JSON",
		"FILE optional=true repeat=true text=log files, stdin if none",
	}
	expect(t, got, want)
}

func FuzzRead(f *testing.F) {
	f.Add(text)
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range Read(text).Options {
			if len(o.Names) == 0 || o.Names[0] == "" {
				t.Errorf("%q: an option without a name", text)
			}
		}
	})
}

// WRAP-24: a usage line ends where a line without an indent follows, unless the line is only "Usage:".
func TestUsage(t *testing.T) {
	for text, want := range map[string]string{
		"Usage: brew [OPTION]...\nShow what tea there is.\n": " Show what tea there is.",
		"Usage:\nbrew POT\nShow tea.\n":                      "POT Show tea.",
		"Usage: brew\n  brew POT\n\nShow tea.\n":             "POT Show tea.",
		"Usage of brew:\n  -a int\n    \tall\n":              " ",
	} {
		h := Read(text)
		var names []string
		for _, o := range h.Operands {
			names = append(names, o.Name)
		}
		if got := strings.Join(names, " ") + " " + h.Purpose; got != want || h.Usage == strings.Contains(text, " of ") {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// ADD-20: a usage can go on in the next lines, and a word after an option is its value if the list has one.
func TestLongUsage(t *testing.T) {
	h := Read("usage: pack [-h] -V VERSION [-o OUT]\n            [--list]\n            source\n\noptions:\n" +
		"  -V VERSION, --version VERSION\n                        the version\n  --list                list\n")
	if len(h.Operands) != 1 || h.Operands[0].Name != "source" || h.Operands[0].Optional {
		t.Errorf("%+v", h.Operands)
	}
}
