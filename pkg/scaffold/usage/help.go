package usage

import (
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// Help parses the help text of a program (WRAP-23). words are the words of its command line.
func Help(text []byte, words []string) *Program {
	p := &Program{Words: words, DashesAt: -1, Sources: []Source{FromHelp}}
	if found := jsonHelp(text, p); found != nil {
		return found
	}
	lines := columns(unbox(clean(text)))
	p.Style = styleOf(lines)
	r := &helpReader{p: p, lines: lines}
	r.read()
	p.synopsis(r.usage, FromUsage)
	p.finish(r.prose)
	return p
}

// A part is the topic of a section of a help text.
type part int

const (
	aboutOptions part = iota
	aboutUsage
	aboutCommands
	aboutOperands
	aboutElse // examples, the environment
)

// A helpReader parses a help text in one pass.
type helpReader struct {
	p     *Program
	lines []line
	usage []string // the usage lines, joined with their continuation lines
	prose []string // text that belongs to neither usage lines nor entries

	part     part
	section  string
	entry    *entry
	specs    map[int]bool // indentations at which options begin in this section
	command  int          // where commands are indented, in a section about them
	inUsage  bool
	usageAt  int
	choices  []string // of {a,b} in the list of arguments
	operand  *Operand
	operandC int
}

// An entry is an option whose description is being read.
type entry struct {
	spec   spec
	indent int
	column int // where its description begins; 0: unknown
	help   []string
	after  bool // an empty line came after the option
	open   bool // the line ended in a comma, so more names follow
}

var (
	heading   = lazyregexp.New(`^([A-Z][A-Za-z0-9 ,/()'&-]{0,60}|[a-z][a-z -]{2,40}):$`)
	capitals  = lazyregexp.New(`^[A-Z][A-Z ,/&()-]{2,50}:?$`)
	usageLine = lazyregexp.New(`(?i)^usage(?: of [^:]+)?:\s*(.*)$`)
	// foreignLine matches a usage line in a language other than English.
	foreignLine = lazyregexp.New(`^\p{L}[\p{L} ]{0,30}: +(.*)$`)
	orLine      = lazyregexp.New(`(?i)^or:?\s+(.*)$`)
	elseParts   = lazyregexp.New(`(?i)\b(examples?|environment|exit|see also|authors?|copyright|bugs|report|` +
		`history|notes?|learn more|` +
		`aliases|json fields|configuration files?|files|formats?|filters?|predefined|patterns? syntax|expressions?)\b`)
	commandParts = lazyregexp.New(`(?i)\b(sub-?commands?|commands?|actions?|verbs)\b`)
	operandParts = lazyregexp.New(`(?i)^(positional arguments|arguments|args|operands|parameters|positionals?)\b`)
	optionParts  = lazyregexp.New(`(?i)\b(options?|flags|switches)\b`)
	commandLine  = lazyregexp.New(`^([a-z0-9][A-Za-z0-9_.:+-]*)((?:, ` +
		`?[a-z0-9][a-z0-9-]*)*)(?:\s*\*)?(?::? {2,}(.*)|: +(.*)|)$`)
	ruler = lazyregexp.New(`^[-=~_*#]{2,}$`)
)

func (r *helpReader) read() {
	r.specs = map[int]bool{}
	previous := line{}
	for i, l := range r.lines {
		next := line{}
		if i+1 < len(r.lines) {
			next = r.lines[i+1]
		}
		r.line(l, previous, next)
		previous = l
	}
	r.end()
}

func (r *helpReader) line(l, previous, next line) {
	switch {
	case ruler.MatchString(l.text):
		return
	case l.blank():
		if r.entry != nil {
			r.entry.after = true
		}
		if r.inUsage && len(r.usage) > 0 && r.part != aboutUsage {
			r.inUsage = false
		}
		return
	}
	m := usageLine.FindStringSubmatch(l.text)
	if m == nil {
		m = r.foreignUsage(l)
	}
	if m != nil && (l.indent < 4 || len(r.usage) == 0) {
		r.end()
		r.inUsage, r.usageAt, r.part, r.section = true, l.indent, aboutUsage, "usage"
		if m[1] != "" {
			r.usage = append(r.usage, m[1])
			r.part = aboutOptions
		}
		return
	}
	if r.heading(l, next) {
		return
	}
	if r.inUsage && r.goesOn(l, previous) {
		return
	}
	if r.inUsage {
		r.inUsage = false
		if r.part == aboutUsage {
			r.part = aboutOptions
		}
	}
	if r.part == aboutElse {
		if strings.Contains(r.section, "example") {
			r.p.exemplify(l.text)
		}
		return
	}
	if r.option(l, previous, next) || r.bracketed(l) {
		return
	}
	if r.entry != nil && l.indent > r.entry.indent && (r.entry.column == 0 || l.indent >= r.entry.column-2 ||
		len(r.entry.help) > 0) && !(r.entry.after && r.entry.column > 0 && l.indent < r.entry.column) {
		if r.entry.column == 0 {
			r.entry.column = l.indent
		}
		r.entry.help = append(r.entry.help, l.text)
		return
	}
	r.end()
	if r.part == aboutCommands && r.commands(l) || r.part == aboutOperands && r.operands(l) {
		return
	}
	if len(r.p.Options) == 0 && r.p.Summary == "" && firstLine.MatchString(l.text) && !notSummary.MatchString(l.text) {
		r.p.Summary = sentence(firstSentence(l.text))
	}
	r.prose = append(r.prose, l.text)
}

// foreignUsage returns the match of a translated usage line: a word and a colon before the
// program's name. It only matches before anything else was read.
func (r *helpReader) foreignUsage(l line) []string {
	if len(r.usage)+len(r.p.Options)+len(r.p.Subcommands) > 0 || r.entry != nil || l.indent > 2 {
		return nil
	}
	m := foreignLine.FindStringSubmatch(l.text)
	if m == nil {
		return nil
	}
	if first, _, _ := strings.Cut(m[1], " "); !isName(first, r.p.Words) {
		return nil
	}
	return m
}

// heading begins a section if the line is a heading, and reports whether it is.
func (r *helpReader) heading(l, next line) bool {
	title := ""
	switch {
	case l.indent > 2:
	case capitals.MatchString(l.text) && (next.indent > l.indent || next.blank()) && !r.inUsage:
		title = l.text
	case heading.MatchString(l.text), strings.HasSuffix(l.text, ":") && l.indent == 0 && len(l.text) < 80 &&
		(optionParts.MatchString(l.text) || commandParts.MatchString(l.text) || elseParts.MatchString(l.text)):
		title = l.text
	case l.indent == 0 && elseHeading.MatchString(l.text):
		title = l.text
	}
	if title == "" || r.entry != nil && l.indent > r.entry.indent && r.entry.column > 0 {
		return false
	}
	r.end()
	r.inUsage, r.operand = false, nil
	r.section = strings.ToLower(strings.TrimSuffix(title, ":"))
	r.specs, r.command = map[int]bool{}, 0
	switch {
	case r.section == "usage" || r.section == "synopsis":
		r.part, r.inUsage, r.usageAt = aboutUsage, true, l.indent
	case operandParts.MatchString(r.section):
		r.part = aboutOperands
	case optionParts.MatchString(r.section):
		r.part = aboutOptions
	case elseParts.MatchString(r.section):
		r.part = aboutElse
	case commandParts.MatchString(r.section):
		r.part = aboutCommands
	default:
		r.part = aboutOptions
		r.prose = append(r.prose, l.text)
	}
	return true
}

// bracketed reads a line of options in brackets, as in usage lines, that has its own
// heading.
func (r *helpReader) bracketed(l line) bool {
	if l.indent > 0 || !strings.HasPrefix(l.text, "[-") || !optionParts.MatchString(r.section) || len(r.usage) == 0 {
		return false
	}
	last := len(r.usage) - 1
	if len(r.usage[last])+len(l.text) < 4*maxLine {
		r.usage[last] += " " + l.text
	}
	return true
}

var elseHeading = lazyregexp.New(`^(?:Examples?|EXAMPLES?|Environment variables)\b.{0,40}:?$`)

// goesOn reads a line that continues the usage lines.
func (r *helpReader) goesOn(l, previous line) bool {
	if m := orLine.FindStringSubmatch(l.text); m != nil && len(r.usage) > 0 {
		r.usage = append(r.usage, m[1])
		return true
	}
	first, _, _ := strings.Cut(l.text, " ")
	own := isName(first, r.p.Words) || strings.HasPrefix(l.text, strings.Join(r.p.Words, " "))
	switch {
	case own && (l.indent > r.usageAt || r.part == aboutUsage):
		r.usage = append(r.usage, l.text)
	case len(r.usage) == 0:
		if r.part != aboutUsage || strings.HasPrefix(l.text, "-") {
			return false
		}
		r.usage = append(r.usage, l.text)
	case previous.blank():
		return false
	case l.indent > r.usageAt && (strings.ContainsAny(l.text[:1], "[<({|.") || upperWord.MatchString(first) ||
		l.indent > r.usageAt+6) && !(r.part != aboutUsage && strings.HasPrefix(l.text, "-") &&
		strings.Contains(l.text, "  ")):
		last := len(r.usage) - 1
		if len(r.usage[last]) < maxLine {
			r.usage[last] += " " + l.text
		}
	default:
		return false
	}
	return true
}

// isName reports whether a word of a usage line is the name of the program.
func isName(word string, words []string) bool {
	base := words[0]
	if at := strings.LastIndexByte(base, '/'); at >= 0 {
		base = base[at+1:]
	}
	if at := strings.LastIndexByte(word, '/'); at >= 0 {
		word = word[at+1:]
	}
	return word == base || word == strings.Join(append([]string{base}, words[1:]...), "-") ||
		word == words[len(words)-1] ||
		strings.TrimSuffix(word, ".py") == base
}

// option reads a line that begins an option.
func (r *helpReader) option(l, previous, next line) bool {
	if !strings.HasPrefix(l.text, "-") && !(strings.HasPrefix(l.text, "[-") && l.indent > 0) {
		return false
	}
	if e := r.entry; e != nil && l.indent > e.indent {
		// The line continues a description unless other options begin in its column.
		if e.column > 0 && l.indent >= e.column || e.column > 0 && !r.specs[l.indent] && l.indent > e.indent+6 {
			return false
		}
		if e.column == 0 && !e.after && len(e.help) == 0 && l.indent > e.indent+4 && !r.specs[l.indent] {
			return false
		}
	}
	text := l.text
	e := r.entry
	continued := e != nil && e.open && l.indent >= e.indent && !e.after
	s, rest, ok := parseSpec(strings.TrimSuffix(text, ","), false)
	if !ok {
		return false
	}
	if deeper := next.indent > l.indent && !next.blank(); ok && deeper && rest != "" && !separated(text, rest) &&
		len(rest) < 60 {
		// "-prefix string", with the description on the next line
		if again, none, fits := parseSpec(text, true); fits && none == "" {
			s, rest = again, ""
		}
	}
	if continued { // the names continue from the previous line
		e.spec.join(s)
		e.open = strings.HasSuffix(text, ",") && rest == ""
		if rest != "" {
			e.help, e.column = []string{rest}, l.indent+len(text)-len(rest)
		}
		return true
	}
	prose := !previous.blank() && previous.indent == l.indent && !strings.HasPrefix(previous.text, "-") &&
		!strings.HasSuffix(previous.text, ":") && !r.specs[l.indent]
	loose := rest != "" && !separated(l.text, rest)
	if loose && (prose || l.indent == 0 && !r.specs[0] || strings.HasSuffix(l.text, ",") && !r.specs[l.indent]) {
		return false
	}
	if prose && (rest == "" || strings.Contains(previous.text, "  ")) { // a row of another table
		return false
	}
	r.end()
	r.entry = &entry{spec: s, indent: l.indent, open: rest == "" && strings.HasSuffix(text, ",")}
	r.specs[l.indent] = true
	if rest != "" {
		r.entry.column = l.indent + len(l.text) - len(rest)
		r.entry.help = []string{rest}
		if loose {
			r.entry.column = 0
		}
	}
	return true
}

// separated reports whether two spaces or a colon precede a description.
func separated(text, rest string) bool {
	before := strings.TrimSuffix(text, rest)
	return strings.HasSuffix(before, "  ") || strings.HasSuffix(before, ": ") || strings.HasSuffix(before, ":")
}

// end adds the current option to the program.
func (r *helpReader) end() {
	e := r.entry
	if e == nil {
		return
	}
	r.entry = nil
	r.p.enter(e.spec, sentence(e.help...), FromHelp)
}

// enter adds the options of a spec with their description.
func (p *Program) enter(s spec, help string, from Source) {
	long := 0
	for _, name := range s.names {
		if len(name) > 2 && !strings.HasPrefix(name, "--") {
			long++
		}
	}
	if help == "" && long > 1 { // a line that lists options, as in find's help
		for _, name := range s.names {
			p.add(&Option{Names: []string{name}, Source: from, Sure: Guessed})
		}
		return
	}
	o := &Option{Names: s.names, Negations: s.negations, Value: s.value, Repeat: s.repeat, Help: help, Source: from,
		Sure: Certain}
	if help == "" {
		o.Sure = Likely
	}
	if o.Value != nil {
		switch strings.ToLower(o.Value.Name) {
		case "count": // pflag's type of a switch that is counted
			if p.Style == StyleCobra {
				o.Value, o.Repeat = nil, true
			}
		case "strings", "stringarray", "stringslice", "ints", "stringtostring", "durations", "floats", "array", "list":
			o.Repeat = true
		case "bool", "boolean":
			o.Value = nil
		}
	}
	if v := o.Value; v != nil {
		v.decide(help)
		if v.Several {
			o.Repeat = true
			v.Several = p.Style == StyleArgparse || strings.Contains(v.Name, " ")
		}
	}
	o.Repeat = o.Repeat || repeated.MatchString(help)
	if requiredIn.MatchString(help) {
		o.Required = true
	}
	p.add(o)
}

var (
	repeated = lazyregexp.New(`(?i)\b(?:can|may) be (?:\w+ )?(?:multiple times|more than once|several times|repeatedly|` +
		`many times|repeated)|\b(?:can|may) be repeated\b|\bmultiple allowed\b|\brepeatable\b|\(-v+,|` +
		`^\W*(?:multiple times|repeat this option)\b|\b(?:use|specify|repeat|give) (?:\w+ ){0,2}?(?:multiple times|` +
		`more than once|several times|to add more)\b`)
	requiredIn = lazyregexp.New(`\[required\]|\(required\)|\(Required\)`)
)

// commands reads a line in a list of commands.
func (r *helpReader) commands(l line) bool {
	m := commandLine.FindStringSubmatch(l.text)
	if m == nil || l.indent == 0 {
		return false
	}
	if r.command == 0 {
		r.command = l.indent
	}
	if l.indent != r.command {
		if l.indent > r.command && len(r.p.Subcommands) > 0 { // its description continues
			last := &r.p.Subcommands[len(r.p.Subcommands)-1]
			last.Help = sentence(last.Help, l.text)
		}
		return true
	}
	help := m[3]
	if help == "" {
		help = m[4]
	}
	r.p.addCommand(Subcommand{m[1], sentence(help), FromHelp})
	return true
}

var operandLine = lazyregexp.New(`^(\{[^}]+\}|[\[<]{0,2}[A-Za-z][A-Za-z0-9_./|-]*[>\]]{0,2})(?:\.\.\.|` +
	`…)?\]?(?: {2,}(.*))?$`)

// operands reads a line in a list of operands. argparse lists commands there, too.
func (r *helpReader) operands(l line) bool {
	if r.operand != nil && l.indent > r.operandC {
		if m := commandLine.FindStringSubmatch(l.text); m != nil && slices.Contains(r.choices, m[1]) {
			r.p.addCommand(Subcommand{m[1], sentence(m[3]), FromHelp})
		} else {
			r.operand.Help = sentence(r.operand.Help, l.text)
		}
		return true
	}
	m := operandLine.FindStringSubmatch(l.text)
	if m == nil || l.indent == 0 {
		return false
	}
	o := &Operand{Name: strings.Trim(m[1], "<>[]."), Help: sentence(m[2]), Source: FromHelp, Sure: Certain}
	if r.choices = listed(m[1]); r.choices != nil {
		o.Choices = r.choices
	}
	r.operand, r.operandC = o, l.indent
	if len(r.p.Operands) < maxOperands {
		r.p.Operands = append(r.p.Operands, o)
	}
	return true
}

var optionIn = lazyregexp.New(`(?:^|[\s"'(\[])(--?[A-Za-z][A-Za-z0-9-]*)`)

// exemplify counts the options in a text with examples.
func (p *Program) exemplify(text string) {
	for _, m := range optionIn.FindAllStringSubmatch(text, 50) {
		if len(p.Examples) < maxOptions {
			p.example(m[1], 1)
		}
	}
}
