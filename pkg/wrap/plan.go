package wrap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/usage"
)

// A Plan is a tool that is about to be written.
type Plan struct {
	Name         string
	Words        []string
	Program      *usage.Program
	Arguments    []Argument
	LeftOut      []LeftOut
	Review       []string // what a person should look at
	Fixed        []string // words that are always given
	JSON         bool
	Capabilities []access.Capability // nil: nothing supports any
	ReadOnly     bool
	Destructive  bool
	Needs        string   // a program to be installed, "" for one of the project
	argv         []string // Words, the first as tool.sh names it
}

// A Command is the command line that a tool runs.
type Command struct {
	Words   []string // as the person gave them
	Program string   // the first of them as tool.sh names it
	Needs   string   // what has to be installed, "" for a program of the project
	// What the program can do, as far as its file tells.
	Script   bool // it is one, which mostly starts others
	Starts   bool // it can start others
	Connects bool // it can look up other hosts
}

// New plans the tool of a name for what a program says of itself.
func New(name string, c Command, prog *usage.Program, s Selection) (*Plan, error) {
	plan, err := choose(prog, s)
	if err != nil {
		return nil, err
	}
	plan.Name, plan.Words, plan.Needs = name, c.Words, c.Needs
	plan.argv = append([]string{c.Program}, c.Words[1:]...)
	plan.capabilities(c)
	plan.annotations()
	return plan, nil
}

// ToolName makes the name of a tool of the words of a command line.
func ToolName(words []string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-':
			return r
		}
		return '-'
	}, strings.Join(words, "-")), "-")
}

// CheckWords refuses words of a command line that are an option, as of a program that would
// run what follows, or that a comment of a script could not hold (WRAP-1).
func CheckWords(words []string) error {
	for _, word := range words {
		if word == "" || strings.HasPrefix(word, "-") || strings.ContainsFunc(word, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar
		}) {
			return cli.Usagef("%s is no word of a command line that can be wrapped", cli.Line(word))
		}
	}
	return nil
}

// A LeftOut is an option that the tool does not offer.
type LeftOut struct{ Term, Why string }

// A Selection says which options a tool gets (WRAP-6).
type Selection struct {
	Max     int
	Only    []string
	Without []string
}

// For leaves out of the lists what a program does not have: for one of many commands.
func (c Selection) For(p *usage.Program) Selection {
	unknown := func(name string) bool { return findTerm(p, name) == nil }
	only := len(c.Only) > 0
	c.Only = slices.DeleteFunc(slices.Clone(c.Only), unknown)
	c.Without = slices.DeleteFunc(slices.Clone(c.Without), unknown)
	if only && len(c.Only) == 0 {
		c.Max = -1 // none of them
	}
	return c
}

// Offers reports whether the tool offers an option, or always gives it.
func (p *Plan) Offers(name string) bool {
	o := p.Program.Find(name)
	return o != nil && (p.offered(o) != "" || p.isFixed(o))
}

// offered is the property by which the tool offers an option, "" for none.
func (p *Plan) offered(o *usage.Option) string {
	for _, a := range p.Arguments {
		if a.option == o {
			return a.Property
		}
	}
	return ""
}

func (p *Plan) leave(o *usage.Option, why string) {
	p.LeftOut = append(p.LeftOut, LeftOut{strings.Join(o.Names, ", "), why})
}

func (p *Plan) review(format string, args ...any) {
	p.Review = append(p.Review, fmt.Sprintf(format, args...))
}
