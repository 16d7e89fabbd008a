package infer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/usage"
)

// of returns the recipe for a help text.
func of(t *testing.T, command, help string) *Result {
	t.Helper()
	return Recipe(usage.Help([]byte(help), strings.Fields(command)))
}

// listing has a line for each argument: its name, option, type and other properties.
func listing(r *recipe.Recipe) string {
	var b strings.Builder
	for _, a := range r.Arguments {
		if len(a.Words) > 0 {
			fmt.Fprintf(&b, "[%s]\n", strings.Join(a.Words, " "))
			continue
		}
		fmt.Fprintf(&b, "%s", a.Name)
		for _, part := range []string{a.Option, string(a.Type), string(a.Form), strings.Join(a.Choices, "|")} {
			if part != "" {
				b.WriteString(" " + part)
			}
		}
		for i, on := range []bool{a.Required, a.Repeat, a.Only} {
			if on {
				b.WriteString([]string{" required", " repeat", " only"}[i])
			}
		}
		if len(a.Unconfirmed) > 0 {
			b.WriteString(" ?" + strings.Join(a.Unconfirmed, ","))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// WRAP-32, WRAP-33, WRAP-34: values are passed as the documentation or a known library has it, and
// everything else is left as wide as it is.
func TestRecipe(t *testing.T) {
	for name, c := range map[string]struct{ command, help, want string }{
		"two words, unless documented": {"brew", "Usage: brew [options] <pot>\n\n  -k, --kind KIND  the style\n" +
			"  -n, --cups=N  number of cups\n  -w, --wait W  maximum time\n", `kind --kind string words
cups --cups string equals ?type
wait --wait string words
pot string required
`},
		"a known library": {"brew", "usage: brew [-h] [-k KIND] pot\n\noptions:\n  -h, --help  show this help message " +
			"and exit\n  -k KIND, --kind KIND  the style\n  -j N  number of pots\n", `kind --kind string equals
j -j string attached ?type
[--]
pot string required
`},
		"a usage line with two dashes shows no library": {"brew", "Usage: brew [-n CUPS] [--] POT\n\n" +
			"  -a, --all  show all\n  -n CUPS  number of cups\n",
			"n -n string words\nall --all switch\n[--]\npot string required\n"},
		"an option with a value that only a usage line has": {"brew", "Usage: brew [-q] [-i POT] [options]\n\n" +
			"  -a, --all  show all\n", "i -i string words only ?option\nall --all switch\n"},
		"types that a library prints": {"brew", "Usage:\n  brew [flags]\n\nFlags:\n  -h, --help  help for brew\n" +
			"      --cups int   number of cups\n  -k, --kinds strings   list of kinds\n      --file string   file to read\n",
			"kinds --kinds string equals repeat\ncups --cups integer equals\nfile --file string equals\n" +
				"[--]\narguments string repeat ?operands\n"},
		"the result of a program that otherwise only reads": {"brew", "usage: brew [-h] [-o FILE]\n\nShow the pots.\n\n" +
			"options:\n  -h, --help  show this help message and exit\n  -o FILE  write output to FILE\n",
			"o -o path attached only ?type\n"},
		"a required option that nothing explains": {"brew", "usage: brew [-h] --pot POT [--cup CUP]\n\noptions:\n" +
			"  -h, --help  show this help message and exit\n  --pot POT  brew it\n  --cup CUP\n",
			"pot --pot string equals required\ncup --cup string equals only ?option\n"},
		"a bracket that is not closed": {"brew", "Usage: brew [-a] [-k KEY[.OFS][,END[.OFS]] [POT]...\n\n  -a  show all\n",
			"a -a switch\nk -k string words only ?option\narguments string repeat ?operands\n"},
		"a version is not the program's": {"brew", "usage: brew [-h] [--version NAME]\n\noptions:\n" +
			"  -h, --help  show this help message and exit\n  --version NAME  version to show\n",
			"version --version string equals\n"},
		"operands that differ": {"brew", "usage: brew [-a] POT CUP\n       brew [-a] LEAF...\n\n  -a  show all\n",
			"a -a switch\narguments string repeat ?operands\n"},
		"two dashes between operands": {"brew",
			"usage: brew [-a] [<opts>] [<cup>] [--] <pot>\n\n  -a  show all\n",
			"a -a switch\ncup string\n[--]\npot string required\n"},
		"two dashes between lists": {"brew",
			"usage: brew [-a] [<cup>...] [[--] <pot>...]\n\n  -a  show all\n",
			"a -a switch\ncup string repeat\n[--]\npot string repeat\n"},
		"a command of git whose operands are not known": {"git", "usage: git [-a] <pot>\n   or: git [-a] <cup> <leaf>\n\n" +
			"    -a, --all  show all\n", "all --all switch\narguments string repeat ?operands\n"},
		"operands that a line omits": {"brew", "usage: brew [-a] POT\n       brew [-a]\n\n  -a  show all\n",
			"a -a switch\npot string\n"},
		"nothing about operands": {"brew", "  -a, --all  show all\n  -b, --bee=WHAT  show bees\n",
			"all --all switch\nbee --bee string equals\narguments string repeat ?operands\n"},
		"input replaces an operand": {"brew", "usage: brew [-a] FILE\n\nReads standard input.\n\n  -a  show all\n",
			"a -a switch\nfile path ?type\n"},
		"required ones and short names first": {"brew", "Usage: brew [OPTION]...\n\n  --all  show all\n" +
			"  -b, --bee  show bees\n  --zeal KIND  show zeal [required]\n",
			"zeal --zeal string words required\nbee --bee switch\nall --all switch\n"},
		"dangers": {"brew", "Usage: brew [OPTION]...\n\n  -x CMD  run the command CMD\n  --config FILE  settings\n" +
			"  -o, --output FILE  write the tea to FILE\n  --color  in colour\n  --old  deprecated\n",
			"x -x string words only\noutput --output path words ?type\nconfig --config path words only ?type\n" +
				"color --color switch only\nold --old switch only\n"},
		"aliases": {"brew", "Usage: brew [OPTION]...\n\n  -a, --all  show all\n  -d, --delete  delete the pots\n" +
			"  -x  alias for --delete\n  -y  same as --all\n", "all --all switch\ndelete --delete switch only\n" +
			"x -x switch only\ny -y switch\n"},
		"a program to run": {"brew", "Usage: brew [-a] COMMAND [ARG]...\n\n  -a  show all\n", "a -a switch\n"},
		"too little": {"brew", "brew: bring a pot\n",
			"arguments string repeat ?operands\n"},
		"an optional value": {"brew", "Usage: brew [OPTION]...\n\n" +
			"  --heat[=WHEN]  show heat\n  --output[=FILE]  write output to FILE\n  --milk[=KIND]  sort by one of hot, cold\n",
			"heat --heat switch ?value\noutput --output path equals ?type\nmilk --milk choice equals hot|cold\n"},
		"several values": {"brew", "usage: brew [-h] [--pair A B]\n\noptions:\n" +
			"  -h, --help  show this help message and exit\n  --pair A B  two\n", ""},
	} {
		r := of(t, c.command, c.help)
		if got := listing(r.Recipe); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
		if r.Recipe.Effects.ReadOnly != nil {
			t.Errorf("%s: readOnlyHint is guessed", name)
		}
	}
}

// WRAP-26: programs that run what they are given get no list of words unasked.
func TestRunners(t *testing.T) {
	for command, want := range map[string]string{"xargs": "only", "python3": "only", "tea": ""} {
		r := of(t, command, "nothing\n")
		only := slices.ContainsFunc(r.Recipe.Arguments,
			func(a recipe.Argument) bool { return a.Name == anyOperands && a.Only })
		if only != (want != "") || only != (r.Runs != "") || !r.Generic {
			t.Errorf("%s: %s", command, listing(r.Recipe))
		}
	}
}

// WRAP-35, WRAP-36: effects that the documentation shows.
func TestCapabilities(t *testing.T) {
	for help, want := range map[string]string{
		"Usage: brew [-a] FILE\n\nShow tea.\n\n  -a  all\n":                   "Search",
		"Usage: brew [-i] FILE\n\nShow tea.\n\n  -i  edit files in place\n":   "Search",
		"Usage: brew [-a] FILE\n\nConverts tea to coffee.\n\n  -a  all\n":     "Edit",
		"Usage: brew [-a] URL\n\nShow tea.\n\n  -a  all\n":                    "Search Network",
		"Usage: brew [-a] NAME\n\nQuery a remote pot.\n\n  -a  all\n":         "Search Network",
		"Usage: brew outFile inFile\n\nConcatenate teas.\n":                   "Edit",
		"Usage: brew [-o FILE]\n\nShow tea.\n\n  -o FILE  write it to FILE\n": "Search",
	} {
		if got := strings.Join(of(t, "brew", help).Recipe.Capabilities, " "); got != want {
			t.Errorf("%s: %s, not %s", help, got, want)
		}
	}
}

// WRAP-34: texts of programs are quoted, bounded and without control characters.
func TestTexts(t *testing.T) {
	r := of(t, "brew", "Usage: brew [-a]\n\nMakes \"tea\".\n\n  -a  all \x1b[31mof\x1b[0m\u202e it\a "+
		strings.Repeat("x", 2000)+"\n").Recipe
	a := r.Arguments[0].Description
	if !strings.HasPrefix(a, `"all of it xxx`) || len(a) > 400 || strings.ContainsAny(a, "\x1b\a\u202e") {
		t.Errorf("%q", a)
	}
	if r.Summary != `Runs brew. Its documentation: "Makes 'tea'". Texts in quotation marks are from there.` {
		t.Errorf("%q", r.Summary)
	}
	for _, first := range []string{"manual page for brew 1.0", "brew"} {
		if r := of(t, "brew", "Usage: brew [-a]\n\n"+first+"\n\n  -a  all\n").Recipe; r.Summary != "Runs brew." {
			t.Errorf("%q", r.Summary)
		}
	}
}

// WRAP-29: no help text makes a recipe that is larger than its text allows, or that is not JSON.
func FuzzRecipe(f *testing.F) {
	f.Add("Usage: brew [-a] [--] [FILE]...\n\n  -a, --all=X  all\n      --bee {a,b}  bee\n")
	f.Add("Usage: brew COMMAND\n\n  --[no-]x  x\n  -1\n  --1=N  n\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := Recipe(usage.Help([]byte(text), []string{"brew"})).Recipe
		seen := map[string]bool{}
		for _, a := range r.Arguments {
			if len(a.Words) == 0 && (a.Name == "" || seen[a.Name] || a.Type == "" || len(a.Description) > 1000) {
				t.Errorf("%+v", a)
			}
			seen[a.Name] = true
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}
