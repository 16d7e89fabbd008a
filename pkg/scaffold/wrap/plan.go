package wrap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/scaffold/usage"
)

// A Plan describes a tool that is about to be written.
type Plan struct {
	Name         string
	Words        []string
	Program      *usage.Program
	Arguments    []Argument
	LeftOut      []LeftOut
	Review       []string // guesses that a person should check
	Fixed        []string // words that are always passed
	JSON         bool
	Capabilities []access.Capability // nil: nothing indicates any
	ReadOnly     bool
	Destructive  bool
	Needs        string   // the program to install, or "" for a program of the project
	argv         []string // Words, with the first one as in tool.sh
}

// A Command is the command line that a tool runs.
type Command struct {
	Words   []string // as the person typed them
	Program string   // the first word as in tool.sh
	Needs   string   // the program to install, or "" for a program of the project
	// The abilities of the program, as far as its file shows them.
	Script   bool // it is a script; most scripts start other programs
	Starts   bool // it can start other programs
	Connects bool // it can look up other hosts
}

// New plans a tool with a name from the description of a program.
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

// ToolName derives the name of a tool from the words of a command line.
func ToolName(words []string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-':
			return r
		}
		return '-'
	}, strings.Join(words, "-")), "-")
}

// CheckWords returns an error for words that are options, because options could run other
// words as programs. It also rejects words that cannot be in a comment of a script (WRAP-1).
func CheckWords(words []string) error {
	for _, word := range words {
		if word == "" || strings.HasPrefix(word, "-") || strings.ContainsFunc(word, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar
		}) {
			return cli.Usagef("cannot wrap a command line with the word %s", cli.Line(word))
		}
	}
	return nil
}

// A LeftOut is an option that the tool does not offer.
type LeftOut struct{ Term, Why string }

// A Selection determines which options a tool gets (WRAP-6).
type Selection struct {
	Max     int
	Only    []string
	Without []string
}

// For removes names of options that the program does not have. It is for one of several
// commands.
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

// Offers reports whether the tool offers an option or always passes it.
func (p *Plan) Offers(name string) bool {
	o := p.Program.Find(name)
	return o != nil && (p.offered(o) != "" || p.isFixed(o))
}

// offered returns the property for an option that the tool offers, or "".
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
