package usage

import (
	"slices"
	"strings"
)

// A Program is what is known of a command line: a program, or a command of one.
type Program struct {
	Words       []string // "git", "log"
	Summary     string   // in a sentence
	Style       Style
	Options     []*Option
	Operands    []*Operand
	Subcommands []Subcommand
	// Exclusive are groups of options of which one can be given, by their first names.
	Exclusive [][]string
	// Stdin says that standard input is read.
	Stdin bool
	// DashInput says that it is read only where an operand is "-".
	DashInput bool
	// Dashes says that "--" ends the options. Where DashesAt is not negative, it stands
	// before that operand, and means something else elsewhere.
	Dashes   bool
	DashesAt int
	// Expression says that options with long names are terms of an expression, which
	// follows the operands, as that of find.
	Expression bool
	// Examples counts how often an option stands in an example, by name.
	Examples map[string]int
	Sources  []Source // in the order of reading

	clusters bool // usage lines have "[-abc]"
}

// A Style is how a help text is written, which tells what library reads the options.
type Style string

// The styles. StyleUsage is a text of usage lines alone, as BSD's programs print.
const (
	StyleOther    Style = ""
	StyleGNU      Style = "gnu"
	StyleArgparse Style = "argparse"
	StyleClick    Style = "click"
	StyleCobra    Style = "cobra"
	StyleClap     Style = "clap"
	StyleDocopt   Style = "docopt"
	StyleGoFlag   Style = "go"
	StyleUsage    Style = "bsd"
	StyleGit      Style = "git"
	StyleBusybox  Style = "busybox"
)

// A Source is where something was found.
type Source string

// The sources, in the order in which they are believed.
const (
	FromCompletion Source = "completion"
	FromManual     Source = "man"
	FromHelp       Source = "help"
	FromUsage      Source = "usage" // the usage line of a help text or a manual page
)

// Sure is how certain something is.
type Sure int

// Degrees of certainty.
const (
	Guessed Sure = iota + 1
	Likely
	Certain
)

// String is the word for it.
func (s Sure) String() string { return [...]string{"", "guessed", "likely", "certain"}[s] }

// A Kind is what sort of values an option or operand takes.
type Kind string

// The kinds.
const (
	Switch   Kind = "switch" // no value
	Text     Kind = "string"
	Integer  Kind = "integer"
	Number   Kind = "number"
	Choice   Kind = "choice"
	Path     Kind = "path"
	URL      Kind = "url"
	Duration Kind = "duration"
	Size     Kind = "size"
)

// An Option is one option under all its names.
type Option struct {
	Names     []string // as they are typed: "-k", "--key", "-name"
	Negations []string // "--no-color"
	Value     *Value   // nil: a switch
	Repeat    bool     // it may be given several times
	Required  bool
	Help      string
	Source    Source
	Sure      Sure // that it is an option
}

// A Value is what an option takes.
type Value struct {
	Name     string // as the program calls it: "FILE"
	Kind     Kind
	Sure     Sure // that it is of that kind
	Optional bool
	Several  bool // one option, several words after it
	Words    int  // how many words it takes, if more than one
	Choices  []string
	Default  string
	Equals   bool // the program writes an equals sign before it

	marked bool // it is written as a value is: <FILE>, =FILE, FILE
}

// An Operand is an argument that is no option.
type Operand struct {
	Name     string
	Kind     Kind
	Sure     Sure
	Choices  []string
	Required bool
	Repeat   bool
	Help     string
	Source   Source
}

// A Subcommand is a command of a program.
type Subcommand struct {
	Name   string
	Help   string
	Source Source
}

// Kind is that of the option's values.
func (o *Option) Kind() Kind {
	if o.Value == nil {
		return Switch
	}
	return o.Value.Kind
}

// Name is the name that says most: the first long one, else the first.
func (o *Option) Name() string {
	for _, name := range o.Names {
		if strings.HasPrefix(name, "--") {
			return name
		}
	}
	return o.Names[0]
}

// Has reports whether an option has a name, as one of its negations too.
func (o *Option) Has(name string) bool {
	return slices.Contains(o.Names, name) || slices.Contains(o.Negations, name)
}

// Find returns the option of a name, nil for none.
func (p *Program) Find(name string) *Option {
	for _, o := range p.Options {
		if o.Has(name) {
			return o
		}
	}
	return nil
}

// Empty reports whether nothing was found at all.
func (p *Program) Empty() bool {
	return p == nil || len(p.Options)+len(p.Operands)+len(p.Subcommands) == 0
}

// Bounds on what is kept of a program that says too much of itself.
const (
	maxOptions  = 1000
	maxCommands = 1000
	maxOperands = 16
	maxText     = 1000 // bytes of a description
	maxName     = 64
	maxChoices  = 100
)

// add enters an option, or what it adds to one that is there: what was known first stays
// (WRAP-21).
func (p *Program) add(o *Option) {
	known := 0
	for _, there := range p.Options {
		if slices.ContainsFunc(o.Names, there.Has) {
			known++
		}
	}
	if known > 1 && len(o.Names) > 3 {
		return // a line that lists options, and describes none
	}
	for _, there := range p.Options {
		if !slices.ContainsFunc(o.Names, there.Has) {
			continue
		}
		if o.Source == there.Source && o.Source != FromUsage && p.another(o, there) {
			continue
		}
		there.fill(o)
		return
	}
	if len(p.Options) < maxOptions {
		p.Options = append(p.Options, o)
	}
}

// another reports whether an entry is an option of its own, though it names one that is there:
// "-C, --check=quiet" beside "-c, --check". The name is then the other one's, and what stands
// after it one of its values.
func (p *Program) another(o, there *Option) bool {
	own := slices.DeleteFunc(slices.Clone(o.Names), there.Has)
	if len(own) == 0 || !slices.ContainsFunc(own, isShort) || !slices.ContainsFunc(there.Names, isShort) {
		return false
	}
	if v := o.Value; v != nil && v.Equals && lowerWord.MatchString(v.Name) && there.Value != nil {
		there.Value.choice(v.Name)
		o.Value = nil
	}
	o.Names = own
	return true
}

func isShort(name string) bool { return len(name) == 2 }

// choice adds a value that was seen to the choices.
func (v *Value) choice(seen string) {
	if len(v.Choices) == 0 && lowerWord.MatchString(v.Name) {
		v.Choices = []string{v.Name}
	}
	if !slices.Contains(v.Choices, seen) && len(v.Choices) < maxChoices {
		v.Choices = append(v.Choices, seen)
	}
	if len(v.Choices) > 1 {
		v.Kind, v.Sure = Choice, Likely
	}
}

// fill takes over from another reading of the same option what is not known yet.
func (o *Option) fill(from *Option) {
	for _, name := range from.Names {
		if !o.Has(name) {
			o.Names = append(o.Names, name)
		}
	}
	for _, name := range from.Negations {
		if !o.Has(name) {
			o.Negations = append(o.Negations, name)
		}
	}
	o.Repeat = o.Repeat || from.Repeat
	o.Sure = max(o.Sure, from.Sure)
	if o.Help == "" {
		o.Help = from.Help
	}
	switch {
	case from.Value == nil:
	case o.Value == nil && (o.Source == FromCompletion || o.Source == FromUsage || from.Value.Optional ||
		from.Value.marked):
		// Completion tells no values, usage lines leave optional ones out, and a list of options all of them at times.
		o.Value = from.Value
	case o.Value == nil:
	default:
		o.Value.fill(from.Value)
	}
}

func (v *Value) fill(from *Value) {
	if v.Name == "" {
		v.Name = from.Name
	}
	if from.Sure > v.Sure || v.Kind == Text && from.Kind != Text && from.Sure >= v.Sure {
		v.Kind, v.Sure = from.Kind, from.Sure
		if len(from.Choices) > 0 {
			v.Choices = from.Choices
		}
	}
	if len(v.Choices) == 0 && v.Kind == Choice {
		v.Choices = from.Choices
	}
	if v.Default == "" {
		v.Default = from.Default
	}
	v.Optional = v.Optional || from.Optional
	v.Equals = v.Equals || from.Equals
	v.marked = v.marked || from.marked
}

// Settle decides, when all sources are merged, what one alone may have wrong: where single
// dashes begin long names, the program reads its options itself, and "--" is no promise.
func (p *Program) Settle() {
	single, double := 0, 0
	for _, o := range p.Options {
		for _, name := range o.Names {
			switch {
			case strings.HasPrefix(name, "--"):
				double++
			case len(name) > 2:
				single++
			}
		}
	}
	switch p.Style {
	case StyleUsage, StyleOther, StyleGNU:
		if single > double {
			p.Dashes, p.Style = false, StyleOther
		}
	}
}

// Merge adds to a program what a later source says (WRAP-21).
func (p *Program) Merge(from *Program) {
	if from == nil {
		return
	}
	for _, s := range from.Sources {
		if !slices.Contains(p.Sources, s) {
			p.Sources = append(p.Sources, s)
		}
	}
	if p.Summary == "" {
		p.Summary = from.Summary
	}
	if p.Style == StyleOther {
		p.Style = from.Style
	}
	described := slices.ContainsFunc(p.Options, func(o *Option) bool {
		return o.Sure == Certain &&
			o.Source != FromCompletion
	})
	for _, o := range from.Options {
		if described && o.Source == FromUsage && !slices.ContainsFunc(o.Names,
			func(name string) bool { return p.Find(name) != nil }) {
			continue // a usage line that a list of options does not bear out
		}
		p.add(o)
	}
	if len(p.Operands) == 0 {
		p.Operands, p.DashesAt = from.Operands, from.DashesAt
	} else {
		for _, o := range p.Operands {
			for _, other := range from.Operands {
				if strings.EqualFold(o.Name, other.Name) && o.Help == "" {
					o.Help = other.Help
				}
			}
		}
	}
	for _, s := range from.Subcommands {
		p.addCommand(s)
	}
	p.Exclusive = append(p.Exclusive, from.Exclusive...)
	p.Stdin, p.DashInput = p.Stdin || from.Stdin, p.DashInput || from.DashInput
	p.Expression = p.Expression || from.Expression
	p.Dashes = p.Dashes || from.Dashes
	for name, n := range from.Examples {
		p.example(name, n)
	}
}

func (p *Program) example(name string, n int) {
	if p.Examples == nil {
		p.Examples = map[string]int{}
	}
	p.Examples[name] += n
}

func (p *Program) addCommand(s Subcommand) {
	for i := range p.Subcommands {
		if there := &p.Subcommands[i]; there.Name == s.Name {
			if there.Help == "" {
				there.Help = s.Help
			}
			return
		}
	}
	if len(p.Subcommands) < maxCommands {
		p.Subcommands = append(p.Subcommands, s)
	}
}
