package shellscript

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// summary describes an argument in one line: name, options, then what is known about it.
func summary(a *Argument) string {
	words := []string{a.Name}
	words = append(words, a.Options...)
	add := func(is bool, word string) {
		if is {
			words = append(words, word)
		}
	}
	add(!a.Value, "flag")
	add(a.Equals, "equals")
	add(a.Required, "required")
	add(a.Repeat, "list")
	add(a.Kind == Integer, "integer")
	add(a.Kind == File, "file")
	add(a.Kind == Directory, "directory")
	add(a.Kind == Input, "input")
	add(len(a.Choices) > 0, "["+strings.Join(a.Choices, "|")+"]")
	if a.Default != nil {
		words = append(words, "default="+*a.Default)
	}
	for _, kind := range a.Doubts {
		words = append(words, "?"+string(kind))
	}
	return strings.Join(words, " ")
}

// describe returns what was found in a script, in lines.
func describe(s *Script) string {
	var b strings.Builder
	if s.Description != "" {
		fmt.Fprintf(&b, "description: %s\n", s.Description)
	}
	for _, a := range s.Arguments {
		fmt.Fprintf(&b, "%s\n", summary(a))
	}
	for _, v := range s.Variables {
		required := ""
		if v.Required {
			required = " required"
		}
		if v.Default != "" {
			required += " default=" + v.Default
		}
		fmt.Fprintf(&b, "variable: %s%s\n", v.Name, required)
	}
	if len(s.Programs) > 0 {
		fmt.Fprintf(&b, "programs: %s\n", strings.Join(s.Programs, " "))
	}
	var effects []string
	for word, is := range map[string]bool{
		"unknown programs": s.Unknown, "writes": s.Effects.Writes, "network": s.Effects.Network,
		"destroys": s.Effects.Destroys, "root": s.Effects.Root, "endless": s.Effects.Endless,
		"terminal": s.Effects.Terminal, "own folder": s.Effects.OwnFolder, "library": s.Library,
	} {
		if is {
			effects = append(effects, word)
		}
	}
	slices.Sort(effects)
	if len(effects) > 0 {
		fmt.Fprintf(&b, "effects: %s\n", strings.Join(effects, ", "))
	}
	for _, d := range s.Doubts {
		if d.Kind == DoubtShared {
			fmt.Fprintf(&b, "line %d: writes in %s\n", d.Line, d.What)
		}
	}
	for _, q := range s.Questions {
		fmt.Fprintf(&b, "asks: %s\n", q.Text)
	}
	return b.String()
}

// ADD-20 to ADD-25, ADD-27, ADD-31, ADD-33: each idiom of testdata has a script, and a file .want with the findings.
func TestIdioms(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/idioms.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	for i, f := range archive.Files {
		name, isWant := strings.CutSuffix(f.Name, ".want")
		if !isWant {
			continue
		}
		got := ""
		s, err := Read([]byte(files[name]), func(other string) []byte { return []byte(files[other]) })
		if err != nil {
			got = fmt.Sprintf("error: %v\n", err)
		} else {
			got = describe(s)
		}
		if got != string(f.Data) {
			t.Errorf("%s:\n%swant\n%s", name, got, f.Data)
			archive.Files[i].Data = []byte(got)
		}
	}
	if os.Getenv("UPDATE") != "" {
		os.WriteFile("testdata/idioms.txtar", txtar.Format(archive), 0o644)
	}
}

func FuzzRead(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/idioms.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		f.Add(file.Data)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Read(text, func(string) []byte { return text })
		if (s == nil) == (err == nil) {
			t.Errorf("%v, %v", s, err)
		}
		if s == nil {
			return
		}
		names := map[string]bool{}
		for _, a := range s.Arguments {
			if a.Name == "" || names[a.Name] {
				t.Errorf("the name %q", a.Name)
			}
			names[a.Name] = true
		}
	})
}

// ADD-10: a large script with variables that refer to each other is read at once.
func TestLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString("#!/bin/bash\nA=$B\nB=$A\n")
	for i := range 8000 {
		fmt.Fprintf(&b, "V%d=$V%d\n\"$A/x%d\" \"$V%d\" > \"$B/y\"\n", i, i+1, i, i)
	}
	if b.Len() > MaxSize {
		t.Fatal(b.Len())
	}
	if _, err := Read([]byte(b.String()), nil); err != nil {
		t.Error(err)
	}
	if _, err := Read(make([]byte, MaxSize+1), nil); err != ErrSize {
		t.Error(err)
	}
}

// ADD-10: a script that is built to take long is refused, or read at once.
func TestHostile(t *testing.T) {
	many := func(s string) string { return strings.Repeat(s, 20_000) }
	for _, c := range []struct {
		text string
		deep bool
	}{
		{"a" + many(" && b"), true},
		{"a" + many(" || b"), true},
		{"a" + many(" | b"), true},
		{"if a; then b; " + many("elif [ -z \"$1\" ]; then exit 1; ") + "fi", true},
		{"[[ " + many("-z $1 && ") + "-z $2 ]] && exit 1", true},
		{strings.Repeat("while a; do ", 1000) + "b" + strings.Repeat("; done", 1000), true},
		{"[ " + many("-z $1 -a ") + "-z $2 ] && exit 1", false},
		{"f() { local x=$1\n" + many("y=$((x+1))\n") + "}\n" + many("f \"$1\"\n"), false},
		{"f() { g \"$1\"; g \"$1\"; }\ng() { f \"$1\"; h \"$1\"; h \"$1\"; }\nh() { echo \"$1\"; }\n" +
			many("f \"$1\"\n"), false},
		{many("#\n\n"), false},
		{"f() { shift -5; echo \"$1\"; }\nf \"$1\"", false},
		{many("read n <<< $x\n") + "((n))", false},
		{"f() { read n; f; }\n" + many("f <<< $1\n") + "((n))", false},
		{many("while x; do shift; ((y = $1)); done\n"), false},
		{"f() { (($9)); }\n" + many("f $1 $2 $3\n"), false},
		{"x=1\n" + many("x=$x$x\n") + "\"$x/y\"", false},
	} {
		_, err := Read([]byte(c.text), nil)
		if _, refused := err.(*SyntaxError); refused != c.deep {
			t.Errorf("%.40s: %v", c.text, err)
		}
	}
}
