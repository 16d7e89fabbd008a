package shellscript

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"mcp-bash/pkg/text/helptext"
	"mvdan.cc/sh/v3/syntax"
)

// usage reads the usage text. It is what a function called usage or help prints, the head comment, or a variable.
func (r *reader) usage() {
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
			texts = append(texts, r.printed(r.functions[name].Body, ""))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.values)) {
		for _, s := range r.values[name] {
			if isUsage(name) && s.Value != nil && len(texts) < 2*maxUsages {
				texts = append(texts, r.shown(s.Value))
			}
		}
	}
	texts = append(texts, r.printed(r.file, "usage"))
	head := strings.Join(r.headComment(), "\n")
	if strings.Contains(strings.ToLower(head), "usage") || len(helptext.Read(head).Options) > 0 {
		texts = append(texts, head)
	}
	return texts
}

// printed returns the texts with a word that commands below a node print: echo, printf, or cat with a here-document.
func (r *reader) printed(n syntax.Node, word string) string {
	var b strings.Builder
	syntax.Walk(n, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			if text := r.printedBy(s); strings.Contains(strings.ToLower(text), word) {
				b.WriteString(text + "\n")
			}
		}
		return true
	})
	return b.String()
}

func (r *reader) printedBy(s *syntax.Stmt) string {
	c, _ := s.Cmd.(*syntax.CallExpr)
	name := programOf(s.Cmd)
	if !prints(name) {
		return ""
	}
	for _, redirect := range s.Redirs {
		if redirect.Hdoc != nil {
			text := r.shown(redirect.Hdoc)
			if redirect.Op == syntax.DashHdoc {
				text = strings.ReplaceAll(text, "\t", "")
			}
			return text
		}
	}
	var words []string
	for _, w := range c.Args[1:] {
		if text := r.shown(w); name != "cat" && (len(words) > 0 || !slices.Contains(echoOptions, text)) {
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
