// Package usage parses what programs print about their command lines: help texts and manual
// pages. It starts no processes and opens no files. Its input is
// untrusted: every parser is bounded, and omits what it is not sure of (WRAP-20 to WRAP-29).
package usage

import (
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/recipe"
)

// A Program is the command line of a program or of one of its commands, as far as it is known.
type Program struct {
	Words       []string // "git", "log"
	Summary     string   // in a sentence
	Style       Style
	Options     []*Option
	Operands    []*Operand
	Shown       string // the usage lines and the examples
	Subcommands []Subcommand
	// Loose reports that no usage line shows which operands the program takes, or that the lines
	// differ.
	Loose bool
	// Stdin reports that the program reads standard input, DashInput that a usage line has "-".
	Stdin, DashInput bool
	// Getopt reports that the C library or the like reads the options of a program in GNU style.
	Getopt bool
	// Starts are other programs that the first one starts, such as git-lfs for "git lfs".
	Starts []string
	// Node reports that the program is a script of Node.js.
	Node bool
	// Dashes reports that "--" ends the options. If DashesAt is not negative, "--" belongs
	// before that operand and has another meaning elsewhere.
	Dashes   bool
	DashesAt int

	clusters bool // usage lines have "[-abc]"
}

// A Style is the layout of a help text. It shows which library reads the options.
type Style string

// The styles. StyleUsage is a text that only has usage lines, as BSD programs print.
const (
	StyleOther    Style = ""
	StyleGNU      Style = "gnu"
	StyleArgparse Style = "argparse"
	StyleClick    Style = "click"
	StyleCobra    Style = "cobra"
	StyleClap     Style = "clap"
	StyleGoFlag   Style = "go"
	StyleUsage    Style = "bsd"
	StyleGit      Style = "git"
	StyleBusybox  Style = "busybox"
	StyleNode     Style = "node"  // commander
	StyleYargs    Style = "yargs" // it does not pass on the words after "--" as operands
)

// Sure is a degree of certainty.
type Sure int

// The degrees of certainty.
const (
	Guessed Sure = iota + 1
	Likely
	Certain
)

// An Option is an option with all its names.
type Option struct {
	Names     []string // as they are typed: "-k", "--key", "-name"
	Negations []string // "--no-color"
	Value     *Value   // nil: a switch
	Repeat    bool     // it can be given several times
	// RepeatGuessed reports that Repeat is a guess by the name.
	RepeatGuessed bool
	Required      bool
	Help          string
	Sure          Sure // how certain it is that this is an option

	fromUsage bool // it was only found in a usage line
}

// A Value is the value that an option takes.
type Value struct {
	Name     string // the program's name for it: "FILE"
	Kind     recipe.Type
	Sure     Sure // how certain the kind is
	Optional bool
	Several  bool // the option takes several words
	Choices  []string
	Equals   bool // the program writes an equals sign before it

	dots   bool // dots follow it
	marked bool // it is written like a value: <FILE>, =FILE, FILE
}

// An Operand is an argument other than an option.
type Operand struct {
	Value
	Required bool
	Repeat   bool
	Help     string
}

// A Subcommand is a command of a program.
type Subcommand struct{ Name, Help string }

// Name returns the most descriptive name: the first long one, or else the first.
func (o *Option) Name() string {
	return o.Names[max(0, slices.IndexFunc(o.Names, func(name string) bool { return strings.HasPrefix(name, "--") }))]
}

// Has reports whether name is one of the option's names or negations.
func (o *Option) Has(name string) bool {
	return slices.Contains(o.Names, name) || slices.Contains(o.Negations, name)
}

// Find returns the option with a name, or nil.
func (p *Program) Find(name string) *Option {
	if at := slices.IndexFunc(p.Options, func(o *Option) bool { return o.Has(name) }); at >= 0 {
		return p.Options[at]
	}
	return nil
}

// Size returns the number of options, operands and commands that were found.
func (p *Program) Size() int { return len(p.Options) + len(p.Operands) + len(p.Subcommands) }

// Limits on what is kept of one program.
const (
	maxOptions  = 1000
	maxCommands = 1000
	maxOperands = 16
	maxText     = 1000 // bytes of a description
	maxHelp     = 12   // lines of a description
	maxName     = 64
	maxChoices  = 100
)

// add adds an option, or merges it into an option of the same name. It keeps the facts that are
// already known (WRAP-21).
func (p *Program) add(o *Option) {
	known := slices.DeleteFunc(slices.Clone(p.Options), func(there *Option) bool {
		return !slices.ContainsFunc(o.Names, there.Has)
	})
	switch {
	case len(known) > 1 && len(o.Names) > 3: // a line that only lists options
	case len(known) == 0:
		if len(p.Options) < maxOptions {
			p.Options = append(p.Options, o)
		}
	default:
		known[0].fill(o)
	}
}

func isShort(name string) bool { return len(name) == 2 }

// fill copies from another reading of the same option everything that is not yet known.
func (o *Option) fill(from *Option) {
	o.Names = append(o.Names, slices.DeleteFunc(slices.Clone(from.Names), o.Has)...)
	o.Negations = append(o.Negations, slices.DeleteFunc(slices.Clone(from.Negations), o.Has)...)
	o.RepeatGuessed = o.RepeatGuessed && (!from.Repeat || from.RepeatGuessed) || !o.Repeat && from.RepeatGuessed
	o.Repeat = o.Repeat || from.Repeat
	o.Sure = max(o.Sure, from.Sure)
	if o.Help == "" {
		o.Help = from.Help
	}
	v, other := o.Value, from.Value
	switch {
	case other == nil:
	case v == nil && (o.fromUsage || other.Optional || other.marked):
		// Usage lines omit optional values, and a list of options sometimes omits all of them.
		o.Value = other
	case v != nil:
		if other.Sure > v.Sure || v.Kind == recipe.String && other.Kind != recipe.String && other.Sure >= v.Sure {
			v.Kind, v.Sure, v.Choices = other.Kind, other.Sure, other.Choices
		}
		v.Equals = v.Equals || other.Equals
	}
}

// Merge adds the contents of a manual page to those of a help text (WRAP-21).
func (p *Program) Merge(from *Program) {
	if from == nil {
		return
	}
	if from.Summary != "" { // the line of a manual page is written as a summary
		p.Summary = from.Summary
	}
	described := slices.ContainsFunc(p.Options, func(o *Option) bool { return o.Sure == Certain })
	for _, o := range from.Options {
		if !described || !o.fromUsage || slices.ContainsFunc(o.Names, func(name string) bool { return p.Find(name) != nil }) {
			p.add(o) // not an option of a usage line that the list of options contradicts
		}
	}
	switch {
	case len(p.Operands) == 0 && p.Loose && len(from.Operands) > 0:
		p.Operands, p.DashesAt, p.Loose = from.Operands, from.DashesAt, from.Loose
	case !p.Loose && !from.Loose && len(p.Operands) != len(from.Operands): // they contradict each other
		p.Operands, p.Loose = nil, true
	}
	for _, s := range from.Subcommands {
		p.addCommand(s)
	}
	p.Stdin, p.DashInput = p.Stdin || from.Stdin, p.DashInput || from.DashInput
	p.Dashes, p.Shown = p.Dashes || from.Dashes, p.Shown+" "+from.Shown
}

func (p *Program) addCommand(s Subcommand) {
	known := slices.ContainsFunc(p.Subcommands, func(there Subcommand) bool { return there.Name == s.Name })
	if !known && len(p.Subcommands) < maxCommands {
		p.Subcommands = append(p.Subcommands, s)
	}
}
