package usage

import (
	"strings"

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
		"^ *Use [\"'`].*--help[\"'`] for more " +
		"information about a|^ *Use \"\\S+ options\" for a list of global")},
	{StyleClick, lazyregexp.New(`(?i)show this message\s+and exit`)},
	{StyleArgparse, lazyregexp.New(`show this help message\s+and exit`)},
	{StyleNode, lazyregexp.New(`(?m)\b(?:display help for command|output the version number)$|\[boolean\]$`)},
	{StyleGoFlag, lazyregexp.New(`(?m)^ *Usage of .*:$`)},
	{StyleClap, lazyregexp.New(`(?m)^ *(?:-h, --help +)?Prints? help(?: information)?(?: \(.*)?$|^ *\[possible values: `)},
}

var (
	// docopt matches the usage of docopt, which takes "--" only where its usage has it.
	docopt  = lazyregexp.New(`(?im)^usage:\n(?: *\S.*\n)*? *\S.*(?:\[options\]|\(-|<.*\||\[-)`)
	goEntry = lazyregexp.New(`^-[A-Za-z][A-Za-z0-9_.-]*(?: [A-Za-z0-9_/<>.=:]+)?(?: {2,}.*)?$`)
)

// styleOf recognizes the library that wrote a help text by phrases that only this library uses.
func styleOf(lines []line) Style {
	var b strings.Builder
	entries, singles, long, double := 0, 0, false, false
	for i, l := range lines {
		b.WriteString(strings.Repeat(" ", min(l.indent, 1)) + l.text + "\n")
		if !strings.HasPrefix(l.text, "-") || !nameAt.MatchString(l.text) {
			continue
		}
		entries++
		double = double || strings.Contains(l.text, "--")
		below := i+1 < len(lines) && lines[i+1].indent > l.indent && !strings.HasPrefix(lines[i+1].text, "-")
		if goEntry.MatchString(l.text) && (below || len(l.text) > 2 && l.text[2] == ' ') {
			singles, long = singles+1, long || below
		}
	}
	text := b.String()
	for _, m := range styleMarks {
		if m.text.MatchString(text) {
			return m.style
		}
	}
	switch {
	case entries > 0 && singles == entries && long:
		return StyleGoFlag
	case entries == 0:
		return StyleUsage
	case double && !docopt.MatchString(text):
		return StyleGNU
	}
	return StyleOther
}

// columnAt matches a second option on one line.
var columnAt = lazyregexp.New(`\S( {2,})(--?[A-Za-z0-9])`)

// columns moves options that are side by side onto separate lines, if at least two lines
// have them in the same column.
func columns(lines []line) []line {
	at := map[int]int{}
	where := func(l line) (columns []int) {
		if !strings.HasPrefix(l.text, "-") {
			return nil
		}
		for _, m := range columnAt.FindAllStringSubmatchIndex(l.text, -1) {
			_, before, _ := parseSpec(strings.TrimSpace(l.text[:m[4]]), false)
			if _, rest, ok := parseSpec(l.text[m[4]:], false); ok && rest != "" && before != "" {
				columns = append(columns, m[4])
			}
		}
		return columns
	}
	for _, l := range lines {
		for _, c := range where(l) {
			at[l.indent+c]++
		}
	}
	var out []line
	for _, l := range lines {
		from := 0
		for _, c := range where(l) {
			if at[l.indent+c] > 1 {
				out = append(out, line{strings.TrimSpace(l.text[from:c]), l.indent})
				from = c
			}
		}
		out = append(out, line{strings.TrimSpace(l.text[from:]), l.indent})
	}
	return out
}

var (
	boxTop   = lazyregexp.New(`^[╭┌+][─-]+ (.+?) [─-]+[╮┐+]$`)
	boxLine  = lazyregexp.New(`^[│|](.*)[│|]$`)
	boxEnd   = lazyregexp.New(`^[╰└+][─-]+[╯┘+]$`)
	gaps     = lazyregexp.New(` {2,}`)
	typeCell = lazyregexp.New(`^(?:[A-Z][A-Z0-9_ -]*|[[<{(].*[])}>])$`)
)

// unbox removes the frames that rich and typer draw around a section. Its lines have columns:
// names, the type of the value, the description.
func unbox(lines []line) []line {
	var out []line
	inside := false
	for _, l := range lines {
		if m := boxTop.FindStringSubmatch(l.text); m != nil {
			inside = true
			out = append(out, line{}, line{m[1] + ":", 0})
			continue
		}
		m := boxLine.FindStringSubmatch(l.text)
		switch {
		case !inside:
			out = append(out, l)
		case boxEnd.MatchString(l.text):
			inside = false
			out = append(out, line{})
		case m != nil:
			out = append(out, cells(m[1]))
		default:
			out = append(out, l)
		}
	}
	return out
}

// cells joins the columns of a line in a frame to a line as other programs print it. A star marks
// what is required.
func cells(text string) line {
	bare, starred := strings.CutPrefix(strings.TrimLeft(text, " "), "*")
	required := ""
	if bare = strings.TrimLeft(bare, " "); starred && !strings.Contains(bare, "[required]") {
		required = " [required]"
	}
	if !strings.HasPrefix(bare, "-") {
		if starred {
			return line{strings.TrimRight(bare, " ") + required, 2}
		}
		return cleanLine(text)
	}
	fields := gaps.Split(strings.TrimRight(bare, " "), -1)
	var names []string
	for len(fields) > 0 && strings.HasPrefix(fields[0], "-") {
		names, fields = append(names, strings.ReplaceAll(fields[0], ",-", ", -")), fields[1:]
	}
	spec := strings.Join(names, ", ")
	if len(names) == 2 && strings.HasPrefix(names[1], "--no-") {
		spec = strings.Join(names, " / ")
	}
	if len(fields) > 1 && typeCell.MatchString(fields[0]) || len(fields) == 1 && upperWord.MatchString(fields[0]) {
		spec, fields = spec+" "+fields[0], fields[1:]
	}
	return line{strings.TrimRight(spec+"  "+strings.Join(fields, " ")+required, " "), 2}
}
