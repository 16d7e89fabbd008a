package usage

import (
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// Manual parses the source of a manual page, with the macros of man or mdoc (WRAP-25). The page is
// laid out as lines, which are read like a help text.
func Manual(text []byte, words []string) *Program {
	p := &Program{Words: words, DashesAt: -1}
	m := &manPage{name: words[len(words)-1]}
	source := conditional.ReplaceAllString(definition.ReplaceAllString(string(text[:min(len(text), maxBytes)]), ""), "")
	for _, l := range clean([]byte(source)) {
		m.line(strings.Repeat(" ", l.indent) + l.text)
	}
	m.flush()
	r := &helpReader{p: p, lines: m.lines}
	r.read()
	p.Summary = sentence(m.summary)
	p.synopsis(m.synopsis)
	return p
}

// definition and conditional match definitions of macros and conditional lines.
var (
	definition  = lazyregexp.New(`(?ms)^[.'](?:de1?|am|ig)\b.*?^\.\.?\r?$`)
	conditional = lazyregexp.New(`(?ms)^[.'][ \t]*(?:if|ie|el)\b(?:[^\n{]*\\\{.*?\\\}[^\n]*|[^\n]*)$`)
)

// indent is the distance of tags from the margin, and of descriptions from their tags.
const indent = 4

// A manPage lays out a manual page.
type manPage struct {
	name     string
	lines    []line
	synopsis []string
	summary  string

	section string
	para    []string // the current paragraph
	tag     bool     // the next line is a tag
	body    bool     // a tag is being described
	listed  int      // the column of a list in this section whose tags are not options
	depth   int      // of .RS, or of mdoc's lists
}

// flush ends a paragraph.
func (m *manPage) flush() {
	text := strings.Join(strings.Fields(strings.Join(m.para, " ")), " ")
	m.para = nil
	if text == "" {
		return
	}
	switch m.section {
	case "name":
		if _, summary, ok := strings.Cut(plainText(text), " - "); ok && m.summary == "" {
			m.summary = summary
		}
		return
	case "synopsis":
		m.synopsis = append(m.synopsis, cut(strings.TrimPrefix(placeholders(text), "Usage: "), 4*maxLine))
		return
	}
	column := indent + indent*m.depth
	if m.body {
		column += indent
	} else {
		m.lines = append(m.lines, line{})
	}
	m.lines = append(m.lines, line{plainText(text), column})
}

// item begins an entry of a list. The second of two names of an option without text between them joins
// the first.
func (m *manPage) item(tag string) {
	m.flush()
	tag = strings.Join(strings.Fields(placeholders(tag)), " ")
	column := indent + indent*m.depth
	m.tag, m.body = false, true
	if n := len(m.lines); n > 0 && m.lines[n-1].indent == column && strings.HasPrefix(tag, "--") {
		before := m.lines[n-1].text
		if first, _, _ := strings.Cut(before, " "); isShort(first) && strings.HasPrefix(first, "-") && len(before) < maxName {
			m.lines[n-1].text = before + ", " + tag
			return
		}
	}
	option := strings.HasPrefix(tag, "-") || strings.HasPrefix(tag, "[-")
	if option && m.listed == column { // "N-M", "-M": an entry of another list
		tag = "(" + tag + ")"
	}
	if tag != "" {
		if !option {
			m.listed = column
		}
		m.lines = append(m.lines, line{}, line{tag, column})
	}
}

// text adds a line of text.
func (m *manPage) text(s string) {
	s = strings.TrimSpace(s)
	switch {
	case m.tag && s != "":
		m.item(s)
	case s == "":
		m.flush()
	case len(m.para) < 200:
		m.para = append(m.para, s)
	}
}

// verbatim adds a line that begins with spaces as it is, and reports whether it is such a line.
func (m *manPage) verbatim(s string) bool {
	bare := strings.TrimLeft(s, " ")
	if bare == s || bare == "" || m.tag || m.section == "synopsis" || m.section == "name" {
		return false
	}
	m.flush()
	m.lines = append(m.lines, line{plainText(bare), indent + len(s) - len(bare)})
	return true
}

func (m *manPage) line(l string) {
	if !strings.HasPrefix(l, ".") && !strings.HasPrefix(l, "'") || l == "." {
		if !m.verbatim(roff(l)) {
			m.text(roff(l))
		}
		return
	}
	name, rest, _ := strings.Cut(strings.TrimLeft(l[1:], " \t"), " ")
	args := arguments(rest)
	all := roff(strings.Join(args, " "))
	switch name {
	case "SH", "Sh", "SS", "Ss":
		m.heading(name, plainText(all))
	case "TP", "HP":
		m.flush()
		m.tag, m.body = true, false
	case "TQ":
		m.tag = true
	case "IP":
		if m.item(""); len(args) > 0 {
			m.item(roff(args[0]))
		}
	case "PP", "P", "LP", "Pp", "sp", "br":
		m.flush()
		m.body = m.body && (name == "sp" || name == "br")
	case "RS", "INDENT":
		m.flush()
		m.depth++
	case "RE", "UNINDENT", "El":
		m.flush()
		m.depth, m.body, m.listed = max(0, m.depth-1), m.depth > 1, 0
	case "Bl":
		m.flush()
		m.depth++
	case "It":
		m.item(mdocLine(args))
	case "Nm": // the name of the program, which begins a usage line
		m.flush()
		if m.section != "name" {
			m.text(m.name + " " + mdocLine(args))
		}
	case "Nd":
		m.summary = plainText(all)
	default:
		m.font(name, args)
	}
}

// fonts matches the macros for fonts. Macros of two letters alternate between two fonts.
var fonts = lazyregexp.New(`^(?:[BIR]{1,2}|SB|SM)$`)

// font adds the text of a macro for fonts, or of an inline macro of mdoc.
func (m *manPage) font(name string, args []string) {
	if isMdocText(name) {
		m.text(mdocLine(append([]string{name}, args...)))
	}
	if !fonts.MatchString(name) {
		return
	}
	if len(name) == 1 || name[0] == 'S' {
		args = []string{strings.Join(args, " ")}
	}
	var b strings.Builder
	for i, a := range args {
		if a = roff(a); name[i%len(name)] == 'I' {
			a = "\x01" + a + "\x02"
		}
		b.WriteString(a)
	}
	m.text(b.String())
}

// heading begins a section.
func (m *manPage) heading(macro, title string) {
	m.flush()
	m.depth, m.tag, m.body, m.listed = 0, false, false, 0
	if macro == "SS" && m.section == "synopsis" {
		return
	}
	m.section = strings.ToLower(title)
	m.lines = append(m.lines, line{}, line{title + ":", 0})
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
	return strings.NewReplacer("\x01", "", "\x02", "").Replace(s)
}

// argument matches an argument of a macro. Double quotes enclose arguments with spaces.
var argument = lazyregexp.New(`"((?:[^"]|"")*)"?|(?:\\.|[^\\ ])+`)

// arguments splits the arguments of a macro.
func arguments(s string) (args []string) {
	s, _, _ = strings.Cut(" "+s, ` \"`) // a comment
	for _, m := range argument.FindAllStringSubmatch(s, -1) {
		if strings.HasPrefix(m[0], `"`) {
			m[0] = strings.ReplaceAll(m[1], `""`, `"`)
		}
		args = append(args, m[0])
	}
	return args
}
