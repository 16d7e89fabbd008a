package usage

import (
	"slices"
	"strings"
)

// A Program is the command line of a program or of one of its commands, as far as it is
// known.
type Program struct {
	Words       []string // "git", "log"
	Summary     string   // in a sentence
	Style       Style
	Options     []*Option
	Operands    []*Operand
	Subcommands []Subcommand
	// Exclusive are groups of options that exclude each other, by their first names.
	Exclusive [][]string
	// Loose reports that no usage line shows which operands the program takes, or that the lines
	// differ.
	Loose bool
	// Stdin reports that the program reads standard input.
	Stdin bool
	// DashInput reports that it reads standard input only if an operand is "-".
	DashInput bool
	// Dashes reports that "--" ends the options. If DashesAt is not negative, "--" belongs
	// before that operand and has another meaning elsewhere.
	Dashes   bool
	DashesAt int
	// Examples counts, by name, how often an option appears in examples.
	Examples map[string]int
	Sources  []Source // in the order in which they were read

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
	StyleDocopt   Style = "docopt"
	StyleGoFlag   Style = "go"
	StyleUsage    Style = "bsd"
	StyleGit      Style = "git"
	StyleBusybox  Style = "busybox"
)

// A Source is the kind of text that something was found in.
type Source string

// The sources, the most reliable one first.
const (
	FromManual Source = "man"
	FromHelp   Source = "help"
	FromUsage  Source = "usage" // the usage line of a help text or a manual page
)

// Sure is a degree of certainty.
type Sure int

// The degrees of certainty.
const (
	Guessed Sure = iota + 1
	Likely
	Certain
)

// String returns the word for a degree.
func (s Sure) String() string { return [...]string{"", "guessed", "likely", "certain"}[s] }

// A Kind is the type of an option's or operand's values.
type Kind string

// The kinds.
const (
	Switch  Kind = "switch" // no value
	Text    Kind = "string"
	Integer Kind = "integer"
	Number  Kind = "number"
	Choice  Kind = "choice"
	Path    Kind = "path"
	URL     Kind = "url"
)

// An Option is an option with all its names.
type Option struct {
	Names     []string // as they are typed: "-k", "--key", "-name"
	Negations []string // "--no-color"
	Value     *Value   // nil: a switch
	Repeat    bool     // it can be given several times
	Required  bool
	Help      string
	Source    Source
	Sure      Sure // how certain it is that this is an option
}

// A Value is the value that an option takes.
type Value struct {
	Name     string // the program's name for it: "FILE"
	Kind     Kind
	Sure     Sure // how certain the kind is
	Optional bool
	Several  bool // the option takes several words
	Words    int  // the number of words that it takes, if more than one
	Choices  []string
	Default  string
	Equals   bool // the program writes an equals sign before it

	marked bool // it is written like a value: <FILE>, =FILE, FILE
}

// An Operand is an argument other than an option.
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

// Kind returns the kind of the option's value, or Switch.
func (o *Option) Kind() Kind {
	if o.Value == nil {
		return Switch
	}
	return o.Value.Kind
}

// Name returns the most descriptive name: the first long one, or else the first.
func (o *Option) Name() string {
	for _, name := range o.Names {
		if strings.HasPrefix(name, "--") {
			return name
		}
	}
	return o.Names[0]
}

// Has reports whether name is one of the option's names or negations.
func (o *Option) Has(name string) bool {
	return slices.Contains(o.Names, name) || slices.Contains(o.Negations, name)
}

// Find returns the option with a name, or nil.
func (p *Program) Find(name string) *Option {
	for _, o := range p.Options {
		if o.Has(name) {
			return o
		}
	}
	return nil
}

// Empty reports whether nothing was found.
func (p *Program) Empty() bool {
	return p == nil || len(p.Options)+len(p.Operands)+len(p.Subcommands) == 0
}

// Limits on what is kept of one program.
const (
	maxOptions  = 1000
	maxCommands = 1000
	maxOperands = 16
	maxText     = 1000 // bytes of a description
	maxName     = 64
	maxChoices  = 100
)

// add adds an option, or merges it into an option of the same name. Values that are already
// known are kept (WRAP-21).
func (p *Program) add(o *Option) {
	known := 0
	for _, there := range p.Options {
		if slices.ContainsFunc(o.Names, there.Has) {
			known++
		}
	}
	if known > 1 && len(o.Names) > 3 {
		return // a line that only lists options
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

// another reports whether o is a separate option although it shares a name with there, such
// as "-C, --check=quiet" next to "-c, --check". In that case the shared name belongs to
// there, and the text after it is one of its values.
func (p *Program) another(o, there *Option) bool {
	own := slices.DeleteFunc(slices.Clone(o.Names), there.Has)
	if len(own) == 0 || !slices.ContainsFunc(own, isShort) || !slices.ContainsFunc(there.Names, isShort) {
		return false
	}
	if o.Value != nil && o.Value.Equals && there.Value != nil {
		o.Value = nil
	}
	o.Names = own
	return true
}

func isShort(name string) bool { return len(name) == 2 }

// fill copies from another reading of the same option everything that is not yet known.
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
	case o.Value == nil && (o.Source == FromUsage || from.Value.Optional || from.Value.marked):
		// Usage lines omit optional values, and a list of options sometimes omits all of them.
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

// Settle corrects, after all sources are merged, conclusions that one source alone can get
// wrong. If single dashes begin long names, the program parses its options itself, and "--"
// may not end them.
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

// Merge adds the contents of a later source to a program (WRAP-21).
func (p *Program) Merge(from *Program) {
	if from == nil {
		return
	}
	for _, s := range from.Sources {
		if !slices.Contains(p.Sources, s) {
			p.Sources = append(p.Sources, s)
		}
	}
	if from.Summary != "" { // the line of a manual page is written as a summary
		p.Summary = from.Summary
	}
	if p.Style == StyleOther {
		p.Style = from.Style
	}
	described := slices.ContainsFunc(p.Options, func(o *Option) bool { return o.Sure == Certain })
	for _, o := range from.Options {
		if described && o.Source == FromUsage && !slices.ContainsFunc(o.Names,
			func(name string) bool { return p.Find(name) != nil }) {
			continue // a usage line that the list of options contradicts
		}
		p.add(o)
	}
	if len(p.Operands) == 0 && p.Loose {
		p.Operands, p.DashesAt, p.Loose = from.Operands, from.DashesAt, from.Loose
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
