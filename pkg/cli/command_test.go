package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// demo returns a command with all kinds of options and operands. It prints the values
// that it got.
func demo() *Command {
	var dir, kind string
	var names []string
	var secs int
	var quiet bool
	copyFiles := &Command{
		Name: "copy", Summary: "Copy a file. It says nothing.",
		Examples: []Example{{Line: "NAME a b", Purpose: "copy a to b"}},
		Operands: []Operand{{Name: "FROM", Complete: Files}, {Name: "[TO...]", Complete: Dirs}},
		Text: "A paragraph that is long enough to be wrapped at the width of the help, which is eighty columns.\n\n  " +
			"kept",
		Exits: []Exit{{0, "copied"}},
		Run: func(s Streams, operands []string) error {
			fmt.Fprintln(s.Out, dir, kind, names, secs, quiet, operands)
			return nil
		},
	}
	f := &copyFiles.Flags
	f.String(&dir, "dir", "DIR", "where").Completes(Dirs)
	f.One(&kind, "kind", "KIND", []string{"hard", "soft"}, "of link")
	f.Strings(&names, "name", "NAME",
		"a NAME; may be repeated").Completes(Found(func() []string { return []string{"ada", "bob"} }))
	f.Positive(&secs, "wait", "SECS", "how long")
	f.Bool(&quiet, "quiet", "say nothing")
	remove := &Command{Name: "remove", Summary: "Remove a file.", Operands: []Operand{{Name: "FILE"}},
		Run: func(Streams, []string) error { return ExitCode(7) }}
	return &Command{Name: "demo", Summary: "Do things.", Commands: []*Command{copyFiles, remove}}
}

func runDemo(args ...string) (code int, out, err string) {
	var o, e bytes.Buffer
	code = demo().Main(Streams{strings.NewReader(""), &o, &e}, "mcp-demo", args)
	return code, o.String(), e.String()
}

// CLI-103 to CLI-107.
func TestCommand(t *testing.T) {
	t.Setenv("HOME", "/h")
	for _, tc := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"copy a b c", 0, "  [] 0 false [a b c]\n", ""},
		{"copy a --dir x --kind=soft --name p b --name q --wait 5 --quiet", 0, "x soft [p q] 5 true [a b]\n", ""},
		{"--dir x copy a", 0, "x  [] 0 false [a]\n", ""},
		{"copy a --dir=~/x", 0, "/h/x  [] 0 false [a]\n", ""}, // E-12
		{"copy a --dir file:///x", 0, "/x  [] 0 false [a]\n", ""},
		{"copy a --dir https://h", 2, "", "demo: --dir: https://h is a URL, not a path\n"},
		{"copy a --dir=~bob/x", 2, "", "demo: --dir: ~bob is not expanded; write the whole path, or ./~bob for a file of " +
			"that name\n"},
		{"copy a --name x\xff", 2, "", "demo: --name: \"x\ufffd\" is not valid UTF-8\n"},
		{"copy a --name=\xc3", 2, "", "demo: --name: \"\ufffd\" is not valid UTF-8\n"},
		{"copy a --dir /x\xff", 0, "/x\xff  [] 0 false [a]\n", ""},
		{"copy -- --dir -x", 0, "  [] 0 false [--dir -x]\n", ""},
		{"copy -", 0, "  [] 0 false [-]\n", ""},
		{"remove a", 7, "", ""},
		{"", 2, "", "demo: a subcommand is missing: copy or remove\n"},
		{"cpoy", 2, "", "demo: unknown subcommand: cpoy (did you mean copy?)\n"},
		{"xyz", 2, "", "demo: unknown subcommand: xyz\n"},
		{"copy", 2, "", "demo: FROM is missing\n"},
		{"remove a b", 2, "", "demo: unexpected argument: b\n"},
		{"copy a --dri x", 2, "", "demo: unknown option: --dri (did you mean --dir?)\n"},
		{"copy a -q", 2, "", "demo: unknown option: -q\n"},
		{"copy a --dir", 2, "", "demo: --dir requires a value\n"},
		{"copy a --wait 0", 2, "", "demo: --wait must be a positive integer\n"},
		{"copy a --kind sotf", 2, "",
			"demo: --kind: unknown kind \"sotf\" (did you mean soft?); there are hard, soft\n"},
		{"--json", 2, `{"ok":false,"error":{"code":"usage","message":"a subcommand is missing: copy or remove"}}` +
			"\n", "demo: a subcommand is missing: copy or remove\n"},
		{"--version", 0, "mcp-demo " + Version + "\n", ""},
		{"--version --json", 0, `{"name":"mcp-demo","version":"` + Version + `"}` + "\n", ""},
		{"copy --bogus -v --version", 0, "mcp-demo " + Version + "\n", ""},
	} {
		code, out, err := runDemo(strings.Fields(tc.args)...)
		first, hint, _ := strings.Cut(err, "\n")
		if code != tc.code || out != tc.out || first != strings.TrimSuffix(tc.err, "\n") {
			t.Errorf("%s: %d, %q, %q", tc.args, code, out, err)
		}
		if tc.code == 2 && !strings.HasPrefix(hint, `Run "mcp-demo`) {
			t.Errorf("%s: %q", tc.args, hint)
		}
	}
}

// A program can have a subcommand that runs if the arguments name none.
func TestDefaultSubcommand(t *testing.T) {
	json := false
	look := &Command{Name: "look", Run: func(s Streams, _ []string) error {
		fmt.Fprintln(s.Out, "looked", json)
		return nil
	}}
	look.Flags.Bool(&json, "json", "JSON")
	c := &Command{Name: "demo", Default: "look", Commands: []*Command{look, {Name: "other"}}}
	for args, want := range map[string]string{
		"": "looked false\n", "--json": "looked true\n", "look": "looked false\n",
	} {
		json = false
		var out, stderr strings.Builder
		code := c.Main(Streams{Out: &out, Err: &stderr}, "demo", strings.Fields(args))
		if code != ExitOK || out.String() != want || stderr.String() != "" {
			t.Errorf("%q: %d %q %q", args, code, out.String(), stderr.String())
		}
	}
	var out, stderr strings.Builder
	if code := c.Main(Streams{Out: &out, Err: &stderr}, "demo", []string{"lok"}); code != ExitUsage {
		t.Errorf("%d %q", code, stderr.String())
	}
	if c.Main(Streams{Out: &out, Err: &stderr}, "demo", []string{"--help"}); !strings.Contains(out.String(), "other") {
		t.Errorf("not the help of the program: %s", out.String())
	}
}

// A command can have subcommands, and its own operands and options.
func TestCommandWithSubcommand(t *testing.T) {
	show := func(name string) func(Streams, []string) error {
		return func(s Streams, operands []string) error {
			fmt.Fprintln(s.Out, name, strings.Join(operands, " "))
			return nil
		}
	}
	tool := ""
	c := &Command{Name: "look", Operands: []Operand{{Name: "[FILE...]", Complete: Files}}, Run: show("look"),
		Commands: []*Command{{Name: "key", Summary: "Make it.", Operands: []Operand{{Name: "FILE"}}, Run: show("key")}}}
	c.Flags.String(&tool, "tool", "NAME", "a name")
	for args, want := range map[string]string{
		"": "look \n", "a key": "look a key\n", "--tool key a": "look a\n", "-- key": "look key\n", "key a": "key a\n",
		"key": "look: FILE is missing\n", "key --tool x": "look: unknown option: --tool\n",
		"__complete ": "key\tmake it\n:files\n", "__complete key ": "", "__complete a k": ":files\n",
		"__complete --tool k": "",
	} {
		words, out := strings.Split(args, " "), strings.Builder{}
		if args == "" {
			words = nil
		}
		c.Main(Streams{Out: &out, Err: &out}, "look", words)
		if got, _, _ := strings.Cut(out.String(), "Run "); got != want {
			t.Errorf("%q: %q, not %q", args, got, want)
		}
	}
}

func TestHelp(t *testing.T) {
	_, got, _ := runDemo("copy", "--bogus", "--help")
	want := `Copy a file. It says nothing.

Examples:
  mcp-demo copy a b   # copy a to b

Usage: mcp-demo copy FROM [TO...] [options]
       as a verb: mcp-bash demo copy

Options:
  --dir DIR      where
  --kind KIND    of link
  --name NAME    a NAME; may be repeated
`
	if !strings.HasPrefix(got, want) || !strings.Contains(got,
		"\nA paragraph that is long enough to be wrapped at the width of the help, which is\neighty columns.\n\n  kept\n") {
		t.Errorf("%s", got)
	}
	if _, got, _ = runDemo("-h"); !strings.Contains(got, "  copy    copy a file\n          FROM [TO...] [--dir DIR]") {
		t.Errorf("%s", got)
	}
}

// CLI-1160: help fits the width of the terminal, except examples, which are never broken.
func TestHelpWidth(t *testing.T) {
	c := demo().Commands[0]
	c.Examples = append(c.Examples, Example{Line: "NAME " + strings.Repeat("a-long-name ", 6) + "b",
		Purpose: "copy several"})
	for _, width := range []layout{30, 45, 80, 120} {
		text := c.help("mcp-demo copy", "mcp-bash demo copy", width)
		for line := range strings.Lines(text) {
			if n := len(strings.TrimSuffix(line, "\n")); n > int(width) && !strings.Contains(line, "mcp-demo copy") &&
				!strings.Contains(line, "as a verb") {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
		for _, e := range c.Examples {
			if example := "\n  " + e.named("mcp-demo copy"); !strings.Contains(text, example) {
				t.Errorf("%d columns: the example %q is broken:\n%s", width, example, text)
			}
		}
	}
	if text := c.help("mcp-demo copy", "", 60); !strings.Contains(text,
		"\n  # copy several\n  mcp-demo copy a-long-name") {
		t.Error(text)
	}
	c.Examples[len(c.Examples)-1].Purpose = "copy several files, each of which has its own name"
	if text := c.help("mcp-demo copy", "", 40); !strings.Contains(text,
		"\n  # copy several files, each of which\n  # has its own name\n  mcp-demo copy a-long-name") {
		t.Error(text)
	}
	if text := c.help("mcp-demo copy", "", 40); !strings.Contains(text, "\n  --dir DIR\n      where\n") {
		t.Error(text)
	}
}

// CLI-1161: help of subcommands.
func TestHelpOfSubcommand(t *testing.T) {
	_, want, _ := runDemo("copy", "--help")
	for _, args := range [][]string{{"help", "copy"}, {"-h", "copy"}, {"--help", "copy"}} {
		if code, got, _ := runDemo(args...); code != ExitOK || got != want {
			t.Errorf("%q: exit code %d, %s", args, code, got)
		}
	}
	var out bytes.Buffer
	c := demo()
	c.Name = "mcp-demo" // a program of several verbs
	c.Main(Streams{strings.NewReader(""), &out, &out}, "mcp-demo", []string{"-h", "copy"})
	if !strings.Contains(out.String(), "\n       as a verb: mcp-bash copy\n") {
		t.Error(out.String())
	}
}

// CLI-108: errors and notices contain no login of a URL.
func TestNoLogins(t *testing.T) {
	const address, want = "ftp://user:secret@host", "ftp://**redacted**@host"
	var out bytes.Buffer
	Streams{Err: &out}.Notice(address)
	plain := MessageOf(errors.New(address))
	full := (&Error{Subject: address, Cause: errors.New(address), Hint: address}).Error()
	if out.String() != want+"\n" || string(plain) != want || full != want+": "+want+"\n"+want {
		t.Errorf("%q, %q, %q", out.String(), plain, full)
	}
}

// CLI-1164: cells stay on one line, and rows fit the terminal. A long cell does not hide the cells after it.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	Table{{"TIME", "WHAT", "OUTCOME"}, {"1", strings.Repeat("w", 900), "denied"}, {"2", "hello", "success"}}.Print(&out)
	const what = 80 - len("TIME  ") - len("  success")
	if want := fmt.Sprintf("TIME  %-*s  OUTCOME\n1     %s…  denied\n2     %-*s  success\n", what, "WHAT",
		strings.Repeat("w", what-1), what, "hello"); out.String() != want {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	Table{{"NAME", "ABOUT"}, {"a\nb\tc", strings.Repeat("é", 90)}, {"long name", ""}}.Print(&out)
	want := "NAME       ABOUT\na\\nb\\tc    " + strings.Repeat("é", 68) + "…\nlong name\n"
	if out.String() != want {
		t.Errorf("%q", out.String())
	}
}

// CLI-1167: a manual page refers to the other programs.
func TestManualSeeAlso(t *testing.T) {
	want := ".SH SEE ALSO\n.BR mcp\\-runtool (1),\n.BR mcp\\-registry (1),\n.BR mcp\\-bundle (1),\n" +
		".BR mcp\\-scaffold (1),\n.BR mcp\\-doctor (1)\n"
	if got := demo().manual("mcp-bash"); !strings.HasSuffix(got, want) {
		t.Error(got)
	}
}

func TestComplete(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"|", "copy remove"},
		{"re|", "remove"},
		{"--|", "--help --version"},
		{"copy |", ":files"},
		{"copy a |", ":directories"},
		{"copy a b c |", ":directories"},
		{"remove a |", ""},
		{"copy --d|", "--dir"},
		{"copy --dir |", ":directories"},
		{"copy --kind |", "hard soft"},
		{"copy --kind=s|", "--kind=soft"},
		{"copy --name b|", "bob"},
		{"copy --dir x |", ":files"},
		{"copy -- --d|", ":files"},
		{"--dir x copy a |", ":directories"},
	} {
		before, part, _ := strings.Cut(tc.args, "|")
		words := strings.Fields(before)
		if !strings.HasSuffix(before, " ") && len(words) > 0 {
			part, words = words[len(words)-1], words[:len(words)-1]
		}
		code, out, _ := runDemo(append([]string{CompleteWord}, append(words, part)...)...)
		var got []string
		for line := range strings.Lines(out) {
			word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			got = append(got, word)
		}
		if strings.Join(got, " ") != tc.want || code != 0 {
			t.Errorf("%s: %d, %q, want %q", tc.args, code, got, tc.want)
		}
	}
}

// A manual page names everything, and holds nothing that roff would act on.
func TestManual(t *testing.T) {
	_, page, _ := runDemo(manualWord)
	for _, want := range []string{".TH MCP-DEMO 1", `.SH MCP\-DEMO COPY`, `.B \-\-wait SECS`, ".SS Exit codes"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing in\n%s", want, page)
		}
	}
	known := []string{".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".BR", ".nf", ".fi"}
	for line := range strings.Lines(page) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(word, ".") &&
			!slices.Contains(known, word) {
			t.Errorf("%q", line)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"description", "inputSchema", "timeoutSecs", "name"}
	for word, want := range map[string]string{
		"desciption": "description", "inputschema": "inputSchema", "timeoutSec": "timeoutSecs", "nmae": "name", "x": "",
		"icons": "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

// Resembles ignores case, everything but letters, and one wrong letter (CF-63).
func TestResembles(t *testing.T) {
	for word, want := range map[string]bool{
		"confine": true, "Confine": true, "con_fine": true, " confine": true, "conflne": true, "confin": true,
		"confined": true, "c\u043enfine": true, "": false, "c": false, "config": false, "combine": false, "online": false,
		"define": false, "confines!": true, "confinement": false, strings.Repeat("-", 99) + "confine": false,
	} {
		if got := Resembles(word, "confine"); got != want {
			t.Errorf("%q: %t", word, got)
		}
	}
}

// How mcp-bash calls its siblings shows in their help.
func TestCalledAsVerb(t *testing.T) {
	os.Setenv("MCPBASH_ARGV0", "mcp-bash demo")
	defer os.Unsetenv("MCPBASH_ARGV0")
	if _, got, _ := runDemo("remove", "--help"); !strings.Contains(got, "Usage: mcp-bash demo remove FILE\n\nOptions") {
		t.Errorf("%s", got)
	}
}
