package usage

import (
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/text/lazyregexp"
)

// styleMarks are texts that only one library prints.
var styleMarks = []struct {
	style Style
	text  *lazyregexp.Regexp
}{
	{StyleBusybox, lazyregexp.New(`\A(?:.*\n){0,2}BusyBox v`)},
	{StyleGit, lazyregexp.New(`(?im)^ *usage: git[ -]`)},
	{StyleCobra, lazyregexp.New("(?m)^ *-h, --help +(?:help for |[Ss]how help for )|" +
		"^ *Use [\"'`].*--help[\"'`] for more information about a|^ *Use \"\\S+ options\" for a list of global")},
	{StyleClick, lazyregexp.New(`(?i)show this message\s+and exit`)},
	{StyleArgparse, lazyregexp.New(`show this help message\s+and exit`)},
	{StyleNode, lazyregexp.New(`(?m)\b(?:display help for command|output the version number)$`)},
	{StyleYargs, lazyregexp.New(`(?m)\[boolean\]$`)},
	{StyleGoFlag, lazyregexp.New(`(?m)^ *Usage of .*:$`)},
	{StyleClap, lazyregexp.New(`(?m)^ *(?:-h, --help +)?Prints? help(?: information)?(?: \(.*)?$|^ *\[possible values: `)},
}

var (
	// docopt matches the usage of docopt, which takes "--" only where its usage has it.
	docopt = lazyregexp.New(`(?im)^usage:\n(?: *\S.*\n)*? *\S.*(?:\[options\]|\(-|<.*\||\[-)`)
	// These match options on a line: any, a long one, and one with a single dash that is described below it or there.
	anyEntry  = lazyregexp.New(`(?m)^ ?--?(?:\[no-?\])?[A-Za-z0-9?#@%]`)
	longEntry = lazyregexp.New(`(?m)^ ?-(?:-|.*--)[A-Za-z[(]`)
	goEntry   = lazyregexp.New(`(?m)^ -[A-Za-z][\w.-]+(?: [\w/<>.=:]+)?\n [^-\n]`)
	wideEntry = lazyregexp.New(`(?m)^ -[A-Za-z][\w-]+(?: \S+)? {2,}\S`)
)

// styleOf recognizes the library that wrote a help text by phrases that only this library uses.
func styleOf(lines []line) Style {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.Repeat(" ", min(l.indent, 1)) + l.text + "\n")
	}
	text := b.String()
	for _, m := range styleMarks {
		if m.text.MatchString(text) {
			return m.style
		}
	}
	switch {
	case !anyEntry.MatchString(text):
		return StyleUsage
	case longEntry.MatchString(text):
		if !docopt.MatchString(text) {
			return StyleGNU
		}
	case goEntry.MatchString(text) && !wideEntry.MatchString(text):
		return StyleGoFlag
	}
	return StyleOther
}

// columnAt matches a second option on one line.
var columnAt = lazyregexp.New(`\S {2,}(--?[A-Za-z0-9])`)

// columns moves options that are side by side, each with a description, onto separate lines.
func columns(lines []line) (out []line) {
	for _, l := range lines {
		from := 0
		for _, m := range columnAt.FindAllStringSubmatchIndex(l.text, -1) {
			_, before, ok := parseSpec(strings.TrimSpace(l.text[from:m[2]]), false)
			_, after, another := parseSpec(l.text[m[2]:], false)
			if ok && another && before != "" && after != "" {
				out = append(out, line{strings.TrimSpace(l.text[from:m[2]]), l.indent})
				from = m[2]
			}
		}
		out = append(out, line{strings.TrimSpace(l.text[from:]), l.indent})
	}
	return out
}

var (
	boxTop  = lazyregexp.New(`^[╭┌+][─-]+ (.+?) [─-]+[╮┐+]$`)
	boxLine = lazyregexp.New(`^[│|] *(\*)? *(.*?) *[│|]$`)
	boxEnd  = lazyregexp.New(`^[╰└+][─-]+[╯┘+]$`)
	// boxEntry matches names, the type of the value, and the description.
	boxEntry = lazyregexp.New(`^(-\S+(?: +-\S+)*)(?: +([A-Z][A-Z0-9_ -]*|[[<{(].*?[])}>]))?(?: {2,}(.*))?$`)
)

// unbox removes the frames that rich and typer draw around a section.
func unbox(lines []line) (out []line) {
	inside := false
	for _, l := range lines {
		m := boxLine.FindStringSubmatch(l.text)
		switch top := boxTop.FindStringSubmatch(l.text); {
		case top != nil:
			inside = true
			out = append(out, line{}, line{top[1] + ":", 0})
		case inside && boxEnd.MatchString(l.text):
			inside = false
			out = append(out, line{})
		case inside && m != nil:
			out = append(out, line{cells(m[2], m[1] != ""), utf8.RuneCountInString(l.text[:strings.Index(l.text, m[2])])})
		default:
			out = append(out, l)
		}
	}
	return out
}

// cells joins the columns of an option in a frame as other programs print them.
func cells(text string, required bool) string {
	m := boxEntry.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	if required && !strings.Contains(text, "[required]") {
		m[3] += " [required]"
	}
	names := strings.FieldsFunc(m[1], func(r rune) bool { return r == ' ' || r == ',' })
	spec := strings.Replace(strings.Join(names, ", "), ", --no-", " / --no-", 1)
	return strings.TrimRight(strings.TrimRight(spec+" "+m[2], " ")+"  "+m[3], " ")
}
