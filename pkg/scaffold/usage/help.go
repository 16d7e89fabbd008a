package usage

import (
	"path"
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// Help parses the help text of a program (WRAP-23). words are the words of its command line.
func Help(text []byte, words []string) *Program {
	p := &Program{Words: words, DashesAt: -1}
	if p.readJSON(text) {
		return p
	}
	lines := columns(unbox(clean(text)))
	p.Style = styleOf(lines)
	r := &helpReader{p: p, lines: lines}
	r.read()
	p.synopsis(r.usage)
	return p
}

// A part is the topic of a section of a help text.
type part int

const (
	aboutOptions part = iota
	aboutUsage
	aboutCommands
	aboutOperands
	aboutExamples
	aboutElse // the environment
)

// A helpReader parses a help text in one pass.
type helpReader struct {
	p     *Program
	lines []line
	usage []string // the usage lines, joined with their continuation lines

	part    part
	entry   *entry
	specs   map[int]bool // indentations at which options begin in this section
	first   bool         // nothing was read yet
	options bool         // the next line with text is an option
	inUsage bool
	usageAt int
}

// An entry is an option, a command or an operand whose description is being read.
type entry struct {
	indent, column int // where it and its description begin; 0: unknown
	help           []string
	commands       []string          // the choices of an operand, which can be commands
	add            func(help string) // adds it to the program
}

var (
	heading   = lazyregexp.New(`^([A-Z][A-Za-z0-9 ,/()'&-]{0,60}|[a-z][a-z -]{2,40}):$`)
	capitals  = lazyregexp.New(`^[A-Z][A-Z ,/&()-]{2,50}:?$`)
	usageLine = lazyregexp.New(`(?i)^usage(?: of [^:]+)?:\s*(.*)$`)
	orLine    = lazyregexp.New(`(?i)^or:?\s+(.*)$`)
	elseParts = lazyregexp.New(`(?i)\b(examples?|environment|exit|see also|authors?|copyright|bugs|report|` +
		`history|notes?|learn more|` +
		`aliases|json fields|configuration files?|files|formats?|filters?|predefined|patterns? syntax|expressions?)\b`)
	commandParts = lazyregexp.New(`(?i)\b(sub-?commands?|commands?|actions?|verbs)\b`)
	operandParts = lazyregexp.New(`(?i)^(positional arguments|arguments|args|operands|parameters|positionals?)\b`)
	optionParts  = lazyregexp.New(`(?i)\b(options?|flags|switches)\b`)
	commandLine  = lazyregexp.New(`^([a-z0-9][A-Za-z0-9_.:+-]*)((?:, ` +
		`?[a-z0-9][a-z0-9-]*)*)(?:\s*\*)?(?::? {2,}(.*)|: +(.*)|)$`)
)

func (r *helpReader) read() {
	r.specs, r.first = map[int]bool{}, true
	previous := line{}
	for i, l := range r.lines {
		next := line{}
		if i+1 < len(r.lines) {
			next = r.lines[i+1]
		}
		if strings.HasPrefix(l.text, "-") && strings.HasSuffix(l.text, ",") && strings.HasPrefix(next.text, "-") &&
			len(l.text) < maxText { // more names of the option
			r.lines[i+1] = line{l.text + " " + next.text, l.indent}
			continue
		}
		r.options = strings.HasPrefix(next.text, "-") ||
			next.blank() && i+2 < len(r.lines) && strings.HasPrefix(r.lines[i+2].text, "-")
		r.line(l, previous, next)
		previous = l
	}
	r.end()
}

func (r *helpReader) line(l, previous, next line) {
	switch {
	case l.blank():
		r.inUsage = r.inUsage && (len(r.usage) == 0 || r.part == aboutUsage)
		return
	case r.usageBegins(l), r.heading(l), r.inUsage && r.goesOn(l, previous):
		return
	}
	if r.part == aboutOptions && l.indent == 0 && len(r.usage) > 0 && strings.HasPrefix(l.text, "[-") { // as npm prints it
		r.usage = append(r.usage, strings.Join(r.p.Words, " ")+" "+l.text)
		return
	}
	if r.inUsage = false; r.part == aboutUsage {
		r.part = aboutOptions
	}
	if r.part == aboutExamples && len(r.p.Shown) < maxLine {
		r.p.Shown += " " + l.text
	}
	if r.part == aboutExamples || r.part == aboutElse || r.option(l, previous, next) || r.describes(l) {
		return
	}
	r.end()
	if r.part == aboutCommands && r.commandBegins(l) || r.part == aboutOperands && r.operandBegins(l) {
		return
	}
	p := r.p
	if len(p.Options) == 0 && p.Summary == "" && firstLine.MatchString(l.text) && !notSummary.MatchString(l.text) {
		p.Summary, _, _ = strings.Cut(sentence(l.text), ". ")
	}
	p.Stdin = p.Stdin || readsInput.MatchString(l.text)
}

// usageBegins reads the first usage line.
func (r *helpReader) usageBegins(l line) bool {
	m := usageLine.FindStringSubmatch(l.text)
	if name, rest, _ := strings.Cut(l.text, " "); m == nil && r.first && isName(name, r.p.Words) {
		if rest = strings.TrimLeft(rest, " "); strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "<") {
			m = []string{"", l.text} // "brew [leaf..]", as yargs prints it
		}
	}
	if r.first = false; m == nil {
		return false
	}
	r.end()
	r.inUsage, r.usageAt, r.part = true, l.indent, aboutUsage
	if m[1] != "" {
		r.usage = append(r.usage, m[1])
		r.part = aboutOptions
	}
	return true
}

// describes adds a line to the description of the current option if it belongs there.
func (r *helpReader) describes(l line) bool {
	e := r.entry
	if e == nil || l.indent <= e.indent {
		return false
	}
	// argparse lists commands below an operand.
	if m := commandLine.FindStringSubmatch(l.text); m != nil && slices.Contains(e.commands, m[1]) {
		r.p.addCommand(Subcommand{m[1], sentence(m[3])})
		return true
	}
	if e.column == 0 {
		e.column = l.indent
	}
	if len(e.help) < maxHelp {
		e.help = append(e.help, l.text)
	}
	return true
}

// heading begins a section if the line is a heading, and reports whether it is.
func (r *helpReader) heading(l line) bool {
	if l.indent > 2 || !heading.MatchString(l.text) && !(capitals.MatchString(l.text) && !r.inUsage) &&
		!(strings.HasSuffix(l.text, ":") && l.indent == 0 && elseParts.MatchString(l.text)) {
		return false
	}
	r.end()
	section := strings.ToLower(strings.TrimSuffix(l.text, ":"))
	r.inUsage, r.part, r.specs = false, aboutOptions, map[int]bool{}
	switch {
	case section == "usage" || section == "synopsis":
		r.part, r.inUsage, r.usageAt = aboutUsage, true, l.indent
	case operandParts.MatchString(section):
		r.part = aboutOperands
	case optionParts.MatchString(section):
	case strings.Contains(section, "example"):
		r.part = aboutExamples
	case elseParts.MatchString(section) && !r.options:
		r.part = aboutElse
	case commandParts.MatchString(section):
		r.part = aboutCommands
	}
	return true
}

// goesOn reads a line that continues the usage lines.
func (r *helpReader) goesOn(l, previous line) bool {
	if m := orLine.FindStringSubmatch(l.text); m != nil && len(r.usage) > 0 {
		r.usage = append(r.usage, m[1])
		return true
	}
	first, _, _ := strings.Cut(l.text, " ")
	own := isName(first, r.p.Words)
	switch {
	case own && (l.indent > r.usageAt || r.part == aboutUsage),
		len(r.usage) == 0 && r.part == aboutUsage && !strings.HasPrefix(l.text, "-"):
		r.usage = append(r.usage, l.text)
	case len(r.usage) == 0, previous.blank():
		return false
	case l.indent > r.usageAt && (strings.ContainsAny(l.text[:1], "[<({|.") || upperWord.MatchString(first) ||
		l.indent > r.usageAt+6):
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
	word = strings.TrimSuffix(path.Base(word), ".py")
	return word == words[0] || word == strings.Join(words, "-") || word == words[len(words)-1]
}

// option reads a line that begins an option.
func (r *helpReader) option(l, previous, next line) bool {
	if !strings.HasPrefix(l.text, "-") {
		return false
	}
	if e := r.entry; e != nil && e.column > 0 && l.indent >= e.column {
		return false // a description that continues
	}
	l.text = strings.TrimSuffix(l.text, ",")
	s, rest, ok := parseSpec(l.text, false)
	if !ok {
		return false
	}
	if next.indent > l.indent && !next.blank() && rest != "" && !separated(l.text, rest) && len(rest) < 60 {
		// "-prefix string", with the description on the next line
		if again, none, fits := parseSpec(l.text, true); fits && none == "" {
			s, rest = again, ""
		}
	}
	prose := !previous.blank() && previous.indent == l.indent && !strings.HasPrefix(previous.text, "-") &&
		!strings.HasSuffix(previous.text, ":") && !r.specs[l.indent]
	loose := rest != "" && !separated(l.text, rest)
	if loose && (prose || l.indent == 0 && !r.specs[0]) ||
		prose && (rest == "" || strings.Contains(previous.text, "  ")) { // a row of another table
		return false
	}
	r.begin(l, rest, func(help string) { r.p.enter(s, help) })
	r.specs[l.indent] = true
	if loose {
		r.entry.column = 0
	}
	return true
}

// begin begins an entry whose line ends in a description.
func (r *helpReader) begin(l line, description string, add func(help string)) {
	r.end()
	r.entry = &entry{indent: l.indent, add: add}
	if description != "" {
		r.entry.column, r.entry.help = l.indent+len(l.text)-len(description), []string{description}
	}
}

// separated reports whether two spaces or a colon precede a description.
func separated(text, rest string) bool {
	before := strings.TrimSuffix(text, rest)
	return strings.HasSuffix(before, "  ") || strings.HasSuffix(before, ": ") || strings.HasSuffix(before, ":")
}

// end adds the current entry to the program.
func (r *helpReader) end() {
	if e := r.entry; e != nil {
		r.entry = nil
		e.add(sentence(e.help...))
	}
}

// enter adds the option of a spec with its description.
func (p *Program) enter(s spec, help string) {
	if first := s.names[0]; cluster.MatchString(first) {
		if o := p.Find(first[:2]); o != nil && s.value == nil && strings.Trim(first, first[:2]) == "" { // "-vv" is -v twice
			o.Repeat = true
			return
		}
	}
	o := &Option{Names: s.names, Negations: s.negations, Value: s.value, Repeat: s.repeat, Help: help, Sure: Certain,
		Required: requiredIn.MatchString(help)}
	if help == "" {
		o.Sure = Likely
	}
	switch m := yargsType.FindStringSubmatch(help); {
	case o.Value != nil, m != nil && (m[1] == "boolean" || m[1] == "count"):
	case m != nil:
		o.Value = &Value{Name: strings.Replace(m[1], "number", "float", 1)}
	case p.Style == StyleYargs: // an option without a type can have a value
		o.Value = &Value{Name: "text"}
	case commaList.MatchString(help):
		o.Value = &Value{Name: "list"}
	}
	switch v := o.Value; {
	case v == nil:
	case v.Name == "count" && p.Style == StyleCobra: // pflag's type of a switch that is counted
		o.Value, o.Repeat = nil, true
	case v.Name == "bool" || v.Name == "boolean" || v.Name == "Boolean": // BOOL is a value
		o.Value = nil
	default:
		v.decide(help)
		// Options of commander mostly have their value, except options for options.
		v.Optional = v.Optional && (p.Style != StyleNode || v.Name == "options")
		o.Repeat = o.Repeat || v.dots || listName.MatchString(v.Name)
		v.Several = v.Several || v.dots && p.Style == StyleArgparse
	}
	o.decideRepeat()
	p.add(o)
}

var (
	requiredIn = lazyregexp.New(`\[required\]|\(required\)|\(Required\)`)
	// listName matches types of lists that libraries print.
	listName = lazyregexp.New(`^(?:strings|string(?:Array|Slice|ToString)|ints|durations|floats|[aA]rray|list)$`)
	// commaList matches descriptions of a value that the help omits otherwise.
	commaList = lazyregexp.New(`(?i)^(?:a )?comma[- ](?:separated|delimited)`)
	// yargsType matches the type that yargs prints after a description.
	yargsType = lazyregexp.New(`\[(string|number|array|boolean|count|choices: [^\]]*)\]`)
)

// commandBegins reads a line that begins a command in a list of commands.
func (r *helpReader) commandBegins(l line) bool {
	m := commandLine.FindStringSubmatch(l.text)
	if m == nil || l.indent == 0 {
		return false
	}
	r.begin(l, m[3]+m[4], func(help string) { r.p.addCommand(Subcommand{m[1], help}) })
	return true
}

var operandLine = lazyregexp.New(`^(\{[^}]+\}|[\[<]{0,2}[A-Za-z][A-Za-z0-9_./|-]*[>\]]{0,2})(?:\.\.\.|` +
	`…)?\]?(?: {2,}(.*))?$`)

// operandBegins reads a line that begins an operand in a list of operands.
func (r *helpReader) operandBegins(l line) bool {
	m := operandLine.FindStringSubmatch(l.text)
	if m == nil || l.indent == 0 {
		return false
	}
	o := &Operand{Value: Value{Name: strings.Trim(m[1], "<>[]."), Choices: listed(m[1])}}
	r.begin(l, m[2], func(help string) {
		if o.Help = help; len(r.p.Operands) < maxOperands {
			r.p.Operands = append(r.p.Operands, o)
		}
	})
	r.entry.commands = o.Choices
	return true
}

var (
	firstLine  = lazyregexp.New(`^[A-Z][^\n]{5,}`)
	notSummary = lazyregexp.New(`(?i):$|\bcopyright\b|^(?:for more|this is not|by default|if |see |report |e\.g|note)|` +
		`^\S+ (?:version )?v?[0-9]+\.[0-9]`)
)
