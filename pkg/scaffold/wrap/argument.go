package wrap

import (
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/usage"
	"mcp-bash/pkg/text/shell"
)

// An Argument is an argument of a wrapped tool: an option or operand of the program, or its
// standard input.
type Argument struct {
	Property string // in inputSchema
	Term     string // the program's name for it: "--key", "FILE"
	Kind     usage.Kind
	Sure     usage.Sure
	Source   usage.Source
	Required bool
	List     bool
	Help     string

	option  *usage.Option
	operand *usage.Operand
	choices []string
	line    string // in tool.sh
	// excludes are the properties that exclude this one.
	excludes []string
}

func (p *Plan) argument(property string) *Argument {
	for i := range p.Arguments {
		if p.Arguments[i].Property == property {
			return &p.Arguments[i]
		}
	}
	return nil
}

// option adds an option to the arguments of the tool.
func (p *Plan) option(o *usage.Option) {
	a := Argument{
		Property: p.property(o.Name()), Term: strings.Join(o.Names, ", "), Kind: o.Kind(), Sure: usage.Certain,
		Source:   o.Source,
		Required: o.Required, Help: o.Help, option: o,
	}
	pointer := "." + a.Property
	if o.Value == nil {
		a.line = strings.TrimSpace(fmt.Sprintf("mcp_argv_switch argv %s %s", pointer, shell.Quote(o.Name())))
		if len(o.Negations) > 0 {
			a.line += " " + shell.Quote(o.Negations[0])
		}
		p.Arguments = append(p.Arguments, a)
		return
	}
	a.Sure, a.choices, a.List = o.Value.Sure, o.Value.Choices, o.Repeat
	word, flags := joining(p.Program, o)
	a.List = a.List || slices.Contains(flags, "--one")
	a.line = fmt.Sprintf("mcp_argv_option argv %s %s", pointer, shell.Quote(word))
	for _, f := range flags {
		a.line += " " + f
	}
	if a.Kind == usage.Path {
		a.line += " --path"
	}
	p.Arguments = append(p.Arguments, a)
	if a.Sure == usage.Guessed && a.Kind != usage.Text {
		p.Review = append(p.Review, fmt.Sprintf("%s takes a %s: guessed from its description", o.Name(), a.Kind))
	}
}

// operands adds the operands, and standard input (WRAP-33).
func (p *Plan) operands() {
	prog := p.Program
	for i, o := range prog.Operands {
		a := Argument{
			Property: p.property(strings.ToLower(o.Name)), Term: o.Name, Kind: o.Kind, Sure: o.Sure, Source: o.Source,
			Required: o.Required, List: o.Repeat, Help: o.Help, operand: o, choices: o.Choices,
		}
		a.line = "mcp_argv_operand argv ." + a.Property
		switch {
		case a.Kind == usage.Path:
			a.line += " --path"
		case prog.Dashes && (prog.DashesAt < 0 || prog.DashesAt <= i):
			a.line += " --any"
		}
		p.Arguments = append(p.Arguments, a)
	}
	if prog.Stdin {
		p.Arguments = append(p.Arguments, Argument{
			Property: p.property("stdin"), Term: "standard input", Kind: usage.Text, Sure: usage.Likely, Source: usage.FromHelp,
			Help: "Text for the program's standard input",
		})
	}
}

// attaches are the styles whose libraries accept the value of a short option in the same
// word.
var attaches = []usage.Style{usage.StyleGNU, usage.StyleArgparse, usage.StyleClick, usage.StyleCobra, usage.StyleClap,
	usage.StyleDocopt, usage.StyleGit, usage.StyleBusybox, usage.StyleUsage}

// joining returns how tool.sh writes an option with its value: the word for the option, and
// more flags for mcp_argv_option (WRAP-32).
func joining(p *usage.Program, o *usage.Option) (word string, flags []string) {
	name := o.Name()
	v := o.Value
	switch {
	case v.Several && !v.Optional && v.Words == 0:
		return name, []string{"--one"}
	case strings.HasPrefix(name, "--"):
		return name + "=", nil
	case p.Style == usage.StyleGoFlag || v.Equals && len(name) > 2:
		return name + "=", nil
	case len(name) == 2 && (v.Optional || slices.Contains(attaches, p.Style)):
		return name, []string{"--attached"}
	}
	return name, nil
}

// property returns a unique property name for an option or operand.
func (p *Plan) property(term string) string {
	var b strings.Builder
	for _, r := range strings.TrimLeft(term, "-") {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	name := strings.Trim(b.String(), "_")
	switch {
	case name == "": // a name without Latin letters
		name = "value"
	case name[0] >= '0' && name[0] <= '9':
		name = "option_" + name
	}
	if len(name) > 60 {
		name = name[:60]
	}
	for unique, n := name, 2; ; n++ {
		if !slices.ContainsFunc(p.Arguments, func(a Argument) bool { return a.Property == unique }) {
			return unique
		}
		unique = fmt.Sprintf("%s_%d", name, n)
	}
}

// exclude records which arguments exclude each other.
func (p *Plan) exclude() {
	for _, group := range p.Program.Exclusive {
		var properties []string
		for _, name := range group {
			for _, a := range p.Arguments {
				if a.option != nil && a.option.Has(name) && !slices.Contains(properties, a.Property) {
					properties = append(properties, a.Property)
				}
			}
		}
		for _, one := range properties {
			a := p.argument(one)
			for _, other := range properties {
				if other != one && !slices.Contains(a.excludes, other) {
					a.excludes = append(a.excludes, other)
				}
			}
		}
	}
}

// maxDescription limits the description of an argument, in bytes.
const maxDescription = 300

// describe returns the description of an argument for models: the program's text, then its
// name.
func (a *Argument) describe() string {
	text := a.Help
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "")
		if at := strings.LastIndexByte(text, ' '); at > 0 {
			text = text[:at]
		}
		text += " ..."
	}
	var notes []string
	if a.option != nil {
		notes = append(notes, a.option.Name())
		if v := a.option.Value; v != nil && v.Name != "" && v.Name != a.option.Name() {
			notes[0] += " " + v.Name
		}
		if v := a.option.Value; v != nil && v.Optional {
			notes = append(notes, "true: without a value")
		}
	} else if a.operand != nil {
		notes = append(notes, a.Term)
	}
	if len(a.excludes) > 0 {
		notes = append(notes, "not with "+strings.Join(a.excludes, ", "))
	}
	switch a.Kind {
	case usage.Path:
		notes = append(notes, "a path")
	case usage.Duration:
		notes = append(notes, "a time")
	case usage.Size:
		notes = append(notes, "a size")
	case usage.URL:
		notes = append(notes, "a URL")
	}
	if len(notes) == 0 {
		return text
	}
	if text != "" {
		text += " "
	}
	return text + "(" + strings.Join(notes, "; ") + ")"
}
