package shellscript

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/helptext"
	"mcp-bash/pkg/text/lazyregexp"
)

// readUsage reads the usage text: the output of a function called usage or help, the head comment, or a variable.
func (r *reader) readUsage() {
	for _, text := range r.usageTexts() {
		h := helptext.Read(text)
		if len(r.help.Options) == 0 {
			r.help.Options = h.Options
		}
		if len(r.help.Operands) == 0 {
			r.help.Operands = h.Operands
		}
		r.help.Purpose = cmp.Or(r.help.Purpose, h.Purpose)
	}
}

// maxUsages limits the functions, and the variables, whose text is taken as a usage text.
const maxUsages = 10

// usageTexts returns the texts that can be a usage text, the best first.
func (r *reader) usageTexts() (texts []string) {
	for _, name := range slices.Sorted(maps.Keys(r.functions)) {
		if isUsage(name) && len(texts) < maxUsages {
			texts = append(texts, r.printedTexts(r.functions[name].Body, ""))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.assignments)) {
		for _, s := range r.assignments[name] {
			if isUsage(name) && s.Value != nil && len(texts) < 2*maxUsages {
				texts = append(texts, r.displayText(s.Value))
			}
		}
	}
	texts = append(texts, r.printedTexts(r.file, "usage"))
	head := strings.Join(r.headComment(), "\n")
	if strings.Contains(strings.ToLower(head), "usage") || len(helptext.Read(head).Options) > 0 {
		texts = append(texts, head)
	}
	return texts
}

// printedTexts returns the texts with a word that commands below a node print: echo, printf, cat with a here-document.
func (r *reader) printedTexts(n syntax.Node, word string) string {
	var b strings.Builder
	syntax.Walk(n, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			if text := r.printedText(s); strings.Contains(strings.ToLower(text), word) {
				b.WriteString(text + "\n")
			}
		}
		return true
	})
	return b.String()
}

func (r *reader) printedText(s *syntax.Stmt) string {
	c, _ := s.Cmd.(*syntax.CallExpr)
	name := commandName(s.Cmd)
	if !prints(name) {
		return ""
	}
	for _, redirect := range s.Redirs {
		if redirect.Hdoc != nil {
			text := r.displayText(redirect.Hdoc)
			if redirect.Op == syntax.DashHdoc {
				text = strings.ReplaceAll(text, "\t", "")
			}
			return text
		}
	}
	var words []string
	for _, w := range c.Args[1:] {
		if text := r.displayText(w); name != "cat" && (len(words) > 0 || !slices.Contains(echoOptions, text)) {
			words = append(words, text)
		}
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `%s`, "SCRIPT").Replace(strings.Join(words, " "))
}

var echoOptions = []string{"-e", "-n", "-en", "--"}

// headComment returns the lines of the comment at the beginning, without their marks.
func (r *reader) headComment() (lines []string) {
	hasWord := false
	for i, line := range r.lines {
		line = strings.TrimSpace(line)
		text, isComment := strings.CutPrefix(line, "#")
		switch {
		case i == 0 && strings.HasPrefix(line, "#!"):
		case isComment:
			lines = append(lines, strings.TrimLeft(strings.TrimPrefix(text, "/"), "#"))
			hasWord = hasWord || strings.Trim(text, "#-=*~ \t") != ""
		case hasWord || line != "" && !strings.HasPrefix(line, "set -"):
			return lines
		}
	}
	return lines
}

// describe finds the description: in the head comment, or the first line of the usage text.
func (r *reader) describe() {
	r.script.Description = cmp.Or(Describe(r.headComment()), r.help.Purpose)
	if r.script.Description == "" {
		r.doubt(DoubtPurpose, "", 1)
	}
}

// The kinds of lines in a head comment. A label has its text behind it, or is a heading.
var (
	label = lazyregexp.New(`(?i)^[:@\\]?\s*(?:` +
		`((?:short[- ])?desc(?:ription)?|describe|summary|purpose|about|brief|what)|(name)|` +
		`(usage|synopsis|options?|flags|arguments?|args?|param(?:eter)?s?|authors?|version|date|created|updated|modified|` +
		`licen[cs]e|copyright|file(?:name)?|script|title|examples?|exit(?: status| codes?)?|returns?|requires?|` +
		`requirements|dependenc(?:y|ies)|depends|env(?:ironment)?(?: variables)?|globals|notes?|todo|see also|maintainer|` +
		`contact|e?mail|url|repo(?:sitory)?|history|changelog|bugs|provides|(?:required|should|default)-st(?:art|op))` +
		`)\s*(?::|$)\s*(.*)$`)
	tagged = lazyregexp.New(`^[@\\](\w+)\s+(.*)$`)
	// declared matches declarations for other programs: argc, mise, usage, argbash and mcp-bash.
	declared = lazyregexp.New(`^\[?(?:(?:USAGE|MISE)\]?\s|ARG(?:BASH)?_|mcp:)`)
	purposes = lazyregexp.New(`^(?:\[?USAGE\]?\s+(?:long_)?about\s+"([^"]+)"|` +
		`\[?MISE\]?\s+description\s*=\s*["']([^"']+)["']|ARG_HELP\(\[([^\]]+)\])`)
	// legal begins a paragraph that is not about the script.
	legal = lazyregexp.New(`(?i)^(?:licensed under|permission is hereby|this program is free|redistribution and use|` +
		`you may not use|all rights reserved|this (?:script|file) (?:was|is) (?:auto\S*\s+)?generated)`)
	noDescription = lazyregexp.New(`(?i)^(?:[\w.-]+\.\w+\s+[\[<-]|usage\b|synopsis\b|copyright|\(c\)|licen[cs]e|` +
		`(?:mit|bsd|gpl|apache)\S* licen[cs]e|spdx|author|maintain|version\b|shellcheck|vim?:|-\*-|-|\$\d|https?://|@|` +
		`by\s+\S+.*<\S+@|\d{4}-\d\d|(?:begin|end) init info|todo|requires?:|example)`)
	// ownName is the name of the script before its description.
	ownName = lazyregexp.New(`^[\w.-]{1,40}` +
		`(?:\.(?:sh|bash|py|pl|rb)(?:\s*[:–—-]+\s|\s)|\s+[–—-]+\s|\s*:\s)\s*([^\s\[<-].*)$`)
	// explained is a usage line, and its explanation in a second column.
	explained = lazyregexp.New(`^[\w.-]+\.\w+\s+[\[<-].*\S\s{2,}(\S.*)$`)
)

// A section is a part of a head comment.
type section int

const (
	proseSection section = iota
	aboutSection         // explains the script
	nameSection          // NAME: x.sh - explains the script
	otherSection         // usage, authors, options, …
)

// Describe returns the description in the lines of a head comment, without their marks. A text that the author
// labelled so comes first, then the first sentences that are about the script.
func Describe(lines []string) string {
	d := description{}
	for _, line := range lines {
		d.add(line)
	}
	d.end()
	return cmp.Or(d.labelled, d.plain, d.title)
}

// A description is collected line by line.
type description struct {
	labelled, plain string
	title           string // a line with one word
	words           []string
	in              section
	indent          int  // of the label
	begun           bool // the section has a line
	skips           bool // the paragraph is not about the script
}

// end ends the sentences that were collected.
func (d *description) end() {
	text := strings.Join(d.words, " ")
	switch {
	case text == "":
	case d.in == aboutSection || d.in == nameSection:
		d.labelled = cmp.Or(d.labelled, text)
	case !strings.Contains(text, " "):
		d.title = cmp.Or(d.title, text)
	default:
		d.plain = cmp.Or(d.plain, text)
	}
	d.words = nil
}

func (d *description) enter(in section, indent int) {
	d.end()
	d.in, d.indent, d.begun, d.skips = in, indent, false, false
}

func (d *description) add(line string) {
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	text := strings.TrimSpace(line)
	if bare := strings.Trim(text, "#-=*~_+ "); bare == "" {
		if d.skips = false; d.begun || len(d.words) > 0 {
			d.enter(proseSection, 0)
		}
		return
	} else if strings.HasPrefix(text, "--") || strings.HasPrefix(text, "==") || strings.HasPrefix(text, "**") {
		if len(text)-len(bare) > 4 {
			text = bare
		}
	}
	if declared.MatchString(text) {
		d.enter(proseSection, 0)
		d.labelled = cmp.Or(d.labelled, purposeOf(text))
		return
	}
	if m := label.FindStringSubmatch(text); m != nil {
		in := otherSection
		if m[1] != "" {
			in = aboutSection
		} else if m[2] != "" {
			in = nameSection
		}
		d.enter(in, indent)
		text = m[4]
	} else if m := tagged.FindStringSubmatch(text); m != nil {
		d.enter(otherSection, indent)
		if m := label.FindStringSubmatch(m[1]); m != nil && m[1] != "" {
			d.enter(aboutSection, indent)
		}
		text = m[2]
	} else if d.in == otherSection && indent <= d.indent {
		d.enter(proseSection, 0)
	}
	if text != "" {
		d.sentence(text)
	}
}

// sentence adds a line without its label.
func (d *description) sentence(text string) {
	d.begun = true
	var own []string
	if len(d.words) == 0 {
		if own = explained.FindStringSubmatch(text); own == nil {
			own = ownName.FindStringSubmatch(text)
		}
	}
	if own != nil {
		text = own[1]
	}
	switch d.skips = d.skips || legal.MatchString(text); {
	case d.in == otherSection, d.in == nameSection && own == nil && len(d.words) == 0:
	case d.skips, noDescription.MatchString(text):
		d.end()
	case d.in == proseSection && len(d.words) == 1 && !strings.Contains(d.words[0], " "): // a title, then the sentence
		d.end()
		d.words = []string{text}
	default:
		d.words = append(d.words, text)
	}
}

// purposeOf returns the description in a line that another program reads, or "".
func purposeOf(text string) string {
	if object, ok := strings.CutPrefix(text, "mcp:"); ok {
		return rawjson.TextOf([]byte(strings.TrimSpace(object)), "description")
	}
	m := purposes.FindStringSubmatch(text)
	return strings.Join(append([]string(nil), m...)[min(1, len(m)):], "")
}
