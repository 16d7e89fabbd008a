package usage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/scaffold/recipe"
)

// listing formats a program so that it is easy to compare. Each option has a line with its
// names, the kind of its values and other properties.
func listing(p *Program) string {
	var b strings.Builder
	for _, o := range p.Options {
		fmt.Fprintf(&b, "%s", strings.Join(o.Names, " "))
		if len(o.Negations) > 0 {
			fmt.Fprintf(&b, " !%s", strings.Join(o.Negations, " !"))
		}
		if v := o.Value; v != nil {
			fmt.Fprintf(&b, " = %s", v.Kind)
			if v.Optional {
				b.WriteString("?")
			}
			if len(v.Choices) > 0 {
				fmt.Fprintf(&b, " %s", strings.Join(v.Choices, ","))
			}
			if v.Several {
				b.WriteString(" several")
			}
		}
		if o.RepeatGuessed {
			b.WriteString(" ...?")
		} else if o.Repeat {
			b.WriteString(" ...")
		}
		if o.Required {
			b.WriteString(" !")
		}
		b.WriteString("\n")
	}
	for _, o := range p.Operands {
		fmt.Fprintf(&b, "<%s> %s", o.Name, o.Kind)
		if o.Repeat {
			b.WriteString(" ...")
		}
		if o.Required {
			b.WriteString(" !")
		}
		b.WriteString("\n")
	}
	for _, c := range p.Subcommands {
		fmt.Fprintf(&b, "> %s: %s\n", c.Name, c.Help)
	}
	return b.String()
}

// helps are help texts in each style, written for these tests, with their expected listings.
var helps = []struct {
	name, command string
	style         Style
	text, want    string
}{
	{"gnu", "brew", StyleGNU, `Usage: brew [OPTION]... [FILE]...
Brew tea from each FILE.

With no FILE, or when FILE is -, read standard input.

  -a, --all                steep all leaves
  -c, --check, --check=first  check the water
  -C, --check=quiet        like -c, but say nothing
  -k, --kind=NAME          a kind of tea;
                             -k is not for coffee
      --heat[=WHEN]        heat it; WHEN is 'always', 'never', or 'auto'
  -n, --cups=[-]NUM        the number of cups
      --milk,
      --cream              with milk
  -S, --size=SIZE          how large
      --help        display this help and exit

NUM may have a multiplier suffix:
b 512, kB 1000.
Each kind is one of:

  N     black
  -M    from the first
`, `-a --all
-c --check -C = string
-k --kind = string
--heat = string?
-n --cups = string
--milk --cream
-S --size = string
--help
<FILE> path ...
`},
	{"argparse", "brew", StyleArgparse, `usage: brew [-h] [-k KIND | -g] [-f {green,black}] [--pair A B] [-v] [-j N]
            --out FILE
            pot [leaf ...]

Brews tea.

positional arguments:
  pot                   the pot
  leaf                  files of leaves

options:
  -h, --help            show this help message and exit
  -k KIND, --kind KIND  what kind
  -g, --guess           guess the kind
  -f {green,black}, --form {green,black}
                        the form
  --pair A B            two at once
  -v, --verbose         say more; can be used multiple times
  -j N, --jobs N        number of pots (default: 4)
  --out FILE            where to pour it
`, `-h --help
-k --kind = string
-g --guess
-f --form = choice green,black
--pair = string several
-v --verbose ...
-j --jobs = integer
--out = path !
<pot> string !
<leaf> string ...
`},
	{"argparse commands", "brew", StyleArgparse, `usage: brew [-h] {pour,wash} ...

positional arguments:
  {pour,wash}
    pour       pour a cup
    wash       wash the pot

options:
  -h, --help   show this help message and exit
`, `-h --help
> pour: pour a cup
> wash: wash the pot
`},
	{"click", "brew", StyleClick, `Usage: brew [OPTIONS] POT COMMAND [ARGS]...

  Brews tea.

Options:
  -n, --cups INTEGER              How many.  [default: 2]
  -t, --target [a1|b2]            Which
                                  ones.
  -w, --workers INTEGER RANGE     Workers.  [x>=1]
  --config FILE                   Read it from FILE path.
  --milk / --no-milk              With milk.
  --name TEXT                     Whose.  [required]
  --help                          Show this message and exit.

Commands:
  pour  Pour a cup.
  wash  Wash the pot.
`, `-n --cups = integer
-t --target = choice a1,b2
-w --workers = integer
--config = path
--milk !--no-milk
--name = string !
--help
<POT> string !
> pour: Pour a cup.
> wash: Wash the pot.
`},
	{"cobra", "brew pour", StyleCobra, `Pours a cup.

Usage:
  brew pour [CUP] [flags]

Aliases:
  pour, p

Examples:
  brew pour --kind green -k black
  -x is no option here

Flags:
      --heat duration     how long (default 1m0s)
  -k, --kind strings      kinds
  -n, --limit int         maximum number (default 30)
  -s, --state string      which: {open|closed|all} (default "open")
  -v, --verbose count     say more
  -h, --help              help for pour

Global Flags:
      --pot string   path to the pot
`, `--heat = string
-k --kind = string ...
-n --limit = integer
-s --state = choice open,closed,all
-v --verbose ...
-h --help
--pot = string
<CUP> string
`},
	{"clap", "brew", StyleClap, `brew 1.0
A brewer

Usage: brew [OPTIONS] <POT> [LEAF]...

Arguments:
  <POT>      The pot
  [LEAF]...  The leaves

Options:
  -d, --max-depth <NUM>
          How deep

          And a second paragraph, --with an option that is none.

      --color <WHEN>
          When [default: auto] [possible values: auto, always]

  -h, --help
          Print help
`, `-d --max-depth = integer
--color = choice auto,always
-h --help
<POT> string !
<LEAF> string ...
`},
	{"docopt", "brew", StyleOther, `Brew.

Usage:
  brew [options] <pot>...
  brew (-h | --help)

Options:
  -h --help           Show this.
  -k --kind=<kind>    The kind [default: green].
  -n <cups>           Number of cups.
  --fast              Hurry.
`, `-h --help
-k --kind = string
-n = string
--fast
<pot> string ...
`},
	{"go", "brew", StyleGoFlag, `Usage of brew:
  -cups int
    	number of cups (default 2)
  -kind string
    	kind of tea
  -prefix text
    	before each line
  -v	say more
  -wait duration
    	how long
`, `-cups = integer
-kind = string
-prefix = string
-v
-wait = string
`},
	{"bsd", "brew", StyleUsage, `brew: illegal option -- -
usage: brew [-46ahv] [-c cups] [-f file] [-w seconds]
            [pot ...]
`, `-4
-6
-a
-h
-v
-c = string
-f = path
-w = string
<pot> string ...
`},
	{"git", "git brew", StyleGit, `usage: git brew [<options>] [--] <pot> [<leaf>...]

    -q, --quiet           be quiet
    --[no-]milk           with milk
    -n, --cups <n>        how many
    --sugar[=<when>]      when
    --milk-file <file>    where the milk is
`, `-q --quiet
--milk !--no-milk
-n --cups = integer
--sugar = string?
--milk-file = path
<pot> string !
<leaf> string ...
`},
	{"names far apart", "brew", StyleGNU, "Usage: brew [OPTIONS]\n\n" +
		"  -o  --out [file]   the output\n  -k  --kind <kind>  the kind\n" +
		"  -n NUM  --cups NUM  how many\n", "-o --out = path?\n-k --kind = string\n-n --cups = integer\n"},
	{"or between names", "brew", StyleGNU, "Usage: brew [OPTIONS]\n\n  -c or --cold\n" +
		"        cold\n  -k <kind> or --kind <kind>\n        the kind\n", "-c --cold\n-k --kind = string\n"},
	{"a number of any kind", "brew", StyleGNU, "Usage: brew [OPTION]...\n\n" +
		"  -<number>, -n <number>, --max-count=<number>\n                so many\n" +
		"  -a, --all     all\n", "-n --max-count = integer\n-a --all\n"},
	{"values without a name", "brew", StyleGNU, "Usage: brew [OPTION]...\n\n  -t, --type=   the type\n" +
		"  --pair a v    two values\n  --last        nothing\n", `-t --type = string
--pair = string several
--last
`},
	{"a bracket of an option is its own", "brew", StyleUsage,
		"usage: brew [-q] [-D [address:]port] [-L local_socket:remote] [brew flags] leaf\n", `-q
-D = string
-L = string
<leaf> string !
`},
	{"kubectl", "kubectl brew", StyleCobra, `Brew tea.

Options:
    -A, --all-pots=false:
        If present, all pots. --this is prose.

    --cups=500:
        How many.

    -f, --filename=[]:
        Leaves to use.

    -o, --output='':
        Output format. One of: (json, yaml, name).

    --warm=true:
        Keep it warm.

Usage:
  kubectl brew [(-f FILENAME | POT)] [options]

Use "kubectl options" for a list of global command-line options (applies to all commands).
`, `-A --all-pots
--cups = integer
-f --filename = path ...
-o --output = choice json,yaml,name
--warm = choice true,false
<POT> string
`},
	{"typer", "brew", StyleClick, `
 Usage: brew [OPTIONS] POT

 Brews tea in a pot.

╭─ Arguments ──────────────────────────────────────────────╮
│ *    pot      TEXT  The pot. [default: None] [required]  │
╰──────────────────────────────────────────────────────────╯
╭─ Options ────────────────────────────────────────────────╮
│ *  --kind     -k      TEXT             What kind.        │
│                                        More of it.       │
│    --form             [green|black]    The form.         │
│    --milk         --no-milk            With milk.        │
│    --cups             INTEGER          [default: 2]      │
│    --help                              Show this message │
│                                        and exit.         │
╰──────────────────────────────────────────────────────────╯
`, `--kind -k = string !
--form = choice green,black
--milk !--no-milk
--cups = integer
--help
<POT> string !
`},
	{"colons", "brew", StyleGNU, "Usage: brew [options] <pot>\n\nOptions:\n  -k, --kind <name>: the kind\n" +
		"  --[no-]milk: with milk\n  -m {hot,cold}: how\n", `-k --kind = string
--milk !--no-milk
-m = choice hot,cold
<pot> string !
`},
	{"JSON", "brew", StyleOther, `{"name": "brew", "description": "Brews tea.", "options": [
  {"name": "--kind", "short": "-k", "type": "string", "description": "What\u001b kind."},
  {"flags": ["--form"], "type": "string", "choices": ["green", "black"]},
  {"name": "--all", "type": "boolean", "help": "All."}], "globals": {"--pots": {"type": "integer"}}}
`, `--pots = integer
--kind -k = string
--form = choice green,black
--all
`},
	{"commander", "brew", StyleNode, `Usage: brew [options] <leaves...>

Options:
  -V, --version             output the version number
  -k, --kind <kind>         the kind (choices: "green", "black")
  -i, --ignore <file|glob>  leaves to leave out (default: [])
  --add <leaves...>         more leaves
  -h, --help                display help for command
`, `-V --version
-k --kind = choice green,black
-i --ignore = string ...
--add = string ...
-h --help
<leaves> string ... !
`},
	{"yargs", "brew", StyleYargs, `brew <pot>

Options:
      --help     Show help                                             [boolean]
  -k, --kind     The kind            [string] [choices: "green", "black"]
  -n, --cups     How many                                [number] [default: 2]
      --leaf     Leaves                                                  [array]
  -v, --verbose  Say more                                                [count]
  -o, --out      The file of the tea
`, `--help
-k --kind = choice green,black
-n --cups = number
--leaf = string ...
-v --verbose ...
-o --out = string
<pot> string !
`},
	{"short forms before a slash", "brew", StyleGNU, `Usage: brew [options] pot

Options:
  -p / --pot <dir>            the pot to use
  -v / --tea <name>[=<cups>]  the tea to brew
  -t [90|180|270]             turns the pot
`, `-p --pot = path
-v --tea = string
-t = choice 90,180,270
<pot> string !
`},
	{"dots that lead to a description", "brew", StyleOther, `Usage: brew [options] pot

  -n <int> ......... number of cups
  -k ............... a kind
`, `-n = integer
-k
<pot> string !
`},
	{"urfave", "brew", StyleGNU, `USAGE:
   brew [global options]

GLOBAL OPTIONS:
   --leaf value, -l value [ --leaf value, -l value ]  leaves
   --kind value, -k value                             the kind (default: "green")
   --help, -h                                         show help
`, `--leaf -l = string ...
--kind -k = string
--help -h
`},
	{"Boost", "brew", StyleGNU, `Usage: brew [options]
  -n [ --cups ] arg (=10)  how many
  --kind arg               the kind
  -a [ --all ] [=arg(=1)] (=0) all leaves
  -q [ --quiet ]           say less
`, `-n --cups = string
--kind = string
-a --all = string?
-q --quiet
`},
	{"optionator", "brew", StyleGNU, "Usage: brew [options]\n\n  -c, --config path::String  use it\n  --max Int" +
		"                  at most\n  --leaf [String]            leaves\n",
		"-c --config = path\n--max = integer\n--leaf = string ...\n"},
	{"npm", "brew pot", StyleUsage, "Usage:\nbrew pot <leaf>\n\nOptions:\n[-a|--all] [--depth <depth>]\n" +
		"[--omit <hot|cold> [--omit <hot|cold> ...]]\n",
		"-a --all\n--depth = integer\n--omit = choice hot,cold ...\n<leaf> string\n"},
	{"a manual page as help", "brew", StyleGNU, "Usage: brew [options]\n\n  • -k, --keep\n    Keep the pe‐\n" +
		"    tals.\n  • --hot\n    Show --co‐\n    ld.\n", "-k --keep\n--hot\n"},
	{"one dash before long names", "brew", StyleOther, "Usage: brew [options]\n\n  -l <int>   : leaves\n" +
		"  -layout    : keep it\n" +
		"  -T <kind>  : kind\n  -x [proto://]pot[:cup] Use the pot\n\nOutput formats:\n" +
		"  -f         : in full\n\nLists:\n  -i         : Comma separated leaves\n  -0.5  none\n" +
		"  -cups uint[=100]  cups\n\nExamples:\n  -z  none\n",
		"-l = integer\n-layout\n-T = string\n-x = string\n-f\n-i = string ...\n-cups = integer?\n"},
	{"names in two columns", "brew", StyleGNU, "brew [OPTIONS] [POTS]\n" +
		"  -f KIND, -r KIND      --from=KIND, --read=KIND\n" +
		"  -v KEY[:VALUE]        --variable=KEY[:VALUE]\n" +
		"                        --hot, --heat\n" +
		"                        --depth=NUMBER\n",
		"-f -r --from --read = string\n-v --variable = string\n--hot --heat\n--depth = integer\n<POTS> string\n"},
	{"a comma ends the first line", "brew", StyleGNU, "Usage: brew [options]\n\nLeaves:\n" +
		"  -l, --leaves=KIND     Choose leaves (short,\n                          long)\n" +
		"  -p, --pots[=KIND]     Pots\n\nFormats:\n\n  -H, --hot=KIND        heat\n      --cup [<KIND>]    cup\n",
		"-l --leaves = string\n-p --pots = string?\n-H --hot = string\n--cup = string\n"},
	{"one dash, descriptions to the right and below", "brew", StyleOther, "Usage: brew [options]\n\n" +
		"  -leaf kind    leaf\n  -authenticate kind\n                kind of leaf\n",
		"-leaf = string\n-authenticate = string\n"},
	{"busybox", "busybox brew", StyleBusybox, "BusyBox v1.0 () multi-call binary.\n\n" +
		"Usage: brew [-ac] [-n N] FILE...\n\nBrew tea\n\n\t-a\tAll\n\t-c\tCold\n\t-n N\tN cups\n", `-a
-c
-n = integer
<FILE> path ... !
`},
}

// WRAP-23, WRAP-24: help texts of every style.
func TestHelp(t *testing.T) {
	for _, c := range helps {
		t.Run(c.name, func(t *testing.T) {
			p := Help([]byte(c.text), strings.Fields(c.command))
			if got := listing(p); got != c.want || p.Style != c.style {
				t.Errorf("style %q, not %q; got\n%s\nwant\n%s", p.Style, c.style, got, c.want)
			}
		})
	}
}

// WRAP-22: additions for terminals and printers change nothing.
func TestText(t *testing.T) {
	plainText := "Usage: brew [OPTION]...\n\n  -a, --all      all of it\n  -k, --kind=K   the kind\n"
	want := listing(Help([]byte(plainText), []string{"brew"}))
	for name, text := range map[string]string{
		"colours": strings.NewReplacer("-a", "\x1b[1;32m-a\x1b[0m", "all of",
			"\x1b]8;;http://x\x07all\x1b]8;;\x07 of").Replace(plainText),
		"bullets":  strings.NewReplacer("  -a", "  • -a", "  -k", "  • -k").Replace(plainText),
		"dashes":   strings.NewReplacer("--all", "–all", "-a", "‐a").Replace(plainText),
		"carriage": strings.ReplaceAll(plainText, "\n", "\r\n"),
		"tabs":     strings.ReplaceAll(plainText, "      all", "\tall"),
		"examples": plainText + "\nExamples:\n  --none of this is an option\n  -z  nor this\n",
		"columns": "Usage: brew [OPTION]...\n\n  -a, --all      all of it      -q, --quiet  say less\n  -k, " +
			"--kind=K   the kind       -r, --red    in red\n",
	} {
		got := listing(Help([]byte(text), []string{"brew"}))
		if name == "columns" {
			if got != "-a --all\n-q --quiet\n-k --kind = string\n-r --red\n" {
				t.Errorf("%s: %s", name, got)
			}
		} else if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// WRAP-25: manual pages in both sets of macros.
func TestManual(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"man": {`.\" a comment
.TH BREW 1
.SH NAME
brew \- make tea
.SH SYNOPSIS
.B brew
[\fIOPTION\fR]... [\fI\,FILE\/\fR]...
.SH DESCRIPTION
Reads standard input.
.TP
\fB\-a\fR, \fB\-\-all\fR
all of it
.TP
.BI \-\-kind= KIND
the kind
.TP
\fB\-f\fR \fIfile\fR
read it
.TP
\fB\-\-when\fR=\fIW\fR
when:
.RS
.TP
now
at once
.TP
later
not yet
.RE
.IP "\-v" 4
say more
.PP
\-\-long
.RS 4
as some converters write it
.RE
Prose between options.
.PP
\-<number>, \-n <number>, \-\-max=<number>
.RS 4
so many
.RE
.SH EXAMPLES
.TP
\-z
no option
`, "-a --all\n--kind = string\n-f = path\n--when = string\n-v\n--long\n-n --max = integer\n<FILE> path ...\n"},
		"mdoc": {`.Dd today
.Dt BREW 1
.Os
.Sh NAME
.Nm brew
.Nd make tea
.Sh SYNOPSIS
.Nm
.Op Fl ab
.Op Fl k Ar kind
.Ar
.Sh DESCRIPTION
The
.Nm
utility makes tea.
.Bl -tag -width Ds
.It Aq none
List them.
.El
.Bl -tag -width Ds
.It Fl a
All of it.
.It Fl b
Black.
.It Fl k Ar kind
The supported kinds are green, black, and white.
.It Fl -long Ns = Ns Ar file
A file.
.El
`, "-a\n-b\n-k = string\n--long = path\n<file> path ... !\n"},
		"lines with spaces": {`.SH NAME
brew \- make tea
.SH DESCRIPTION
Leaves:
  \-alpha kind    green
                 black
  \-beta          all
`, "-alpha = string\n-beta\n"},
	} {
		p := Manual([]byte(c.text), []string{"brew"})
		if got := listing(p); got != c.want || p.Summary != "make tea" {
			t.Errorf("%s: %q\n%s\nwant\n%s", name, p.Summary, got, c.want)
		}
		if a := p.Find("-a"); a != nil && !strings.HasPrefix(strings.ToLower(a.Help), "all of it") {
			t.Errorf("%s: -a is described as %q", name, a.Help)
		}
	}
}

// WRAP-21: the first source wins, later ones fill in.
func TestMerge(t *testing.T) {
	first := Help([]byte("Usage: brew [OPTION]...\n  -k, --kind=NAME  of the help\n  -a, --all\n"), []string{"brew"})
	first.Merge(Manual([]byte(".SH OPTIONS\n.TP\n\\-k, \\-\\-kind=FILE\nof the page\n.TP\n\\-\\-all\nof the page\n"+
		".TP\n\\-\\-new\nnew\n"), []string{"brew"}))
	o := first.Find("-k")
	if o == nil || o.Help != "of the help" || o.Value == nil || o.Value.Name != "NAME" {
		t.Errorf("%+v", o)
	}
	if all := first.Find("--all"); all == nil || all.Help != "of the page" {
		t.Errorf("%+v", all)
	}
	if first.Find("--new") == nil {
		t.Error(listing(first))
	}
}

// WRAP-52: texts that are not help, even if they look like it, produce nothing.
func TestNoHelp(t *testing.T) {
	for _, text := range []string{
		"", "\n\n", "hello\n", "brew: cannot open --help: no such file\n", strings.Repeat("a line of data\n", 100),
		"- a list\n- of things\n", "--- a/file\n+++ b/file\n", "-----BEGIN KEY-----\n", "1 -2 3\n",
	} {
		if p := Help([]byte(text), []string{"brew"}); p.Size() > 0 {
			t.Errorf("%q: %s", text, listing(p))
		}
	}
}

// WRAP-29: no text makes a parser fail, take long, or return an impossible option.
func FuzzHelp(f *testing.F) {
	for _, c := range helps {
		f.Add(c.text)
	}
	f.Add("Usage: " + strings.Repeat("[", 100) + strings.Repeat("-a|", 50))
	f.Fuzz(func(t *testing.T, text string) { sound(t, Help([]byte(text), []string{"brew", "pour"})) })
}

func FuzzManual(f *testing.F) {
	f.Add(".TH X 1\n.SH NAME\nx \\- y\n.SH OPTIONS\n.TP\n\\fB\\-a\\fR\nall\n.RS 4\n.IP \\(bu 2\nno \\- x\n.RE\n")
	f.Add(".Sh SYNOPSIS\n.Nm x\n.Op Fl a Ar b\n.Bl -tag\n.It Fl a Ar b Ns Oo , Oc\ntext\n.El\n.de X\n..\n.ie n \\{\n\\}\n")
	f.Fuzz(func(t *testing.T, text string) { sound(t, Manual([]byte(text), []string{"brew"})) })
}

// sound checks properties of a program that the authors of tools rely on.
func sound(t *testing.T, p *Program) {
	t.Helper()
	if p == nil {
		return
	}
	if len(p.Options) > maxOptions || len(p.Operands) > maxOperands || len(p.Subcommands) > maxCommands {
		t.Errorf("%d options, %d operands, %d commands", len(p.Options), len(p.Operands), len(p.Subcommands))
	}
	seen := map[string]bool{}
	for _, o := range p.Options {
		if len(o.Names) == 0 {
			t.Fatalf("an option without a name: %+v", o)
		}
		for _, name := range append(slices.Clone(o.Names), o.Negations...) {
			if m := nameAt.FindString(name); m != name || len(name) > maxName+2 || strings.ContainsAny(name, " \n'\"$`\\") {
				t.Errorf("%q is no name", name)
			}
		}
		if name := o.Names[0]; seen[name] {
			t.Errorf("%s stands twice", name)
		} else {
			seen[name] = true
		}
		if v := o.Value; v != nil && (v.Kind == "" || v.Kind == recipe.Choice && len(v.Choices) < 2 ||
			len(v.Choices) > maxChoices) {
			t.Errorf("%s: %+v", o.Names[0], v)
		}
		if len(o.Help) > maxText+4 || strings.ContainsAny(o.Help, "\n\x1b\x00") {
			t.Errorf("%s: %q", o.Names[0], o.Help)
		}
	}
	for _, o := range p.Operands {
		if o.Name == "" || o.Kind == "" || strings.ContainsAny(o.Name, "\n\x00") {
			t.Errorf("%+v", o)
		}
	}
	for _, c := range p.Subcommands {
		if strings.HasPrefix(c.Name, "-") || strings.ContainsAny(c.Name, " \n/") {
			t.Errorf("%q is no command", c.Name)
		}
	}
}

// WRAP-24, WRAP-28: alternatives between bars are choices only if they are literal words.
func TestAlternatives(t *testing.T) {
	for text, want := range map[string]string{
		"Usage: brew c|x|t [-a] [FILE]...\n\n  -a  all\n": "-a\n<c|x|t> choice !\n<FILE> path ...\n",
		"Usage: brew [OPTION]...\n\n  -b, --biscuit <data|filename>  sent\n  -m <hot|cold>  how\n": "-b --biscuit = " +
			"string\n" +
			"-m = choice hot,cold\n",
		"Usage: brew -a POT | brew -b\n\n  -a  all\n  -b  b\n": "-a\n-b\n",
	} {
		if got := listing(Help([]byte(text), []string{"brew"})); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
		}
	}
}

// WRAP-28: an option can be repeated if the text declares it. Names that usually are lists are a guess.
func TestRepeat(t *testing.T) {
	for line, want := range map[string]string{
		"-k KIND  a kind; can be used multiple times":         "...",
		"-k KIND  Multiple kinds may be given":                "...",
		"-k KIND  You can specify multiple kinds":             "...",
		"-k KIND  a kind. This option is repeatable.":         "...",
		"-k KIND  a kind, by passing -k multiple times":       "...",
		"-k KIND  a kind. With more than one -k, any of them": "...",
		"-k KIND  a kind; multiple options specify several":   "...",
		"-k KIND  a kind, with a line after each use of KIND": "",
		"-k=...  a kind": "",
		"-k KIND  more than one, by specifying -k several times":          "...",
		"-k KIND  each occurrence adds a kind":                            "...",
		"-k <KIND>...  a kind":                                            "...",
		"-k KIND  Multiple kinds can be given, separated by commas":       "",
		"-k KIND,...  kinds":                                              "",
		"-k KIND  a kind. If given multiple times, the last one is used.": "",
		"-k KIND  a kind; cannot be used more than once":                  "",
		"-k KIND  a kind":                                                 "",
		"-v, -vv  say more":                                               "...",
		"-v  say more, and -vv even more":                                 "...",
		"-v  say more\n  -vv  say even more":                              "...",
		"-v  Increase verbosity":                                          "...",
		"-v  be verbose":                                                  "",
		"--exclude PATTERN  skip these":                                   "...?",
		"--exclude LIST  skip these, separated by commas":                 "",
		"--exclude  skip some":                                            "",
		"-p NAME=VALUE  a parameter":                                      "...?",
		"--exclude-from FILE  skip those in FILE":                         "...?",
		"-o ARG  an option in key=value form":                             "...?",
	} {
		p := Help([]byte("Usage: brew [OPTION]...\n\n  "+line+"\n"), []string{"brew"})
		got := ""
		if len(p.Options) == 1 && p.Options[0].Repeat {
			got = "..."
			if p.Options[0].RepeatGuessed {
				got += "?"
			}
		}
		if got != want || len(p.Options) != 1 {
			t.Errorf("%s: %q\n%s", line, got, listing(p))
		}
	}
}

// WRAP-24: lines for a mode or for help, and a program that also works without a command.
func TestModes(t *testing.T) {
	for text, want := range map[string]string{
		"usage: brew POT\n       brew --help\n":        "<POT> string !\n",
		"usage: brew --cold [<options>] <pot> <pot>\n": "--cold\n",
		"usage: brew [-a] POT\n       brew -l\n":       "-a\n-l\n<POT> string\n",
		"Usage:\n  brew [flags]\n  brew [command]\n\nAvailable Commands:\n  pour  pour it\n\nFlags:\n" +
			"  -h, --help   help for brew\n": "-h --help\n> pour: pour it\n",
	} {
		p := Help([]byte(text), []string{"brew"})
		if got := listing(p); got != want || p.Loose != !strings.Contains(got, "<") {
			t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
		}
	}
}
