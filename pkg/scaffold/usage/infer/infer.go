// Package infer makes a recipe of a program's own documentation. It leaves out what it is not
// sure of, and writes into the recipe what a person should confirm (WRAP-30, WRAP-34). If too
// little is certain, the recipe takes a list of words.
package infer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/recipe/danger"
	"mcp-bash/pkg/scaffold/usage"
	"mcp-bash/pkg/text/lazyregexp"
)

// A Result is the recipe of a program.
type Result struct {
	// Recipe has all options.
	Recipe *recipe.Recipe
	// LeftOut are the options that the recipe lacks, except those for help.
	LeftOut []LeftOut
	// Review are points that a person should check.
	Review []string
	// Generic reports that the documentation shows neither options nor operands. The recipe takes a
	// list of words.
	Generic bool
	// Runs is the reason why the program is dangerous with any words, or "".
	Runs string
}

// A LeftOut is an option that is never offered.
type LeftOut struct{ Option, Why string }

// anyOperands is the property of a list of words that the documentation does not explain.
const anyOperands = "arguments"

// environment makes programs print plain text, without colours and pagers.
var environment = map[string]string{"NO_COLOR": "1", "PAGER": "cat"}

// A maker makes one recipe.
type maker struct {
	Result
	p       *usage.Program
	dangers *danger.List
	taken   map[string]bool // the names of properties

	operandNames []string // the properties of operands
}

// Recipe makes the recipe of a program.
func Recipe(p *usage.Program) *Result {
	m := &maker{p: p, dangers: danger.Load(), taken: map[string]bool{}}
	m.Runs = m.dangers.Program(p.Words[0])
	title := strings.Join(append([]string{"Run"}, p.Words[:min(len(p.Words), 4)]...), " ") // at most five words
	m.Recipe = &recipe.Recipe{
		Program: p.Words[0], Command: p.Words[1:], Title: title, Summary: summary(p),
		Output: recipe.Output{Type: "text"}, Dangers: map[string]string{}, Environment: environment, Starts: p.Starts,
	}
	for _, o := range p.Operands {
		m.operandNames = append(m.operandNames, m.property(strings.ToLower(o.Name)))
	}
	m.options()
	m.operands()
	m.stdin()
	m.capabilities()
	if m.Generic {
		m.review("the documentation of %s does not show its arguments, so the tool takes any words but dangerous options",
			strings.Join(p.Words, " "))
	}
	return &m.Result
}

func (m *maker) review(format string, args ...any) {
	m.Review = append(m.Review, fmt.Sprintf(format, args...))
}

// noSummary matches first lines that do not describe the program.
var noSummary = lazyregexp.New(`(?i)^(?:manual page|man page|usage|version|copyright|error|options|\S+$)`)

// summary is a sentence by which a model can choose the tool.
func summary(p *usage.Program) string {
	line := strings.Join(p.Words, " ")
	text := quote(p.Summary, 300)
	if text == "" || noSummary.MatchString(p.Summary) {
		return fmt.Sprintf("Runs %s.", line)
	}
	return fmt.Sprintf("Runs %s. Its documentation: %s. Texts in quotation marks are from there.", line, text)
}

// quote marks a text of the program as such. It has no control characters and at most limit bytes.
func quote(text string, limit int) string {
	text = strings.TrimRight(usage.Plain(text, limit), ". ")
	if text == "" {
		return ""
	}
	return `"` + strings.ReplaceAll(text, `"`, "'") + `"`
}

var optionIn = lazyregexp.New(`(?:^|[\s"'(\[|])(--?[A-Za-z][A-Za-z0-9-]*)`)

// options adds the options: first those of the synopsis and of examples, then the others in the
// order of the documentation. Some are only offered by name.
func (m *maker) options() {
	shown := map[string]bool{}
	for _, found := range optionIn.FindAllStringSubmatch(m.p.Shown, 500) {
		for at := range found[1][1:] { // "-xf" are -x and -f
			shown["-"+found[1][at+1:at+2]] = true
		}
		shown[found[1]] = true
	}
	rank := func(o *usage.Option) int { // required, shown, with a short name, others
		has := func(is func(name string) bool) bool { return slices.ContainsFunc(o.Names, is) }
		switch {
		case o.Required:
			return 0
		case has(func(name string) bool { return shown[name] }):
			return 1
		case has(func(name string) bool { return len(name) == 2 }):
			return 2
		}
		return 3
	}
	ordered := slices.Clone(m.p.Options)
	slices.SortStableFunc(ordered, func(a, b *usage.Option) int { return rank(a) - rank(b) })
	for _, o := range ordered {
		switch v := o.Value; {
		case v == nil && (slices.ContainsFunc(o.Names, helpOption.MatchString) || helpText.MatchString(o.Help)):
			continue
		case v != nil && v.Several && !v.Optional:
			m.LeftOut = append(m.LeftOut, LeftOut{strings.Join(o.Names, ", "),
				"takes several values at once, which tools do not support"})
			continue
		}
		a := m.option(o)
		if why := m.unasked(o, &a); why != "" {
			a.Only, a.Required = true, false
			m.Recipe.Dangers[a.Option] = why
		}
		m.Recipe.Arguments = append(m.Recipe.Arguments, a)
	}
	m.Generic = len(m.p.Options) == 0 && m.p.Loose
}

var (
	helpOption = lazyregexp.New(`^--?(?:help(?:-.*)?|version|usage|man|manual|show-completion|install-completion|` +
		`generate-completion|completions?)$`)
	helpText = lazyregexp.New(`(?i)^(?:show|print|display|output|give)s? (?:this |the |a )?(?:help|usage|version)\b|` +
		`^help(?: for \S+)?$`)
)

var (
	screenOption = lazyregexp.New(`^--?(?:colou?rs?|paginate|progress|progress-bar|interactive|prompt|tui|watch|` +
		`hyperlink)(?:[-=].*)?$`)
	screenText = lazyregexp.New(`(?i)\b(?:prompts? (?:before|for|whether)|interactive(?:ly)?|` +
		`open .{0,30}(?:browser|editor|pager)|ansi colou?rs?)\b`)
	obsoleteText = lazyregexp.New(`(?i)^\W*(?:deprecated|obsolete|ignored|no[- ]op|does nothing|has no effect)|` +
		`\b(?:option|flag|switch|it) is (?:deprecated|obsolete)|\[deprecated|\(deprecated`)
)

// compiled are the styles of libraries for languages that do not load code by its name.
var compiled = []usage.Style{usage.StyleGoFlag, usage.StyleCobra, usage.StyleClap}

// aliasOf matches descriptions that only refer to another option: "same as --all".
var aliasOf = lazyregexp.New(`(?i)^\W*(?:an? )?(?:alias|same|synonym|equivalent|shorthand|shortcut|identical)\b` +
	`[^.;]*?[\s'"](--?[A-Za-z][\w-]*)`)

// unasked returns the reason why an option is only offered by name, or "". It marks dangerous ones.
func (m *maker) unasked(o *usage.Option, a *recipe.Argument) string {
	if alias := aliasOf.FindStringSubmatch(o.Help); alias != nil {
		other := m.p.Find(alias[1])
		if other != nil && other != o && !aliasOf.MatchString(other.Help) {
			if why := m.unasked(other, a); why != "" {
				return why
			}
		}
	}
	facts := danger.Option{Names: o.Names, Help: o.Help, Command: m.p.Words[1:], Node: m.p.Node,
		Compiled: slices.Contains(compiled, m.p.Style)}
	if v := o.Value; v != nil && !slices.Equal(v.Choices, []string{"true", "false"}) {
		facts.Takes = v.Kind != recipe.Choice && (!isNumber(v.Kind) || v.Sure < usage.Certain)
		facts.Value = cmp.Or(v.Name, "value")
	}
	effect := m.dangers.Option(m.p.Words[0], facts)
	if facts.Takes && a.Type == recipe.Switch && !effect.Result && !effect.Writes { // it never gets its optional value
		facts.Value, facts.Takes = "", false
		effect = m.dangers.Option(m.p.Words[0], facts)
	}
	a.Destructive = effect != (danger.Effect{})
	switch {
	case effect.Result:
		if a.Access = "write"; a.Type != "path" {
			a.Type, a.Unconfirmed, a.Form = "path", []string{"type"}, m.form(o)
		}
		return m.ofLooking()
	case effect.Why != "":
		if a.Type == "path" && effect.Writes {
			a.Access = "write"
		}
		return effect.Why
	case effect.Edits:
		return m.ofLooking()
	case slices.ContainsFunc(o.Names, screenOption.MatchString),
		screenText.MatchString(danger.Affirmed(danger.First(o.Help))):
		return "is for a terminal"
	case obsoleteText.MatchString(o.Help[:min(len(o.Help), 80)]):
		return "is obsolete"
	case !o.Required && !danger.Harmless(facts): // a required option is what the program is for
		a.Destructive = true
		return danger.Unproven
	}
	return ""
}

// ofLooking returns the reason why an option that writes is not offered by a program that otherwise only reads, or "".
func (m *maker) ofLooking() string {
	if onlyReads(m.p.Summary) {
		return "writes, and the program otherwise only reads"
	}
	return ""
}

// option describes one option.
func (m *maker) option(o *usage.Option) recipe.Argument {
	a := recipe.Argument{Name: m.property(o.Name()), Option: o.Name(), Repeat: o.Repeat, Required: o.Required}
	a.Aliases = slices.DeleteFunc(slices.Clone(o.Names), func(name string) bool { return name == a.Option })
	if o.Sure != usage.Certain {
		a.Unconfirmed = append(a.Unconfirmed, "option")
	}
	if o.RepeatGuessed {
		a.Unconfirmed = append(a.Unconfirmed, "repeat")
	}
	v, note := o.Value, o.Name()
	switch {
	case v == nil, v.Optional && len(v.Choices) == 0:
		a.Type = "switch"
		if len(o.Negations) > 0 {
			a.Negation = o.Negations[0]
		}
		if v != nil { // its values could be repeated, not the switch
			a.Repeat = false
			a.Unconfirmed = append(a.Unconfirmed, "value")
		}
	default:
		m.value(&a, v)
		a.Form = m.form(o)
		a.Dashes = a.Form != "words"
		if v.Name != "" {
			note += " " + v.Name
		}
	}
	a.Description = describe(o.Help, note, &a, v)
	return a
}

// value sets the type. A guess is a string, which its description explains.
func (m *maker) value(a *recipe.Argument, v *usage.Value) {
	a.Type, a.Choices = v.Kind, v.Choices
	isPath := v.Kind == recipe.Path && v.Sure >= usage.Likely // FILE, DIR, PATH
	if !isPath && v.Sure < usage.Certain {
		a.Type = recipe.String
	}
	if isPath || v.Sure < usage.Likely {
		a.Unconfirmed = append(a.Unconfirmed, "type")
	}
}

func isNumber(kind recipe.Type) bool { return kind == recipe.Integer || kind == recipe.Number }

// guesses are kinds that a string probably has.
var guesses = map[recipe.Type]string{recipe.Integer: "a number", recipe.URL: "a URL"}

// describe returns the description of an argument. It has the program's text in quotation marks,
// the program's name of the argument, and guesses about its value.
func describe(help, name string, a *recipe.Argument, v *usage.Value) string {
	if a.Type == recipe.String && guesses[v.Kind] != "" {
		name += "; probably " + guesses[v.Kind]
	}
	return strings.TrimLeft(quote(help, 140)+" ("+usage.Plain(name, 200)+")", " ")
}

// libraries are the styles of libraries that take "--option=value", "-ovalue" and "--".
var libraries = []usage.Style{usage.StyleArgparse, usage.StyleClick, usage.StyleCobra, usage.StyleClap, usage.StyleGit,
	usage.StyleBusybox, usage.StyleNode, usage.StyleYargs}

// form returns how the value follows the option. Every parser accepts two words; other forms need
// the documentation or a known library (WRAP-32).
func (m *maker) form(o *usage.Option) recipe.Form {
	name, v := o.Name(), o.Value
	known := slices.Contains(libraries, m.p.Style) || m.p.Getopt
	long := strings.HasPrefix(name, "--") || len(name) > 2
	switch {
	case m.p.Style == usage.StyleGoFlag, long && (v.Equals || known && strings.HasPrefix(name, "--")):
		return "equals"
	case !long && (v.Optional || known):
		return "attached"
	}
	return "words"
}

var notInProperty = lazyregexp.New(`[^A-Za-z0-9]`)

// property returns a unique property name for an option or operand.
func (m *maker) property(term string) string {
	name := strings.Trim(notInProperty.ReplaceAllString(strings.TrimLeft(term, "-"), "_"), "_")
	switch {
	case name == "": // a name without Latin letters
		name = "value"
	case name[0] >= '0' && name[0] <= '9':
		name = "option_" + name
	}
	name = name[:min(len(name), 60)]
	unique := name
	for n := 2; m.taken[unique]; n++ {
		unique = fmt.Sprintf("%s_%d", name, n)
	}
	m.taken[unique] = true
	return unique
}
