package adopt

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/scaffold/helptext"
	"mcp-bash/pkg/scaffold/source"
	"mcp-bash/pkg/scaffold/wrap"
)

// Parsed reports whether the arguments of the script are known from its text.
func (f *Found) Parsed() bool { return isShell(f.Language) }

// Explain gives a script of another language the arguments that its help describes. asked made it print the help.
// Without arguments, it keeps its list of words. A script may read its standard input if
// it needs no operand, or the help names that input.
func (f *Found) Explain(h helptext.Help, asked *wrap.Trial) {
	var list []*source.Argument
	taken := source.Names{}
	add := func(a *source.Argument, word string) {
		a.Name, a.Line = taken.Add(strings.ReplaceAll(toolName(word), "-", "_")), 1
		list = append(list, a)
	}
	for _, o := range h.Options {
		if slices.ContainsFunc(o.Names, func(name string) bool { return name == "-h" || name == "--help" }) ||
			slices.Equal(o.Names, []string{"--version"}) {
			continue
		}
		a := &source.Argument{Options: o.Names, Value: o.Value != "" && !o.Optional, Equals: o.Equals,
			Choices: o.Choices, Text: o.Text}
		if o.Default != "" {
			a.Default = &o.Default
		}
		add(a, longest(o.Names))
	}
	for _, o := range h.Operands {
		add(&source.Argument{Value: true, Repeat: o.Repeat, Required: !o.Optional, Text: o.Text}, o.Name)
	}
	if len(list) > 0 || h.Usage {
		f.asked = asked
	}
	if len(list) > 0 {
		demands := func(a *source.Argument) bool { return isOperand(a) && a.Required }
		if h.NamesInput() || !slices.ContainsFunc(list, demands) {
			list = append(list, source.InputArgument(taken, 1))
		}
		f.Says.Arguments, f.Says.Doubts = list, nil
		f.Says.Description = cmp.Or(f.Says.Description, h.Purpose)
	}
}

// installation returns the folders in the home directory that have the interpreter of a script: ~/.pyenv, or a virtual
// environment.
func installation(language, home, path string) (list []string) {
	program := script.LookPath(language, path)
	if program == "" {
		return nil
	}
	resolved, err := filepath.EvalSymlinks(program)
	if err != nil {
		return nil
	}
	homes := fsys.HomesOf(home)
	for _, file := range []string{program, resolved} {
		bin := filepath.Dir(file)
		folder := filepath.Dir(bin)
		manager := filepath.Base(bin) == "shims" // of pyenv, rbenv and the like, which are hidden folders
		if home != "" && fsys.Within(home, folder) && !homes.Hold(folder) && (manager || !homes.Hide(folder)) {
			list = append(list, folder)
		}
	}
	return slices.Compact(list)
}
