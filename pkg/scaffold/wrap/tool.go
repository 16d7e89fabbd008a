// Package wrap generates the files of a tool that runs a command-line program, from a recipe: tool.sh, tool.meta.json
// and README.md. It selects options, and maps them to a schema and to a command line. It does not access the file
// system.
package wrap

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold/recipe"
)

// A Tool is a tool that is about to be written.
type Tool struct {
	Name      string
	Words     []string       // the command line, as a person typed it
	Recipe    *recipe.Recipe // of everything
	Source    Source
	Program   string   // the first word as in tool.sh
	Needs     string   // the program to install, or "" for a program of the project
	Starts    []string // programs that it starts, in addition to those of the recipe
	Reads     []string // paths that it reads, beyond its capabilities
	Writes    []string // paths that it writes, beyond its capabilities
	Install   []string // programs to install, in addition to Needs
	Variables []string // of the server's environment that reach it
	Asks      []Ask    // questions of the program, which the user of the client answers
	LeftOut   []LeftOut
	Review    []string // points that a person should check
	Trial     *Trial   // a call that changes nothing, or nil

	offer *recipe.Recipe // with the arguments that the tool offers
}

// A Source is the origin of a recipe.
type Source struct {
	// File is the recipe's file. A name without a slash is in share/recipes. "" is the program's help.
	File string
	// Version is the installed version of the program, if it was compared with the recipe.
	Version string
	// Runner reports that the file is the project file of a task runner, Script that it is a script.
	Runner, Script bool
}

// kind returns the kind of the source for programs.
func (s Source) kind() string {
	switch {
	case s.File == "":
		return "help"
	case s.Runner:
		return "project"
	case s.Script:
		return "script"
	}
	return "recipe"
}

// String describes the source: "the recipe rg.json".
func (s Source) String() string {
	switch kind := s.kind(); kind {
	case "help":
		return "its help"
	case "project":
		return s.File
	default:
		return "the " + kind + " " + s.File
	}
}

// An Ask is a question that a program asks on the terminal. The answer is a line of its standard input.
type Ask struct {
	Text    string
	YesNo   bool     // the answer is y or n
	Choices []string // the answer is the number of a choice, from 1
}

// A Trial is a call that changes nothing.
type Trial struct {
	Words     []string       `json:"words,omitempty"`
	Arguments map[string]any `json:"arguments,omitzero"`
	ExitCode  int            `json:"exitCode,omitempty"`
}

// New makes a tool from a recipe. It selects the arguments, and lists the points to review.
func New(t Tool, s Selection) (*Tool, error) {
	if err := t.choose(s); err != nil {
		return nil, err
	}
	if v := t.Recipe.Version; v != nil && t.Trial == nil {
		t.Trial = &Trial{Words: v.CommandLine()}
	}
	t.review()
	return &t, nil
}

// review lists the points that a person should check.
func (t *Tool) review() {
	add := func(points ...string) { t.Review = append(t.Review, points...) }
	const annotations = "annotations: add readOnlyHint if a call changes nothing"
	switch t.Source.kind() {
	case "project":
		add("nothing is known about what it does: confirm or change the capabilities ["+
			strings.Join(t.Recipe.Capabilities, ", ")+"]", "its folder must be in a root, and it has no Network", annotations)
		if t.Arguments() > 0 {
			add("values become text of shell commands: extend their patterns only if the file quotes them")
		}
		return
	case "script": // the reader of the script knows more
		return
	case "recipe":
		if !t.Recipe.Verified {
			add("the recipe was not run on the real program: try its examples")
		}
	}
	var guessed []string
	for _, a := range t.offer.Arguments {
		if len(a.Unconfirmed) > 0 {
			guessed = append(guessed, cmp.Or(a.Option, a.Name)+" ("+strings.Join(a.Unconfirmed, ", ")+")")
		}
	}
	if len(guessed) > 0 {
		add("guessed from the help: " + strings.Join(guessed, ", "))
	}
	if list := t.capabilities(); !slices.Equal(list, t.Recipe.Capabilities) {
		add("capabilities: " + strings.Join(list, ", ") + ", because of a destructive argument")
	}
	if t.Source.File == "" {
		add("confined: it reads the roots, writes only its private folder, has no network and starts no other program",
			"more permissions: mcp-bash run-tool "+t.Name+" --learn shows which ones a call needs", annotations)
	}
}

// Requires returns the programs to install.
func (t *Tool) Requires() (names []string) {
	for _, name := range append([]string{t.Needs}, t.Install...) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Arguments returns the number of arguments that the tool offers.
func (t *Tool) Arguments() int { return len(t.offer.Properties()) }

// Destructive reports whether a call may delete or overwrite data. In a recipe that a person wrote,
// every argument that is only offered by name may do so.
func (t *Tool) Destructive() bool {
	effect := t.Recipe.Effects.Destructive
	return effect != nil && *effect || slices.ContainsFunc(t.offer.Arguments, func(a recipe.Argument) bool {
		return a.Destructive || a.Only && t.Source.File != ""
	})
}

// Table lists the arguments of the tool for people.
func (t *Tool) Table() cli.Table {
	rows := cli.Table{{"argument", "in the program", "takes", "description"}}
	for _, a := range t.offer.Properties() {
		takes := string(a.Type)
		for _, part := range []struct {
			is   bool
			text string
		}{
			{a.Repeat, "..."}, {a.Access == "write", ", written"}, {t.offer.Needs(a), ", required"},
			{len(a.Unconfirmed) > 0, ", guessed"},
		} {
			if part.is {
				takes += part.text
			}
		}
		in := inProgram(a)
		if t.offer.Stdin != nil && a.Name == t.offer.Stdin.Name {
			in = "standard input"
		}
		rows = append(rows, []string{a.Name, in, takes, a.Description})
	}
	return rows
}

// inProgram returns the program's name for an argument.
func inProgram(a *recipe.Argument) string { return cmp.Or(strings.Join(a.Spellings(), ", "), a.Name) }

// AppendJSON adds the recipe of a tool to an open object, and the properties that the tool offers.
func (t *Tool) AppendJSON(b *rawjson.Builder) {
	b.Name("source").String(t.Source.kind())
	b.Optional("file", t.Source.File)
	b.Optional("version", t.Source.Version)
	b.Name("recipe").Raw(recipe.Encode(t.Recipe)).Name("offered").Array()
	for _, a := range t.offer.Properties() {
		b.String(a.Name)
	}
	b.End().Name("leftOut").Array()
	for _, l := range t.LeftOut {
		b.Object().Name("option").String(l.Option).Name("why").String(l.Why).End()
	}
	b.End().Name("review").Strings(t.Review)
}

// A Selection determines which options a tool gets.
type Selection struct {
	// Max is the maximum number of options that are not required. 0 is MaxOptions for a tool
	// from a program's help, and all for one from a recipe. -1 allows none.
	Max     int      `json:"maxOptions,omitempty"`
	Only    []string `json:"only,omitempty"` // offer only these
	With    []string `json:"with,omitempty"` // offer these, too, which are left out otherwise
	Without []string `json:"without,omitempty"`
}

// MaxOptions is the maximum number of options of a tool that is made from a program's help.
const MaxOptions = 80

// A LeftOut is an option that the tool does not offer.
type LeftOut struct{ Option, Why string }

// For returns the selection without names that the recipe does not have. It is for a selection that several tools
// share.
func (s Selection) For(r *recipe.Recipe) Selection {
	known := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !Has(r, name) })
	}
	if len(s.Only) > 0 && len(known(s.Only)) == 0 {
		s.Max = -1
	}
	s.Only, s.With, s.Without = known(s.Only), known(s.With), known(s.Without)
	return s
}

// Has reports whether a name is one of the recipe's arguments.
func Has(r *recipe.Recipe, name string) bool {
	return slices.ContainsFunc(r.Properties(), func(a *recipe.Argument) bool { return isNamed(a, []string{name}) })
}

// isNamed reports whether one of the names, with or without dashes, names an argument or its option.
func isNamed(a *recipe.Argument, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		bare := strings.TrimLeft(name, "-")
		return name == a.Name || strings.ReplaceAll(bare, "-", "_") == a.Name ||
			slices.ContainsFunc(a.Spellings(), func(option string) bool {
				return name == option || name == strings.TrimLeft(option, "-")
			})
	})
}

// choose selects the arguments of the recipe that the tool offers, and records why it leaves out each of the others.
func (t *Tool) choose(s Selection) error {
	if err := unknownName(t.Recipe, s); err != nil {
		return err
	}
	left := max(s.Max, 0) // options that there is room for
	limit := left
	switch {
	case len(s.Only) > 0, s.Max == 0 && t.Source.File != "":
		left = math.MaxInt
	case s.Max == 0:
		left, limit = MaxOptions, MaxOptions
	}
	var err error
	t.offer = t.Recipe.Keep(func(a *recipe.Argument) bool {
		why := ""
		isOption := a.Option != ""
		switch danger := t.Recipe.Danger(a); {
		case isNamed(a, s.Without) && a.Required:
			err = cli.Usagef("--without %s: each call needs %[1]s", a.Name)
		case isNamed(a, s.Without):
			why = "--without"
		case isNamed(a, s.Only), isNamed(a, s.With), a.Required:
		case a.Only && danger != "":
			why = danger + "; --with adds it"
		case a.Only:
			why = "--with adds it"
		case len(s.Only) > 0 && isOption:
			why = "--only"
		case isOption && left <= 0:
			why = fmt.Sprintf("beyond the first %d; --max-options or --with adds it", limit)
		}
		if why != "" {
			t.LeftOut = append(t.LeftOut, LeftOut{inProgram(a), why})
		} else if isOption && !a.Required {
			left--
		}
		return why == ""
	})
	for _, option := range slices.Sorted(maps.Keys(t.Recipe.Dangers)) {
		if t.Source.File != "" && !Has(t.Recipe, option) {
			t.LeftOut = append(t.LeftOut, LeftOut{option, t.Recipe.Dangers[option]})
		}
	}
	slices.SortStableFunc(t.LeftOut, func(a, b LeftOut) int { return strings.Compare(a.Why, b.Why) })
	return err
}

// unknownName returns a usage error for the first name that the recipe does not have.
func unknownName(r *recipe.Recipe, s Selection) error {
	for _, name := range slices.Concat(s.Only, s.With, s.Without) {
		if Has(r, name) {
			continue
		}
		program := strings.Join(r.Words(), " ")
		for _, option := range []string{name, "-" + name, "--" + name} {
			if why := r.Dangers[option]; why != "" {
				return cli.Usagef("the recipe of %s does not offer %s: it %s; --no-recipe reads the program's help instead",
					program, option, why)
			}
		}
		var names []string
		for _, a := range r.Properties() {
			names = append(names, a.Name, strings.TrimLeft(a.Option, "-"))
		}
		return cli.Usagef("%s has no option %s%s", program, name, cli.DidYouMean(strings.TrimLeft(name, "-"), names))
	}
	return nil
}
