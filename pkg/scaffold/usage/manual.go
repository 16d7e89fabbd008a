package usage

import (
	"slices"
	"strings"
	"unicode"

	"mcp-bash/pkg/text/lazyregexp"
)

// Manual parses the source of a manual page, with the macros of man or mdoc (WRAP-25). Tags
// that begin with a dash are options. The synopsis is parsed like usage lines.
func Manual(text []byte, words []string) *Program {
	if len(text) > maxBytes {
		text = text[:maxBytes]
	}
	p := &Program{Words: words, DashesAt: -1, Sources: []Source{FromManual}}
	m := &manReader{p: p}
	source := strings.ToValidUTF8(string(text), "\ufffd")
	n := 0
	skip, open := false, false
	for l := range strings.SplitSeq(source, "\n") {
		if n++; n > maxLines {
			break
		}
		if len(l) > maxLine {
			l = strings.ToValidUTF8(l[:maxLine], "")
		}
		l = strings.TrimRight(strings.Map(printing, l), " ")
		switch {
		case skip:
			skip = l != ".." && l != "."
		case strings.HasPrefix(l, ".de ") || strings.HasPrefix(l, ".de1 ") || strings.HasPrefix(l, ".am ") ||
			strings.HasPrefix(l, ".ig"):
			skip = true
		case open:
			open = !strings.HasSuffix(l, `\}`)
		case conditional.MatchString(l):
			open = strings.Contains(l, `\{`) && !strings.Contains(l, `\}`)
		default:
			m.line(l)
		}
	}
	m.end()
	if m.mdoc {
		p.Style = StyleUsage
	}
	m.synopsisLines()
	p.finish(m.prose)
	p.Style = StyleOther // a page does not show which library reads the options
	return p
}

// gluedOption matches a short option that its value follows directly.
var gluedOption = lazyregexp.New(`^-[A-Za-z0-9]$`)

var conditional = lazyregexp.New(`^['.]\s*(?:if|ie|el)\b`)

// printing maps tabs to spaces and drops control characters.
func printing(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsControl(r):
		return -1
	}
	return r
}

// A manReader parses a manual page in one pass.
type manReader struct {
	p        *Program
	mdoc     bool
	section  string
	synopsis []string
	prose    []string

	tagNext bool     // the next line is a tag
	tags    []string // tags whose description is being read
	help    []string
	para    []string // the current paragraph outside tags
	depth   int      // of .RS
	tagged  int      // the depth of the first tag whose description is read
	nested  int      // the number of open mdoc lists

	before   string  // the previous tag
	tagDepth int     // the depth of the tag that is read
	last     *Option // the option described last
	lastAt   int     // the depth of last
}

var manSkip = lazyregexp.New(`(?i)^(?:see also|examples?|environment.*|exit.*|authors?|copyright|history|` +
	`bugs|files|notes|standards|` +
	`reporting bugs|diagnostics|caveats|compatibility|configuration|security.*|return values?|colou?rs|.* format|` +
	`expressions?.*|` +
	`discussion|key bindings|commands|configuration file.*)$`)

func (m *manReader) line(l string) {
	if !strings.HasPrefix(l, ".") && !strings.HasPrefix(l, "'") || l == "." {
		m.text(roff(l))
		return
	}
	body := strings.TrimLeft(l[1:], " \t")
	if body == "" || strings.HasPrefix(body, `\"`) || strings.HasPrefix(body, `"`) {
		return
	}
	name, rest, _ := strings.Cut(body, " ")
	args := arguments(rest)
	switch name {
	case "SH", "Sh":
		m.mdoc = m.mdoc || name == "Sh"
		m.end()
		m.section = strings.ToLower(roff(strings.Join(args, " ")))
		m.depth, m.nested, m.tagNext = 0, 0, false
	case "SS", "Ss":
		m.end()
		m.depth, m.tagNext = 0, false
		if title := strings.ToLower(roff(strings.Join(args, " "))); manSkip.MatchString(title) && m.section != "" {
			m.section = title
		} else if m.section != "synopsis" && m.section != "name" {
			m.section = title
		}
	case "TP":
		m.end()
		m.tagNext = true
	case "TQ":
		m.tagNext = true
	case "IP":
		m.end()
		if len(args) > 0 {
			m.tag(roff(args[0]))
		}
	case "HP":
		m.end()
		m.tagNext = true
	case "PP", "P", "LP", "Pp":
		if m.mdoc || m.depth > m.tagged && len(m.tags) > 0 {
			m.help = append(m.help, "")
			return
		}
		m.end()
	case "RS":
		m.depth++
		if one := strings.Join(m.para, " "); len(m.tags) == 0 && strings.HasPrefix(one, "-") && len(one) < 200 {
			m.para = nil
			m.tag(one)
		}
	case "RE":
		m.depth = max(0, m.depth-1)
		if len(m.tags) > 0 && m.depth <= m.tagged {
			m.end()
		}
	case "B", "I", "SB", "SM", "R":
		m.text(roff(strings.Join(args, " ")))
	case "BR", "IR", "RB", "RI", "BI", "IB":
		var b strings.Builder
		for i, a := range args {
			word := roff(a)
			if name == "BI" && i == 1 && m.tagNext && lowerWord.MatchString(word) && gluedOption.MatchString(b.String()) {
				word = "<" + word + ">" // "-Ttype": a value is in italics
			}
			b.WriteString(word)
		}
		m.text(b.String())
	case "SY":
		m.text(roff(strings.Join(args, " ")))
	case "OP":
		m.text("[" + roff(strings.Join(args, " ")) + "]")
	case "YS", "br":
		if m.section == "synopsis" {
			m.synopsis = append(m.synopsis, "\n")
		}
	case "sp", "nf", "fi", "EX", "EE", "ad", "na", "nh", "hy", "in", "ne", "TH", "Dd", "Dt", "Os", "PD", "ds", "nr",
		"IX", "UE", "ME",
		"ft", "ta", "ll", "tr", "rm", "so", "als", "Bd", "Ed", "Bk", "Ek", "Ex", "Rv":
		if name == "sp" && m.section == "synopsis" {
			m.synopsis = append(m.synopsis, "\n")
		}
	case "Bl":
		m.nested++
	case "El":
		m.nested = max(0, m.nested-1)
		if m.nested == 0 {
			m.end()
		}
	case "It":
		if m.nested <= 1 {
			m.end()
			m.tag(mdocLine(args))
		} else {
			m.text(mdocLine(args))
		}
	case "Nm":
		if m.section == "name" {
			return
		}
		nm := m.p.Words[len(m.p.Words)-1]
		if m.section == "synopsis" {
			m.synopsis = append(m.synopsis, "\n", nm, mdocLine(args))
			return
		}
		m.text(nm)
	case "Nd":
		m.p.Summary = sentence(roff(strings.Join(args, " ")))
	default:
		if mdocMacros[name] {
			m.text(mdocLine(append([]string{name}, args...)))
		}
	}
}

// text reads a line of text.
func (m *manReader) text(s string) {
	s = strings.TrimSpace(s)
	switch {
	case m.tagNext:
		if s != "" {
			m.tagNext = false
			m.tag(s)
		}
	case m.section == "synopsis":
		m.synopsis = append(m.synopsis, s)
	case len(m.tags) > 0:
		if len(m.help) < 200 {
			m.help = append(m.help, s)
		}
	default:
		if s == "" {
			m.end()
			return
		}
		if len(m.para) < 200 {
			m.para = append(m.para, s)
		}
	}
}

// tag begins a description.
func (m *manReader) tag(s string) {
	m.para = nil
	if len(m.tags) == 0 {
		m.tagged = m.depth
	}
	m.tags = append(m.tags, s)
	m.tagDepth = m.depth
}

// end ends a paragraph or a description.
func (m *manReader) end() {
	text := strings.Join(m.para, " ")
	m.para = nil
	if m.section == "name" && text != "" {
		if _, summary, ok := strings.Cut(text, " - "); ok && m.p.Summary == "" {
			m.p.Summary = sentence(summary)
		}
	} else if text != "" && len(m.prose) < 500 && !manSkip.MatchString(m.section) {
		m.prose = append(m.prose, text)
	}
	if strings.HasPrefix(m.section, "example") {
		for _, t := range append(m.tags, append(m.help, text)...) {
			for _, found := range optionIn.FindAllStringSubmatch(t, 50) {
				if len(m.p.Examples) < maxOptions {
					m.p.example(found[1], 1)
				}
			}
		}
	}
	tags, help := m.tags, m.help
	m.tags, m.help = nil, nil
	if len(tags) == 0 {
		return
	}
	if manSkip.MatchString(m.section) || m.section == "synopsis" {
		return
	}
	body := sentence(firstParagraphs(help)...)
	if m.choice(tags, body) {
		return
	}
	for _, t := range tags {
		t = strings.TrimSpace(t)
		before := m.before
		if m.before = t; before == strings.Replace(t, "-", "+", 1) && before != t {
			continue // "+n", "-n": numbers with a sign
		}
		if !strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "[-") {
			continue
		}
		if s, rest, ok := parseSpec(t, true); ok && (rest == "" || len(strings.Fields(rest)) < 4) {
			m.p.enter(s, body, FromManual)
			m.last, m.lastAt = m.p.Find(s.names[0]), m.tagDepth
		}
	}
}

var (
	choiceTag  = lazyregexp.New(`^['"]?([a-z0-9][\w.-]{0,30})['"]?(?:, .*)?$`)
	choiceItem = lazyregexp.New(`^['"]?([a-z0-9][\w.-]{0,30})['"]? (?:-|--|:) `)
)

// choice adds an item of a list in an option's description to the option's values.
func (m *manReader) choice(tags []string, body string) bool {
	if m.last == nil || m.last.Value == nil || m.tagDepth <= m.lastAt || len(tags) != 1 {
		return false
	}
	found := choiceTag.FindStringSubmatch(tags[0])
	if tags[0] == "*" || tags[0] == "o" || tags[0] == "-" {
		found = choiceItem.FindStringSubmatch(body)
	}
	v := m.last.Value
	if found == nil || v.Kind != Text && v.Kind != Choice || v.Sure == Certain && v.Kind == Choice {
		return false
	}
	if !slices.Contains(v.Choices, found[1]) && len(v.Choices) < maxChoices {
		v.Choices = append(v.Choices, found[1])
	}
	if len(v.Choices) > 1 {
		v.Kind, v.Sure = Choice, Likely
	}
	return true
}

// firstParagraphs returns the lines of a description up to its second empty line.
func firstParagraphs(help []string) []string {
	empty := 0
	for i, l := range help {
		if l == "" && i > 0 {
			if empty++; empty == 2 {
				return help[:i]
			}
		}
	}
	return help
}

// synopsisLines parses the synopsis as usage lines.
func (m *manReader) synopsisLines() {
	var lines []string
	current := ""
	flush := func() {
		if current = strings.TrimSpace(current); current != "" {
			lines = append(lines, current)
		}
		current = ""
	}
	joined := strings.Join(m.p.Words, " ")
	for _, s := range m.synopsis {
		first, _, _ := strings.Cut(s, " ")
		if s == "\n" || current != "" && first != "" && (strings.HasPrefix(s, joined) || len(m.p.Words) == 1 &&
			first == joined) {
			flush()
		}
		if s != "\n" && len(current) < 4*maxLine {
			current += " " + s
		}
	}
	flush()
	for i, l := range lines {
		l = strings.TrimPrefix(l, "Usage: ")
		lines[i] = l
	}
	m.p.synopsis(lines, FromUsage)
}

// arguments splits the arguments of a macro. Double quotes enclose arguments with spaces.
func arguments(s string) (args []string) {
	for s = strings.TrimLeft(s, " \t"); s != ""; s = strings.TrimLeft(s, " \t") {
		if strings.HasPrefix(s, `\"`) {
			break
		}
		if s[0] != '"' {
			i := 0
			for i < len(s) && s[i] != ' ' && s[i] != '\t' {
				if s[i] == '\\' && i+1 < len(s) {
					i++
				}
				i++
			}
			i = min(i, len(s))
			args, s = append(args, s[:i]), s[i:]
			continue
		}
		var b strings.Builder
		i := 1
		for ; i < len(s); i++ {
			if s[i] == '"' {
				if i+1 < len(s) && s[i+1] == '"' {
					i++
				} else {
					break
				}
			}
			b.WriteByte(s[i])
		}
		args = append(args, b.String())
		s = s[min(i+1, len(s)):]
	}
	return args
}

// glyphs maps roff's names of characters to the characters.
var glyphs = map[string]string{
	"aq": "'", "dq": `"`, "lq": `"`, "rq": `"`, "oq": "'", "cq": "'", "bu": "*", "em": "--", "en": "-", "hy": "-",
	"mi": "-",
	"ha": "^", "ti": "~", "rs": `\`, "at": "@", "sh": "#", "bv": "|", "or": "|", "la": "<", "ra": ">", "lB": "[",
	"rB": "]",
	"lC": "{", "rC": "}", "co": "(c)", "rg": "(r)", "tm": "", "ga": "`", "aa": "'", "ge": ">=", "le": "<=", "ne": "!=",
	"->": "->",
	"<-": "<-", "mu": "x", "de": " degrees", "sl": "/", "ul": "_", "ru": "_", "Do": "$", "eq": "=", "pl": "+", "fo": "<",
	"fc": ">",
	"Fo": `"`, "Fc": `"`, "dg": "", "sp": " ", "nb": " ",
}

var strDefs = map[string]string{"Aq": "'", "lq": `"`, "rq": `"`, "Lq": `"`, "Rq": `"`, "L\"": `"`, "R\"": `"`,
	"C`": "", "C'": "",
	"q": `"`, "R": "(r)", "Ba": "|", "Gt": ">", "Lt": "<", "--": "--", "PI": "pi", "Pm": "+-", "Ne": "!=", "Le": "<=",
	"Ge": ">="}

// roff returns a text without roff's escapes.
func roff(s string) string {
	if !strings.ContainsRune(s, '\\') {
		return s
	}
	var b strings.Builder
	named := func(i int) (name string, next int) { // (xx, [xxx] or x
		switch {
		case i >= len(s):
			return "", i
		case s[i] == '(':
			return s[min(i+1, len(s)):min(i+3, len(s))], i + 3
		case s[i] == '[':
			if end := strings.IndexByte(s[i:], ']'); end > 0 {
				return s[i+1 : i+end], i + end + 1
			}
		}
		return s[i : i+1], i + 1
	}
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			if s[i] != '\\' {
				b.WriteByte(s[i])
			}
			i++
			continue
		}
		c := s[i+1]
		i += 2
		switch c {
		case '-', '.', '\'', '`', '_':
			b.WriteByte(c)
		case ' ', '~', '0':
			b.WriteByte(' ')
		case 'e', '\\', 'E':
			b.WriteByte('\\')
		case 't':
			b.WriteByte(' ')
		case 'f', 'F', 'm', 'M', 'g':
			_, i = named(i)
		case 'n', 'k', 'V', 'Y':
			if i < len(s) && (s[i] == '+' || s[i] == '-') {
				i++
			}
			_, i = named(i)
		case '*':
			name, next := named(i)
			b.WriteString(strDefs[name])
			i = next
		case '(':
			name := s[i:min(i+2, len(s))]
			b.WriteString(glyphs[name])
			i += 2
		case '[':
			end := strings.IndexByte(s[i:], ']')
			if end < 0 {
				break
			}
			b.WriteString(glyphs[s[i:i+end]])
			i += end + 1
		case 's':
			if i < len(s) && (s[i] == '+' || s[i] == '-') {
				i++
			}
			if i < len(s) && s[i] >= '0' && s[i] <= '9' {
				i++
			} else if i < len(s) {
				_, i = named(i)
			}
		case 'h', 'v', 'w', 'o', 'D', 'l', 'L', 'N', 'X', 'Z', 'b', 'x', 'S', 'H', 'C', 'A', 'B', 'R':
			if i < len(s) && s[i] == '\'' {
				if end := strings.IndexByte(s[i+1:], '\''); end >= 0 {
					i += end + 2
				}
			}
		case '"', '#':
			return b.String()
		}
		i = min(i, len(s))
	}
	return b.String()
}

// mdocMacros are the mdoc macros that produce text.
var mdocMacros = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields("Fl Ar Op Oo Oc Cm Ic Pa Ev Xr Dq Sq Ql Li Em Sy Qq Bq Brq Pq Aq Do Dc So " +
		"Sc Qo Qc Bo Bc Pf Ns Va Vt " +
		"An Ad Er Fa Fn Ft Dv Tn Ux Bx No Cd Lk Mt Ao Ac Po Pc Xo Xc Bro Brc Ap Sm Sx Ms Nm St Ex") {
		set[name] = true
	}
	return set
}()

// mdocLine returns the text of a line of mdoc macros.
func mdocLine(args []string) string {
	var b strings.Builder
	var closing []string // text that is added at the end of the line
	state := ""          // Fl, Ar or another macro that applies to words up to the next one
	glue := false        // the next word follows without a space
	fresh := false       // a macro that has no word yet
	put := func(s string) {
		if b.Len() > 0 && !glue && s != "" && !strings.ContainsAny(s[:1], ".,;:)]") {
			b.WriteByte(' ')
		}
		glue = false
		b.WriteString(s)
	}
	open := func(before, after string) {
		put(before)
		glue = true
		closing = append(closing, after)
	}
	shut := func(s string) {
		glue = true
		put(s)
	}
	for i, a := range args {
		if i > 500 {
			break
		}
		if !mdocMacros[a] {
			word := roff(a)
			switch {
			case word == "" && state != "Fl":
				continue
			case len(word) == 1 && strings.Contains(".,;:)]", word):
				glue = true
				put(word)
				continue
			case word == "|" || word == "(" || word == "[":
				put(word)
				glue = word != "|"
				continue
			case state == "Fl":
				word = "-" + word
			case state == "Ar":
				word = "<" + strings.Trim(word, "<>") + ">"
				if word == "<...>" {
					word = "..."
					glue = true
				} else if strings.HasSuffix(word, " ...>") {
					word = strings.TrimSuffix(word, " ...>") + "> ..."
				}
			}
			fresh = false
			put(word)
			continue
		}
		if fresh && state == "Fl" {
			put("-")
			glue = true
		} else if fresh && state == "Ar" {
			put("<file> ...")
		}
		fresh = false
		switch a {
		case "Fl", "Ar":
			state, fresh = a, true
		case "Ns":
			glue, state = true, ""
		case "Pf", "Ap":
			state = ""
		case "Op", "Bq":
			open("[", "]")
			state = ""
		case "Oo", "Bo":
			put("[")
			glue, state = true, ""
		case "Oc", "Bc":
			shut("]")
			state = ""
		case "Brq", "Bro":
			open("{", "}")
			state = ""
		case "Brc":
			state = ""
		case "Dq", "Qq", "Sq", "Ql":
			open("'", "'")
			state = ""
		case "Aq":
			open("<", ">")
			state = ""
		case "Pq":
			open("(", ")")
			state = ""
		default:
			state = ""
		}
	}
	if fresh && state == "Fl" {
		put("-")
	} else if fresh && state == "Ar" {
		put("<file> ...")
	}
	for i := len(closing) - 1; i >= 0; i-- {
		shut(closing[i])
	}
	return strings.TrimSpace(b.String())
}
