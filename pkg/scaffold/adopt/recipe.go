package adopt

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/scaffold/draft"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/pkg/shellscript"
	"mcp-bash/pkg/text/helptext"
)

// timeout is the time limit of a call in seconds. Scripts can make backups or wait for servers.
const timeout = 300

// Tool makes a tool from a script in a folder, for a user with a home directory and a PATH. If ask is true, the user of
// the client answers its questions. The caller sets the source, the program and the words of its command line.
func Tool(dir string, f *Found, home, path string, ask bool) wrap.Tool {
	t := wrap.Tool{Name: f.Tool, Recipe: f.recipe()}
	t.Trial, _ = f.Trial()
	for _, q := range f.Script.Questions {
		if ask {
			t.Asks = append(t.Asks, wrap.Ask{Text: q.Text, YesNo: q.YesNo, Choices: q.Choices})
		}
	}
	for _, v := range f.Script.Variables {
		t.Variables = append(t.Variables, v.Name)
	}
	file := filepath.Join(dir, filepath.FromSlash(f.Path))
	nextTo := func(name string) string { return filepath.Join(filepath.Dir(file), filepath.FromSlash(name)) }
	for _, name := range f.Script.Programs {
		own, isOwn := strings.CutPrefix(name, "./")
		if isOwn {
			t.Starts = append(t.Starts, nextTo(own))
		} else if script.LookPath(name, path) != "" {
			t.Starts = append(t.Starts, name)
		}
		if !isOwn && !shellscript.IsStandard(name) {
			t.Install = append(t.Install, name)
		}
	}
	t.Reads, t.Writes = paths(f, file, home)
	if !f.Parsed() {
		t.Reads = append(t.Reads, installation(f.Language, home, path)...)
	}
	return t
}

// paths returns the entries of the tool's confinement. No entry is a home directory, or contains one.
func paths(f *Found, file, home string) (reads, writes []string) {
	homes, folder := fsys.HomesOf(home), filepath.Dir(file)
	if reads = []string{folder}; homes.Hold(folder) {
		reads = []string{file}
		for _, own := range f.Script.Sources {
			reads = append(reads, filepath.Join(folder, filepath.FromSlash(own)))
		}
	}
	in := func(p string) string {
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			return filepath.Join(home, rest)
		}
		return p
	}
	missing := func(p string) bool {
		_, err := os.Stat(in(p))
		return err != nil
	}
	refused := func(p string) bool { return missing(p) || in(p) == "/" || homes.Hold(in(p)) || homes.Hide(in(p)) }
	without := func(is func(string) bool, list []string) []string { return slices.DeleteFunc(slices.Clone(list), is) }
	does := f.Script.Effects
	return slices.Concat(reads, without(missing, does.Settings), without(refused, does.ReadPaths)),
		without(refused, does.WritePaths)
}

// recipe describes the command line of the script.
func (f *Found) recipe() *recipe.Recipe {
	s := f.Script
	r := &recipe.Recipe{
		Title: title(f.Tool), Summary: sentence(cmp.Or(s.Description, title(f.Tool))),
		InRoot: !s.Effects.InOwnFolder, Output: recipe.Output{Type: "text"}, TimeoutSecs: timeout,
		Capabilities: capabilities(s), Effects: effects(s),
	}
	if f.help != nil {
		r.Arguments, r.Stdin = f.help.Arguments, f.help.Stdin
		return r
	}
	for i, a := range s.Arguments {
		if a.Kind == shellscript.Input {
			r.Stdin = &recipe.Stdin{Name: a.Name, Description: text(a), Pattern: pattern(a)}
			continue
		}
		r.Arguments = append(r.Arguments, argument(a, slices.ContainsFunc(s.Arguments[i+1:], isOperand)))
	}
	return r
}

// Parsed reports whether the arguments of the script are known from its text.
func (f *Found) Parsed() bool {
	return shellscript.IsShell(f.Language)
}

// Explain gives a script of another language the arguments that its help describes. asked made it print the help.
// Without arguments, it keeps its list of words.
func (f *Found) Explain(h helptext.Help, asked *wrap.Trial) {
	r := draft.Recipe([]string{f.Tool}, h, "input")
	known := len(r.Arguments) > 0 && !draft.Generic(r)
	if known || h.Usage {
		f.asked = asked
	}
	if known {
		f.help, f.Script.Doubts = r, nil
		f.Script.Description = cmp.Or(f.Script.Description, h.Purpose)
	}
}

func isOperand(a *shellscript.Argument) bool {
	return len(a.Options) == 0 && a.Kind != shellscript.Input
}

// argument translates an argument. The default of an operand is passed if another operand can follow it.
func argument(a *shellscript.Argument, followed bool) recipe.Argument {
	to := recipe.Argument{
		Name: a.Name, Description: text(a), Type: recipe.String, Required: a.Required, Repeat: a.Repeat, Choices: a.Choices,
	}
	if len(a.Options) > 0 {
		options := slices.Clone(a.Options)
		slices.Reverse(options) // the last of several long ones
		to.Option = slices.MaxFunc(options, func(a, b string) int { return len(a) - len(b) })
		to.Aliases = slices.DeleteFunc(slices.Clone(a.Options), func(o string) bool { return o == to.Option })
		if a.Equals {
			to.Form = recipe.Equals
		}
	}
	switch {
	case !a.Value:
		to.Type = recipe.Switch
	case len(a.Choices) > 0:
		to.Type = recipe.Choice
	case a.Kind == shellscript.Integer:
		to.Type = recipe.Integer
	case a.Kind == shellscript.File || a.Kind == shellscript.Directory:
		to.Type = recipe.Path
	}
	if to.Type == recipe.String || to.Type == recipe.Path {
		to.Pattern = pattern(a)
	}
	if len(a.Options) == 0 && followed && a.Default != nil && *a.Default != "" {
		to.Default = *a.Default
	}
	to.Dashes = slices.Contains(a.Doubts, shellscript.DoubtPassedOn)
	for _, kind := range a.Doubts {
		to.Unconfirmed = append(to.Unconfirmed, string(kind))
	}
	return to
}

// pattern returns a pattern without commands for a text that can reach an arithmetic expression. Bash would run them
// there.
func pattern(a *shellscript.Argument) string {
	if a.NoCommands {
		return "[^$`]*"
	}
	return ""
}

// text describes an argument for a model.
func text(a *shellscript.Argument) string {
	t := strings.TrimSpace(a.Text)
	if a.Default != nil && *a.Default != "" && !strings.Contains(strings.ToLower(t), "default") {
		t = strings.TrimSpace(t + " (default: " + *a.Default + ")")
	}
	return t
}

// capabilities returns what the script needs as far as its text shows it: it reads the roots, and writes to them.
func capabilities(s *shellscript.Script) []string {
	list := []string{string(access.Search)}
	if s.Effects.Writes || s.Unknown {
		list[0] = string(access.Edit)
	}
	if s.Effects.Network {
		list = append(list, string(access.Network))
	}
	if s.Unknown {
		list = append(list, string(access.Process))
	}
	return list
}

func effects(s *shellscript.Script) recipe.Effects {
	yes, no := true, false
	e := recipe.Effects{}
	if s.Effects.Destroys {
		e.ReadOnly, e.Destructive = &no, &yes
	}
	if s.Effects.Network {
		e.OpenWorld = &yes
	}
	return e
}

// title returns the name of a tool as words.
func title(name string) string {
	t := strings.NewReplacer("-", " ", "_", " ").Replace(name)
	return strings.ToUpper(t[:1]) + t[1:]
}

func sentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 600 {
		s = s[:strings.LastIndexByte(s[:600], ' ')]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return strings.ToUpper(s[:1]) + s[1:]
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

// A Note is a point about a script that a person should check.
type Note struct {
	Line int    `json:"line"` // of the script, or 0
	Text string `json:"text"`
}

// meanings are the texts for the doubts of package shellscript.
var meanings = map[shellscript.DoubtKind]string{
	shellscript.DoubtName:     "%s: the script gives it no name; rename it in tool.meta.json and tool.sh",
	shellscript.DoubtRequired: "%s: probably required, because of the usage or of a check in another file",
	shellscript.DoubtPassedOn: "%s: the words reach the script as they are, because it does not explain them",
	shellscript.DoubtValue:    "%s: the script takes a value and does not use it",
	shellscript.DoubtOptions:  "options are read in a way that was not understood: %s",
	shellscript.DoubtPrograms: "starts programs that are known only when it runs, so the tool has the capability " +
		"Process%s",
	shellscript.DoubtShared: "writes in %s, which a confined tool cannot: use mktemp -t NAME.XXXXXX, or " +
		`"${TMPDIR:-/tmp}/NAME"`,
	shellscript.DoubtPurpose: "has no comment about its purpose: write the description in tool.meta.json%s",
	shellscript.DoubtUsage:   "%s: the usage text has it, and the code does not",
}

// Notes returns what a person should check about a script. If asked, the user of the client answers its questions.
func (f *Found) Notes(asked bool) (notes []Note) {
	s := f.Script
	for _, d := range s.Doubts {
		if text := meanings[d.Kind]; text != "" {
			notes = append(notes, Note{d.Line, fmt.Sprintf(text, d.What)})
		}
	}
	for _, q := range s.Questions {
		if asked {
			break
		}
		notes = append(notes, Note{q.Line, fmt.Sprintf("asks %q; with --ask, the user of the client answers", q.Text)})
	}
	for _, v := range s.Variables {
		if v.Required {
			notes = append(notes, Note{v.Line, v.Name + ": set it where the server starts"})
		}
	}
	add := func(is bool, text string) {
		if is {
			notes = append(notes, Note{0, text})
		}
	}
	add(s.Effects.Root, "needs the superuser (sudo), which a confined tool cannot become")
	add(s.Effects.Endless, "does not end by itself, so a call ends with its time limit")
	add(s.Effects.Terminal, "needs a terminal, which a tool does not have")
	add(s.Effects.WritesOwnFolder, "writes into its own folder, which has code: let it write to another one, and name"+
		" that in confine.write of tool.meta.json")
	if list := s.Effects.Secrets; len(list) > 0 {
		notes = append(notes, Note{0, fmt.Sprintf("its programs read %s, which can contain secrets: if calls need that, "+
			"add it to confine.read in tool.meta.json", strings.Join(list, ", "))})
	}
	if s.Effects.Destroys {
		notes = append(notes, Note{s.Effects.Line, "deletes or publishes something, so the tool is marked as destructive"})
	}
	return notes
}

// dryRuns are the names of options that make a script show what it would do.
var dryRuns = []string{"dry_run", "dryrun", "dry", "no_act", "noop", "simulate"}

// Trial returns a call that changes nothing, or why there is no such call.
func (f *Found) Trial() (call *wrap.Trial, lacks string) {
	s := f.Script
	switch {
	case s.Trial != nil:
		return &wrap.Trial{Words: []string{s.Trial.Word}, ExitCode: s.Trial.Status}, ""
	case f.asked != nil:
		return f.asked, ""
	}
	dry := slices.IndexFunc(s.Arguments, func(a *shellscript.Argument) bool {
		return !a.Value && slices.Contains(dryRuns, a.Name)
	})
	var needed []string
	for _, a := range s.Arguments {
		if a.Required {
			needed = append(needed, a.Name)
		}
	}
	switch {
	case dry < 0 && s.NoTrialLine > 0:
		return nil, fmt.Sprintf("line %d may change something before the script understands --help", s.NoTrialLine)
	case dry < 0:
		return nil, "no --help, --version or dry run that is sure to change nothing"
	case len(needed) > 0:
		return nil, "its dry run needs " + strings.Join(needed, ", ")
	case s.Effects.Network:
		return nil, "its dry run may use the network"
	}
	return &wrap.Trial{Arguments: map[string]any{s.Arguments[dry].Name: true}}, ""
}

// Harmless reports whether a call without arguments changes nothing, as far as the text shows it.
func (f *Found) Harmless() bool {
	s := f.Script
	return f.Parsed() && !s.Effects.Writes && !s.Effects.Network && !s.Effects.Destroys && !s.Unknown &&
		!s.Effects.Endless && len(s.Questions) == 0 &&
		!slices.ContainsFunc(s.Arguments, func(a *shellscript.Argument) bool { return a.Required })
}
