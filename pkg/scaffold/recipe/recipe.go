// Package recipe describes the command lines of programs, so that tools can be made from them.
//
// A recipe is written by hand (share/recipes), by a user, or read from a script or a program's help. The generator of
// tools (pkg/scaffold/wrap) treats all of them alike. schemas/recipe.schema.json explains each member.
package recipe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcp-bash/pkg/text/lazyregexp"
)

// A Recipe describes the command line of a program, or of one of its subcommands.
type Recipe struct {
	Schema        string            `json:"$schema,omitempty"`
	Program       string            `json:"program"`
	Aliases       []string          `json:"aliases,omitempty"`
	Command       []string          `json:"command,omitempty"`
	Variant       string            `json:"variant,omitempty"`
	Title         string            `json:"title"`
	Summary       string            `json:"summary"`
	Documentation string            `json:"documentation,omitempty"`
	Verified      bool              `json:"verified"`
	Version       *Version          `json:"version,omitempty"`
	InRoot        bool              `json:"inRoot,omitempty"`
	Environment   map[string]string `json:"environment,omitempty"`
	// Arguments are the words of the command line, in the order in which the program gets them.
	Arguments    []Argument        `json:"arguments"`
	Stdin        *Stdin            `json:"stdin,omitempty"`
	Requires     [][]string        `json:"requires,omitempty"`
	Excludes     [][]string        `json:"excludes,omitempty"`
	Output       Output            `json:"output"`
	Stderr       bool              `json:"stderr,omitempty"`
	Capabilities []string          `json:"capabilities"`
	Starts       []string          `json:"starts,omitempty"`
	Effects      Effects           `json:"effects"`
	TimeoutSecs  int               `json:"timeoutSecs,omitempty"`
	Progress     string            `json:"progress,omitempty"`
	Dangers      map[string]string `json:"dangers,omitempty"`
	Examples     []Example         `json:"examples,omitempty"`
}

// An Argument is one piece of the command line: words that are always there (Words), an option
// (Option), or an operand (neither).
type Argument struct {
	Words       []string `json:"words,omitempty"`
	Name        string   `json:"name,omitempty"` // the property of the tool
	Option      string   `json:"option,omitempty"`
	Aliases     []string `json:"aliases,omitempty"` // other names of the option
	Negation    string   `json:"negation,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        Type     `json:"type,omitempty"`
	Form        Form     `json:"form,omitempty"` // "" is TwoWords
	Choices     []string `json:"choices,omitempty"`
	Pattern     string   `json:"pattern,omitempty"` // of the whole value
	Unless      string   `json:"unless,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	// Default is passed if the call has no value: for a list as the only element. For a path "." is the only root.
	Default     any      `json:"default,omitempty"`
	Access      Access   `json:"access,omitempty"` // "read", "write" or "both"; "" is "read"
	Required    bool     `json:"required,omitempty"`
	Repeat      bool     `json:"repeat,omitempty"`
	Dashes      bool     `json:"dashes,omitempty"`
	Only        bool     `json:"only,omitempty"` // offered only if it is selected by name
	Destructive bool     `json:"destructive,omitempty"`
	Unconfirmed []string `json:"unconfirmed,omitempty"` // guessed members
}

// A Type is the type of an argument's values.
type Type string

// The types. A switch is an option without a value.
const (
	Switch  Type = "switch"
	String  Type = "string"
	Integer Type = "integer"
	Number  Type = "number"
	Choice  Type = "choice"
	Path    Type = "path"
	URL     Type = "url"
)

// A Form is the way in which a value follows its option.
type Form string

// The forms: "--opt VALUE", "--opt=VALUE" and "-oVALUE".
const (
	TwoWords Form = "words"
	Equals   Form = "equals"
	Attached Form = "attached"
)

// An Access is the use that the program makes of a path.
type Access string

// Stdin is an argument whose value is standard input. Word is passed last if there is input.
type Stdin struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Word        string `json:"word,omitempty"`
	Pattern     string `json:"-"` // of the whole text
}

// Output describes what a program prints, and the exit codes other than 0 that count as success, with the text for a
// call without output.
type Output struct {
	Type      string            `json:"type"` // "text", "json" or "binary"
	MIMEType  string            `json:"mimeType,omitempty"`
	ExitCodes map[string]string `json:"exitCodes,omitempty"`
}

// Effects become the annotations of the tool. A nil member is not known.
type Effects struct {
	ReadOnly    *bool `json:"readOnly,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"openWorld,omitempty"`
}

// An Example is a call that works.
type Example struct {
	Description string         `json:"description"`
	Arguments   map[string]any `json:"arguments"`
}

// CommandAt returns the argument that begins with the words of the command, if there is one.
// Options before it belong to the program.
func (r *Recipe) CommandAt() (at int, ok bool) {
	for i, a := range r.Arguments {
		if n := len(r.Command); n > 0 && len(a.Words) >= n && slices.Equal(a.Words[:n], r.Command) {
			return i, true
		}
	}
	return 0, false
}

// Properties returns the arguments that are properties of the tool. Standard input is the last one.
func (r *Recipe) Properties() (list []*Argument) {
	for i := range r.Arguments {
		if r.Arguments[i].Name != "" {
			list = append(list, &r.Arguments[i])
		}
	}
	if s := r.Stdin; s != nil {
		list = append(list, &Argument{Name: s.Name, Type: String, Description: s.Description, Pattern: s.Pattern})
	}
	return list
}

// Keep returns the recipe with those properties that keep accepts, and the rules about them.
func (r *Recipe) Keep(keep func(*Argument) bool) *Recipe {
	kept := *r
	names := map[string]bool{}
	for _, a := range r.Properties() {
		names[a.Name] = keep(a)
	}
	kept.Arguments = slices.DeleteFunc(slices.Clone(r.Arguments), func(a Argument) bool {
		return a.Name != "" && !names[a.Name]
	})
	if r.Stdin != nil && !names[r.Stdin.Name] {
		kept.Stdin = nil
	}
	among := func(groups [][]string, least int) (some [][]string) {
		for _, group := range groups {
			group = slices.DeleteFunc(slices.Clone(group), func(name string) bool { return !names[name] })
			if len(group) >= least {
				some = append(some, group)
			}
		}
		return some
	}
	kept.Requires, kept.Excludes = among(r.Requires, 1), among(r.Excludes, 2)
	return &kept
}

// Needs reports whether each call needs an argument: it is required, or the only one of a group that a call needs.
func (r *Recipe) Needs(a *Argument) bool {
	return a.Required || slices.ContainsFunc(r.Requires, func(group []string) bool {
		return len(group) == 1 && group[0] == a.Name
	})
}

// Danger returns the reason why an argument is dangerous, or "".
func (r *Recipe) Danger(a *Argument) (reason string) {
	for _, name := range a.Spellings() {
		reason = cmp.Or(reason, r.Dangers[name])
	}
	return reason
}

// IsOperand reports whether the argument is neither an option nor fixed words.
func (a *Argument) IsOperand() bool { return len(a.Words) == 0 && a.Option == "" }

// IsList reports whether the value is a list of values.
func (a *Argument) IsList() bool { return a.Repeat && a.Type != Switch }

// Spellings returns the names of an option, and nil for other arguments.
func (a *Argument) Spellings() []string {
	if a.Option == "" {
		return nil
	}
	return append([]string{a.Option}, a.Aliases...)
}

// Quote marks a text of a program or of a file as such: in quotation marks, in one line of at most limit bytes. It
// returns "" for an empty text.
func Quote(text string, limit int) string {
	if text = Plain(text, limit); text == "" {
		return ""
	}
	return `"` + strings.ReplaceAll(text, `"`, "'") + `"`
}

// Plain returns foreign text as one line of at most limit bytes, without control characters.
func Plain(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, text[:min(len(text), 8*limit)])
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > limit {
		const more = "…"
		text = strings.ToValidUTF8(text[:limit-len(more)], "") + more
	}
	return text
}

// A Library is a directory of recipes without faults. The recipe of "git log" is git-log.json.
type Library struct{ Files fs.FS }

// All returns all recipes, by file name.
func (l Library) All() (list []*Recipe, err error) {
	names, err := fs.Glob(l.Files, "*.json")
	for _, name := range names {
		r, err := l.read(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, r)
	}
	return list, err
}

func (l Library) read(name string) (*Recipe, error) {
	text, err := fs.ReadFile(l.Files, name)
	if err != nil {
		return nil, err
	}
	r := new(Recipe)
	return r, json.Unmarshal(text, r)
}

// Of returns the recipes for a program and its commands, by file name.
func (l Library) Of(program string) ([]*Recipe, error) {
	all, err := l.All()
	return slices.DeleteFunc(all, func(r *Recipe) bool { return !r.Names(program) }), err
}

// Find returns the recipe for a command line, or nil. words[0] is the program's name or another name of it. For another
// name, Find reads all recipes.
func (l Library) Find(words []string) (*Recipe, error) {
	if r, err := l.read(fileName(words)); err == nil && r.Is(words) {
		return r, nil
	}
	all, err := l.Of(words[0])
	if i := slices.IndexFunc(all, func(r *Recipe) bool { return r.Is(words) }); i >= 0 {
		return all[i], nil
	}
	return nil, err
}

// FileName returns the name of the file of a recipe.
func (r *Recipe) FileName() string { return fileName(r.Words()) }

func fileName(words []string) string { return strings.Join(words, "-") + ".json" }

// Words returns the words that select the recipe on a command line: the program, its command and the variant.
func (r *Recipe) Words() []string {
	words := append([]string{r.Program}, r.Command...)
	if r.Variant != "" {
		words = append(words, r.Variant)
	}
	return words
}

// Names reports whether a name is one of the program's.
func (r *Recipe) Names(program string) bool {
	return r.Program == program || slices.Contains(r.Aliases, program)
}

// Is reports whether the words, a program and a subcommand, name the recipe.
func (r *Recipe) Is(words []string) bool {
	return r.Names(words[0]) && slices.Equal(r.Words()[1:], words[1:])
}

// A Version is a range of versions: From is the first for which the recipe is right, Below the first for which it is
// not. Words make the program print its version.
type Version struct {
	Words []string `json:"words,omitempty"`
	From  string   `json:"from,omitempty"`
	Below string   `json:"below,omitempty"`
}

// Versions in the output of a program: with dots, or else a number.
var (
	dotted = lazyregexp.New(`[0-9]+(?:\.[0-9]+)+`)
	number = lazyregexp.New(`[0-9]+`)
)

// VersionIn returns the first version in the output of a program, or "".
func VersionIn(output string) string {
	return cmp.Or(dotted.FindString(output), number.FindString(output))
}

// CommandLine returns the words that make the program print its version.
func (v *Version) CommandLine() []string {
	if len(v.Words) > 0 {
		return v.Words
	}
	return []string{"--version"}
}

// Contains reports whether the range has a version.
func (v *Version) Contains(version string) bool {
	return version != "" && (v.From == "" || compare(version, v.From) >= 0) &&
		(v.Below == "" || compare(version, v.Below) < 0)
}

// String describes the range: "from 13 below 16".
func (v *Version) String() string {
	var parts []string
	if v.From != "" {
		parts = append(parts, "from "+v.From)
	}
	if v.Below != "" {
		parts = append(parts, "below "+v.Below)
	}
	return strings.Join(parts, " ")
}

// compare compares two versions, number by number. A missing number is 0.
func compare(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		m, _ := strconv.ParseUint(cmp.Or(x, "0"), 10, 64) // too large a number is the largest
		n, _ := strconv.ParseUint(cmp.Or(y, "0"), 10, 64)
		if c := cmp.Compare(m, n); c != 0 {
			return c
		}
	}
	return 0
}
