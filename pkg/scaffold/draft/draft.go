// Package draft makes a recipe from a help text, for a person or an agent to complete. Nothing is concluded from prose.
// Its tools are confined: they read the roots, and write only their private folder.
package draft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/shellscript"
	"mcp-bash/pkg/text/helptext"
	"mcp-bash/pkg/text/lazyregexp"
)

// Properties of lists of words. anyWords has the whole command line, if the help does not explain its operands.
// otherOptions has options that the tool does not offer by name.
const (
	anyWords     = "arguments"
	otherOptions = "options"
)

// Limits: on texts of the program in bytes, on the names and choices of an option, and on the options and operands of a
// recipe.
const (
	maxSummary     = 300
	maxDescription = 140
	maxName        = 60
	maxNames       = 16
	maxChoices     = 100
	maxArguments   = 500
)

var (
	optionName    = lazyregexp.New(`^[-+@][^\s=]{1,63}$`)
	numeric       = lazyregexp.New(`^-?[0-9]+\.[0-9]+$`)
	notInProperty = lazyregexp.New(`[^A-Za-z0-9]+`)
)

// environment makes programs print plain text, without colours and pagers.
var environment = map[string]string{"NO_COLOR": "1", "PAGER": "cat"}

// A drafter has the state of one call of [Recipe].
type drafter struct {
	*recipe.Recipe
	taken shellscript.Names // the names of properties
}

// Recipe makes the recipe of a program, or of a command. words[0] is the program's name, and input is the name of the
// argument for standard input.
func Recipe(words []string, h helptext.Help, input string) *recipe.Recipe {
	summary := fmt.Sprintf("Runs %s.", strings.Join(words, " "))
	if text := quote(h.Purpose, maxSummary); text != "" {
		summary += fmt.Sprintf(" Its help: %s.", text)
	}
	d := &drafter{taken: shellscript.Names{otherOptions: true}, Recipe: &recipe.Recipe{
		Program: words[0], Command: words[1:], Title: "Run " + strings.Join(words[:min(len(words), 4)], " "),
		Summary: summary, Environment: environment, Output: recipe.Output{Type: "text"}, Arguments: []recipe.Argument{},
		Capabilities: []string{string(access.Search)},
	}}
	// Options with a short name come first, because programs give short names to the options that people use most.
	isShort := func(name string) bool { return len(name) == 2 }
	for _, short := range []bool{true, false} {
		for _, o := range h.Options {
			if slices.ContainsFunc(o.Names, isShort) == short && len(d.Arguments) < maxArguments &&
				!slices.Contains(o.Names, "--help") && !slices.Contains(o.Names, "--version") {
				d.option(o)
			}
		}
	}
	d.operands(h)
	demands := func(a recipe.Argument) bool { return a.IsOperand() && a.Required }
	if h.NamesInput() || !slices.ContainsFunc(d.Arguments, demands) {
		d.Stdin = &recipe.Stdin{Name: d.property(input), Description: "Text for the standard input."}
	}
	return d.Recipe
}

// Generic reports whether the recipe takes any words, because the help describes nothing.
func Generic(r *recipe.Recipe) bool { return len(r.Arguments) == 1 && r.Arguments[0].Name == anyWords }

// Open lets calls pass options that the help does not list: among the words of [anyWords], or in a list before the
// operands. Help texts are incomplete, and the kernel limits what an option of such a tool can do. A recipe in a file
// cannot have this.
func Open(r *recipe.Recipe) {
	at := slices.IndexFunc(r.Arguments, func(a recipe.Argument) bool { return a.Option == "" })
	switch {
	case at >= 0 && r.Arguments[at].Name == anyWords:
		r.Arguments[at].Dashes = true
		r.Arguments[at].Description += " They can be options."
		return
	case at < 0:
		at = len(r.Arguments)
	}
	r.Arguments = slices.Insert(r.Arguments, at, recipe.Argument{Name: otherOptions, Type: recipe.String, Repeat: true,
		Dashes: true, Description: "Other options of the program, with their values."})
}

// option adds an option. A name that the list has already is left out, and so are names that no recipe can have.
func (d *drafter) option(o helptext.Option) {
	names := slices.DeleteFunc(slices.Clone(o.Names), func(name string) bool { return !optionName.MatchString(name) })
	if names = names[:min(len(names), maxNames)]; len(names) == 0 {
		return
	}
	long := max(0, slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, "--") }))
	a := recipe.Argument{Option: names[long], Description: quote(o.Text, maxDescription), Type: recipe.Switch}
	if slices.ContainsFunc(d.Arguments, func(other recipe.Argument) bool { return other.Option == a.Option }) {
		return
	}
	a.Aliases = slices.DeleteFunc(names, func(name string) bool { return name == a.Option })
	switch {
	case o.Value == "":
	case o.Optional && len(o.Choices) == 0: // it never gets its value
		a.Unconfirmed = []string{"value"}
	default:
		a.Type, a.Unconfirmed = kind(o)
		if a.Type == recipe.Choice {
			a.Choices = o.Choices
		}
		a.Repeat = o.Repeat
		if o.Equals && len(a.Option) > 2 {
			a.Form, a.Dashes = recipe.Equals, true
		} else if o.Attached && len(a.Option) == 2 {
			a.Form = recipe.Attached
		}
		a.Description = strings.TrimSpace(a.Description + " (" + a.Option + " " + recipe.Plain(o.Value, maxName) + ")")
	}
	a.Name = d.property(a.Option)
	d.Arguments = append(d.Arguments, a)
}

// kind returns the type of a value: a choice or a number if brackets show it, and otherwise a string.
func kind(o helptext.Option) (t recipe.Type, unconfirmed []string) {
	choices := slices.Compact(slices.Sorted(slices.Values(o.Choices)))
	unusable := func(c string) bool { return c == "" || len(c) > maxDescription }
	_, notWhole := strconv.Atoi(o.Default)
	switch {
	case len(choices) > 1 && len(choices) <= maxChoices && len(choices) == len(o.Choices) &&
		!slices.ContainsFunc(choices, unusable):
		return recipe.Choice, nil
	case o.Number:
		return recipe.Number, nil
	case notWhole == nil:
		return recipe.Integer, []string{"type"}
	case numeric.MatchString(o.Default):
		return recipe.Number, []string{"type"}
	}
	return recipe.String, nil
}

// operands adds the operands of the usage line. Without such a line, or if a required operand follows an optional
// one, they are a list of words.
func (d *drafter) operands(h helptext.Help) {
	for _, word := range d.Command { // Usage: git status [PATH]
		if len(h.Operands) > 0 && h.Operands[0].Name == word {
			h.Operands = h.Operands[1:]
		}
	}
	known, optional := h.Usage, false
	for _, o := range h.Operands {
		known = known && (!optional || o.Optional)
		optional = optional || o.Optional && !o.Repeat
	}
	if !known {
		d.Arguments = append(d.Arguments, recipe.Argument{Name: d.property(anyWords), Type: recipe.String, Repeat: true,
			Description: "Words of the command line.", Unconfirmed: []string{"operand"}})
		return
	}
	for _, o := range h.Operands[:min(len(h.Operands), maxArguments)] {
		d.Arguments = append(d.Arguments, recipe.Argument{Name: d.property(strings.ToLower(o.Name)), Type: recipe.String,
			Required: !o.Optional, Repeat: o.Repeat, Description: quote(o.Text, maxDescription)})
	}
}

// property returns a unique property name for an option or operand.
func (d *drafter) property(term string) string {
	name := strings.Trim(notInProperty.ReplaceAllString(term, "_"), "_")
	switch {
	case name == "": // a choice of words, or a name without Latin letters
		name = "value"
	case name[0] >= '0' && name[0] <= '9':
		name = "option_" + name
	}
	return d.taken.Add(name[:min(len(name), maxName)])
}

// quote marks a text of the program as such, without the full stop at its end.
func quote(text string, limit int) string {
	return recipe.Quote(strings.TrimRight(text, ". \n"), limit)
}
