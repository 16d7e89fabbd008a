// Package wrap generates the files of a tool that runs a command-line program, from the
// program's description of itself. It selects options, maps them to a schema and to a
// command line, and merges new versions with a person's changes. It does not access the file
// system (WRAP-6, WRAP-30 to WRAP-36, WRAP-41).
package wrap

import (
	"cmp"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/scaffold/recipe"
)

// A Tool is a tool that is about to be written.
type Tool struct {
	Name      string
	Words     []string // the command line, as a person typed it
	Recipe    *recipe.Recipe
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

	// The offered parts of the recipe.
	arguments []recipe.Argument
	stdin     *recipe.Stdin
	requires  [][]string
	excludes  [][]string
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

// A Source is the origin of a recipe.
type Source struct {
	// File is the recipe's file. A name without a slash is in share/recipes. "" is the program's help.
	File string
	// Version is the installed version of the program, if it was compared with the recipe.
	Version string
	// Runner reports that the file is the project file of a task runner, Script that it is a script.
	Runner, Script bool
}

// String describes the source: "the recipe rg.json".
func (s Source) String() string {
	switch {
	case s.File == "":
		return "its help"
	case s.Runner:
		return s.File
	case s.Script:
		return "the script " + s.File
	}
	return "the recipe " + s.File
}

// An Ask is a question that a program asks on the terminal. The answer is a line of its standard input.
type Ask struct {
	Text    string
	YesNo   bool     // the answer is y or n
	Choices []string // the answer is the number of a choice, from 1
}

// A Trial is a call that changes nothing (T-520).
type Trial struct {
	Words     []string       `json:"words,omitempty"`
	Arguments map[string]any `json:"arguments,omitzero"`
	ExitCode  int            `json:"exitCode,omitempty"`
}

// A LeftOut is an option that the tool does not offer.
type LeftOut struct{ Option, Why string }

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
	joined := func(list []string) string { return strings.Join(list, ", ") }
	const annotations = "annotations: add readOnlyHint if a call changes nothing"
	if t.Source.Runner {
		add("nothing is known about what it does: confirm or change the capabilities ["+joined(t.Recipe.Capabilities)+"]",
			"its folder must be in a root, and it has no Network", annotations)
		if t.Arguments() > 0 {
			add("values become text of shell commands: extend their patterns only if the file quotes them")
		}
		return
	}
	if t.Source.Script {
		return // the reader of the script knows more
	}
	if t.Source.File != "" && !t.Recipe.Verified {
		add("the recipe was not run on the real program: try its examples")
	}
	var guessed []string
	for _, a := range t.arguments {
		if len(a.Unconfirmed) > 0 {
			guessed = append(guessed, cmp.Or(a.Option, a.Name)+" ("+joined(a.Unconfirmed)+")")
		}
	}
	if len(guessed) > 0 {
		add("guessed from the help: " + joined(guessed))
	}
	if list := t.capabilities(); !slices.Equal(list, t.Recipe.Capabilities) {
		add("capabilities: " + joined(list) + ", because of a destructive argument")
	}
	if t.Source.File == "" {
		add("confined: it reads the roots, writes only its private folder, has no network and starts no other program",
			"more permissions: mcp-bash run-tool "+t.Name+" --learn shows which ones a call needs", annotations)
	}
}

// properties returns the offered arguments with a property. Standard input is the last one.
func (t *Tool) properties() (list []*recipe.Argument) {
	for i := range t.arguments {
		if t.arguments[i].Name != "" {
			list = append(list, &t.arguments[i])
		}
	}
	if s := t.stdin; s != nil {
		list = append(list, &recipe.Argument{Name: s.Name, Type: recipe.String, Description: s.Description})
	}
	return list
}

// Offers reports whether the tool has an argument, by its property or option.
func (t *Tool) Offers(name string) bool {
	return slices.ContainsFunc(t.properties(), func(a *recipe.Argument) bool { return named(a, name) })
}

// Arguments returns the number of arguments that the tool offers.
func (t *Tool) Arguments() int { return len(t.properties()) }

// Table lists the arguments of the tool for people (WRAP-4).
func (t *Tool) Table() cli.Table {
	rows := cli.Table{{"argument", "in the program", "takes", "description"}}
	for _, a := range t.properties() {
		takes := string(a.Type)
		if a.Repeat {
			takes += "..."
		}
		if a.Access == "write" {
			takes += ", written"
		}
		if a.Required || t.isRequired(a.Name) {
			takes += ", required"
		}
		if len(a.Unconfirmed) > 0 {
			takes += ", guessed"
		}
		in := name(a)
		if t.stdin != nil && a.Name == t.stdin.Name {
			in = "standard input"
		}
		rows = append(rows, []string{a.Name, in, takes, a.Description})
	}
	return rows
}

// Destructive reports whether a call may delete or overwrite data. In a recipe that a person wrote,
// every argument that is only offered by name may do so.
func (t *Tool) Destructive() bool {
	effect := t.Recipe.Effects.Destructive
	return effect != nil && *effect || slices.ContainsFunc(t.arguments, func(a recipe.Argument) bool {
		return a.Destructive || a.Only && t.Source.File != ""
	})
}
