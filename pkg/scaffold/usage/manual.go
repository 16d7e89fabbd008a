package usage

import (
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
	n, skip, open := 0, false, false
	for l := range strings.SplitSeq(strings.ToValidUTF8(string(text), "\ufffd"), "\n") {
		if n++; n > maxLines {
			break
		}
		l = strings.TrimRight(strings.Map(printing, strings.ToValidUTF8(l[:min(len(l), maxLine)], "")), " ")
		switch {
		case skip:
			skip = l != ".." && l != "."
		case definition.MatchString(l):
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

var (
	definition  = lazyregexp.New(`^[.'](?:de1?|am|ig)\b`)
	conditional = lazyregexp.New(`^[.']\s*(?:if|ie|el)\b`)
	manSkip     = lazyregexp.New(`(?i)^(?:see also|examples?|environment.*|exit.*|authors?|copyright|history|bugs|files|` +
		`notes|standards|reporting bugs|diagnostics|caveats|compatibility|configuration|security.*|return values?|` +
		`colou?rs|.* format|expressions?.*|discussion|key bindings|commands|configuration file.*)$`)
)

// printing maps tabs to spaces and drops control characters.
func printing(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
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
	before  string   // the previous tag
}

// manMacros are the macros of man and mdoc that change the state of a manReader. Others only
// have text or no meaning here.
var manMacros = map[string]func(m *manReader, args []string){
	"SH": (*manReader).head, "Sh": (*manReader).head, "SS": (*manReader).subhead, "Ss": (*manReader).subhead,
	"TP": func(m *manReader, _ []string) { m.end(); m.tagNext = true },
	"HP": func(m *manReader, _ []string) { m.end(); m.tagNext = true },
	"TQ": func(m *manReader, _ []string) { m.tagNext = true },
	"IP": func(m *manReader, args []string) {
		m.end()
		if len(args) > 0 {
			m.tag(roff(args[0]))
		}
	},
	"PP": (*manReader).paragraph, "P": (*manReader).paragraph, "LP": (*manReader).paragraph, "Pp": (*manReader).paragraph,
	"RS": (*manReader).deeper, "INDENT": (*manReader).deeper, "RE": (*manReader).back, "UNINDENT": (*manReader).back,
	"SY": func(m *manReader, args []string) { m.breakLine(); m.text(roff(strings.Join(args, " "))) },
	"OP": func(m *manReader, args []string) { m.text("[" + roff(strings.Join(args, " ")) + "]") },
	"YS": func(m *manReader, _ []string) { m.breakLine() }, "br": func(m *manReader, _ []string) { m.breakLine() },
	"sp": func(m *manReader, _ []string) { m.breakLine() },
	"Bl": func(m *manReader, _ []string) { m.nested++ },
	"El": func(m *manReader, _ []string) {
		if m.nested = max(0, m.nested-1); m.nested == 0 {
			m.end()
		}
	},
	"It": func(m *manReader, args []string) {
		if m.nested > 1 {
			m.text(mdocLine(args))
			return
		}
		m.end()
		m.tag(mdocLine(args))
	},
	"Nm": (*manReader).name,
	"Nd": func(m *manReader, args []string) { m.p.Summary = sentence(plainText(roff(strings.Join(args, " ")))) },
}

func (m *manReader) line(l string) {
	if !strings.HasPrefix(l, ".") && !strings.HasPrefix(l, "'") || l == "." {
		m.text(roff(l))
		return
	}
	body := strings.TrimLeft(l[1:], " \t")
	name, rest, _ := strings.Cut(body, " ")
	args := arguments(rest)
	if act := manMacros[name]; act != nil {
		act(m, args)
		return
	}
	switch name {
	case "B", "SB", "SM", "R":
		m.text(roff(strings.Join(args, " ")))
	case "I":
		m.text("\x01" + roff(strings.Join(args, " ")) + "\x02")
	case "BR", "IR", "RB", "RI", "BI", "IB":
		var b strings.Builder
		for i, a := range args {
			if name[i%2] == 'I' {
				a = "\x01" + roff(a) + "\x02"
			}
			b.WriteString(roff(a))
		}
		m.text(b.String())
	default:
		if isMdocText(name) {
			m.text(mdocLine(append([]string{name}, args...)))
		}
	}
}

// head begins a section, and subhead a part of it.
func (m *manReader) head(args []string) {
	m.end()
	m.section = strings.ToLower(plainText(roff(strings.Join(args, " "))))
	m.depth, m.nested, m.tagNext = 0, 0, false
}

func (m *manReader) subhead(args []string) {
	m.end()
	m.depth, m.tagNext = 0, false
	title := strings.ToLower(plainText(roff(strings.Join(args, " "))))
	if manSkip.MatchString(title) || m.section != "synopsis" && m.section != "name" {
		m.section = title
	}
}

func (m *manReader) paragraph([]string) {
	if m.mdoc || m.depth > m.tagged && len(m.tags) > 0 {
		m.help = append(m.help, "")
		return
	}
	m.end()
}

// deeper indents what follows. A paragraph with nothing but an option is its tag.
func (m *manReader) deeper([]string) {
	m.depth++
	if one := strings.Join(m.para, " "); len(m.tags) == 0 && strings.HasPrefix(one, "-") && len(one) < 200 {
		m.para = nil
		m.tag(one)
	}
}

func (m *manReader) back([]string) {
	m.depth = max(0, m.depth-1)
	if len(m.tags) > 0 && m.depth < m.tagged || len(m.tags) > 0 && m.depth == m.tagged && m.depth == 0 {
		m.end()
	}
}

// name is mdoc's macro for the name of the program, which begins a usage line.
func (m *manReader) name(args []string) {
	m.mdoc = true
	nm := m.p.Words[len(m.p.Words)-1]
	switch m.section {
	case "name":
	case "synopsis":
		m.synopsis = append(m.synopsis, "\n", nm, mdocLine(args))
	default:
		m.text(nm)
	}
}

func (m *manReader) breakLine() {
	if m.section == "synopsis" {
		m.synopsis = append(m.synopsis, "\n")
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
			m.help = append(m.help, plainText(s))
		}
	case s == "":
		m.end()
	case len(m.para) < 200:
		m.para = append(m.para, s)
	}
}

// tag begins a description.
func (m *manReader) tag(s string) {
	m.para = nil
	if len(m.tags) == 0 {
		m.tagged = m.depth
	}
	m.tags = append(m.tags, s)
}

// end ends a paragraph or a description.
func (m *manReader) end() {
	text := plainText(strings.Join(m.para, " "))
	m.para = nil
	if _, summary, ok := strings.Cut(text, " - "); ok && m.section == "name" && m.p.Summary == "" {
		m.p.Summary = sentence(summary)
	} else if text != "" && m.section != "name" && len(m.prose) < 500 && !manSkip.MatchString(m.section) {
		m.prose = append(m.prose, text)
	}
	if strings.HasPrefix(m.section, "example") {
		m.p.exemplify(strings.Join(append(append(m.tags, m.help...), text), " "))
	}
	tags, help := m.tags, m.help
	m.tags, m.help = nil, nil
	if manSkip.MatchString(m.section) || m.section == "synopsis" {
		return
	}
	body := sentence(firstParagraphs(help)...)
	for _, t := range tags {
		t = strings.Join(strings.Fields(placeholders(t)), " ")
		before := m.before
		if m.before = t; before == strings.Replace(t, "-", "+", 1) && before != t {
			continue // "+n", "-n": numbers with a sign
		}
		if !strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "[-") {
			continue
		}
		if s, rest, ok := parseSpec(t, true); ok && (rest == "" || len(strings.Fields(rest)) < 4) {
			m.p.enter(s, body, FromManual)
		}
	}
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
		if current = strings.TrimSpace(placeholders(current)); current != "" {
			lines = append(lines, strings.TrimPrefix(current, "Usage: "))
		}
		current = ""
	}
	joined := strings.Join(m.p.Words, " ")
	for _, s := range m.synopsis {
		if s == "\n" || current != "" && (s == joined || strings.HasPrefix(s, joined+" ")) {
			flush()
		}
		if s != "\n" && len(current) < 4*maxLine {
			current += " " + s
		}
	}
	flush()
	m.p.synopsis(lines, FromUsage)
}

// italic matches text in italics, which [roff] puts between two control characters.
var italic = lazyregexp.New("\x01([^\x01\x02]*)\x02?")

// placeholders writes words in italics as <word>: they represent values.
func placeholders(s string) string {
	s = italic.ReplaceAllStringFunc(s, func(found string) string {
		word := strings.Trim(found, "\x01\x02 ")
		if operandName.MatchString(word) {
			return "<" + word + ">"
		}
		return word
	})
	return strings.ReplaceAll(strings.ReplaceAll(plainText(s), "<<", "<"), ">>", ">")
}

// plainText returns a text without the marks of italics.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\x01' || r == '\x02' {
			return -1
		}
		return r
	}, s)
}

// arguments splits the arguments of a macro. Double quotes enclose arguments with spaces.
func arguments(s string) (args []string) {
	for s = strings.TrimLeft(s, " \t"); s != "" && !strings.HasPrefix(s, `\"`); s = strings.TrimLeft(s, " \t") {
		if s[0] == '"' {
			end := 1
			for end < len(s) && (s[end] != '"' || strings.HasPrefix(s[end:], `""`)) {
				if s[end] == '"' {
					end++
				}
				end++
			}
			end = min(end, len(s))
			args, s = append(args, strings.ReplaceAll(s[1:end], `""`, `"`)), s[min(end+1, len(s)):]
			continue
		}
		i := 0
		for i < len(s) && s[i] != ' ' && s[i] != '\t' {
			if s[i] == '\\' {
				i++
			}
			i++
		}
		i = min(i, len(s))
		args, s = append(args, s[:i]), s[i:]
	}
	return args
}
