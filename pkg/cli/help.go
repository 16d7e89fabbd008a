package cli

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// help returns the output of --help. name is the command as the user called it. verb is its name as a verb of
// mcp-bash.
func (c *Command) help(name, verb string, l layout) string {
	var b strings.Builder
	b.WriteString(l.wrap(c.Summary, ""))
	b.WriteString(c.examples(name, l))
	b.WriteString("\n" + l.hang("Usage: ", c.usage(name), "       "))
	if name != verb && !c.NotVerb {
		b.WriteString(l.hang("       ", "as a verb: "+verb, "         "))
	}
	if len(c.Commands) > 0 {
		b.WriteString("\nCommands:\n")
		var rows [][2]string
		for _, sub := range c.Commands {
			rows = append(rows, [2]string{sub.Name, sub.brief()})
			if short := sub.shortOptions(); short != "" {
				rows = append(rows, [2]string{"", short})
			}
		}
		b.WriteString(l.table(rows))
		b.WriteString("\n" + l.wrap(`Run "`+name+` COMMAND --help" for the help of a command.`, ""))
	}
	b.WriteString("\nOptions:\n" + l.table(c.optionRows()))
	if c.Text != "" {
		b.WriteString("\n" + l.paragraphs(c.Text))
	}
	if exits := c.exits(); exits != nil {
		b.WriteString("\nExit codes:\n")
		var rows [][2]string
		for _, e := range exits {
			rows = append(rows, [2]string{fmt.Sprint(e.Code), e.Meaning})
		}
		b.WriteString(l.table(rows))
	}
	return b.String()
}

// named returns the line for a command with this name.
func (e Example) named(name string) string {
	return regexp.MustCompile(`\bNAME\b`).ReplaceAllLiteralString(e.Line, name)
}

// examples returns the examples. An example is never broken. Its purpose follows it in a column, or precedes it on a
// line if the line would be too long.
func (c *Command) examples(name string, l layout) string {
	if len(c.Examples) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nExamples:\n")
	column := 0
	for _, e := range c.Examples {
		if n := Columns(e.named(name)); n <= 44 {
			column = max(column, n)
		}
	}
	for _, e := range c.Examples {
		line := "  " + strings.ReplaceAll(e.named(name), "\n", "\n    ")
		if e.Purpose != "" {
			beside := Pad(line, column+2) + "   # " + e.Purpose
			if Columns(beside) > int(l) {
				beside = line + "   # " + e.Purpose
			}
			if Columns(beside) > int(l) {
				beside = l.wrap(e.Purpose, "  # ") + line
			}
			line = beside
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// brief returns the first sentence of the summary, without its full stop.
func (c *Command) brief() string {
	first, _, _ := strings.Cut(c.Summary, ". ")
	return lowerFirst(strings.TrimSuffix(first, "."))
}

// shortOptions returns the options as in usage lines: "[--filter DIR] [--quiet]".
func (c *Command) shortOptions() string {
	var short []string
	for _, o := range c.Operands {
		short = append(short, o.Name)
	}
	for _, row := range c.optionRows() {
		if strings.HasPrefix(row[0], "--") {
			short = append(short, "["+row[0]+"]")
		}
	}
	return strings.Join(short, " ")
}

func (c *Command) usage(name string) string {
	parts := []string{name}
	switch {
	case c.Usage != "":
		parts = append(parts, strings.Fields(c.Usage)...)
	case c.Run == nil && len(c.Commands) > 0:
		parts = append(parts, "COMMAND ...")
	default:
		for _, o := range c.Operands {
			parts = append(parts, o.Name)
		}
	}
	if len(c.Flags.list) > 0 {
		parts = append(parts, "[options]")
	}
	return strings.Join(parts, " ")
}

func (c *Command) optionRows() (rows [][2]string) {
	for _, f := range c.Flags.list {
		left := "--" + f.Name
		if f.letter != "" {
			left = "-" + f.letter + ", " + left
		}
		if f.Value != "" {
			left += " " + f.Value
		}
		rows = append(rows, [2]string{left, f.Help})
	}
	return append(rows, [2]string{"-h, --help", "this text"},
		[2]string{"-v, --version", "the version; with --json, also the commit"})
}

// table returns rows in two columns, or one below the other if there is no room.
func (l layout) table(rows [][2]string) string {
	const widestLeft, narrowest, roomy = 22, 24, 36 // of the left and of the right column
	column, need := 0, narrowest
	for _, row := range rows {
		if n := Columns(row[0]); n <= widestLeft {
			column = max(column, n)
		}
		need = max(need, min(widest(row[1]), roomy))
	}
	var b strings.Builder
	indent := strings.Repeat(" ", column+4)
	for _, row := range rows {
		left := "  " + row[0]
		switch {
		case len(indent)+need > int(l):
			if row[0] != "" {
				b.WriteString(left + "\n")
			}
			b.WriteString(l.wrap(row[1], "      "))
		case Columns(row[0]) > column:
			b.WriteString(left + "\n" + l.wrap(row[1], indent))
		default:
			b.WriteString(l.hang(Pad(left, len(indent)), row[1], indent))
		}
	}
	return b.String()
}

// paragraphs wraps a text. Indented lines stay as they are if they fit. Else they are a table, whose columns have two
// or more spaces between them.
func (l layout) paragraphs(text string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		switch {
		case !strings.HasPrefix(paragraph, " "):
			b.WriteString(l.wrap(paragraph, ""))
		case l.fits(paragraph):
			b.WriteString(paragraph + "\n")
		default:
			b.WriteString(l.table(columned(paragraph)))
		}
	}
	return b.String()
}

func (l layout) fits(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if Columns(line) > int(l) {
			return false
		}
	}
	return true
}

// columned returns the rows of indented lines. A line without columns is one on the left.
func columned(text string) (rows [][2]string) {
	for line := range strings.SplitSeq(text, "\n") {
		left, right, _ := strings.Cut(strings.TrimSpace(line), "  ")
		rows = append(rows, [2]string{left, right})
	}
	return rows
}

func lowerFirst(text string) string {
	if text == "" || len(text) > 1 && text[1] >= 'A' && text[1] <= 'Z' {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// A layout has the number of columns of a text.
type layout int

// layoutFor returns the layout for a stream: the width of a terminal, within bounds, or else 80 columns.
func layoutFor(stream any) layout { return layout(min(max(Width(stream, 80), 30), 120)) }

// wrap breaks a text into indented lines, between its units. A unit that is longer than a line gets a line.
func (l layout) wrap(text, indent string) string { return l.hang(indent, text, indent) }

// hang is wrap with another text before the first line.
func (l layout) hang(first, text, indent string) string {
	var b strings.Builder
	line, begun := first, false
	for _, unit := range units(text) {
		switch {
		case !begun:
		case Columns(line)+1+Columns(unit) > int(l):
			b.WriteString(line + "\n")
			line = indent
		default:
			line += " "
		}
		line, begun = line+unit, true
	}
	b.WriteString(line + "\n")
	return b.String()
}

// widest returns the columns of the longest unit of a text.
func widest(text string) (n int) {
	for _, unit := range units(text) {
		n = max(n, Columns(unit))
	}
	return n
}

// units splits a text at spaces. It does not separate an option from its value, and keeps texts in quotes and options
// in brackets together.
func units(text string) (list []string) {
	for words := strings.Fields(text); len(words) > 0; {
		n := unit(words)
		list = append(list, strings.Join(words[:n], " "))
		words = words[n:]
	}
	return list
}

// unit returns the number of words that the first unit has.
func unit(words []string) int {
	first := strings.TrimLeft(words[0], "(")
	n := 1
	switch {
	case strings.HasPrefix(first, "[-"):
		n = through(words, func(text string) bool { return strings.Count(text, "[") <= strings.Count(text, "]") })
	case first != "" && strings.ContainsRune("\"`'", rune(first[0])):
		n = through(words, func(text string) bool { return closes(text[strings.IndexByte(text, first[0])+1:], first[0]) })
	case strings.HasPrefix(first, "-") && len(words) > 1 && isPlaceholder(words[1]):
		n = 2
	}
	for n < len(words) && strings.HasPrefix(words[n], "...") {
		n++
	}
	return n
}

// through returns the number of words up to the one that ends a unit, or 1 if none does.
func through(words []string, ends func(text string) bool) int {
	text := ""
	for i, word := range words {
		if text += word + " "; ends(text) {
			return i + 1
		}
	}
	return 1
}

// closes reports whether a text contains a closing quotation mark, which is at the end of a word.
func closes(text string, mark byte) bool {
	for i := range len(text) - 1 {
		if text[i] == mark && !unicode.IsLetter(rune(text[i+1])) && !unicode.IsDigit(rune(text[i+1])) {
			return true
		}
	}
	return false
}

// isPlaceholder reports whether a word is the name of an option's value, such as DIR, A,B or [ADDR].
func isPlaceholder(word string) bool {
	return strings.ContainsFunc(word, unicode.IsUpper) && !strings.ContainsFunc(word, unicode.IsLower)
}

// wrapped returns a text of several lines for a writer. On a terminal, a line that is too long goes on below itself,
// indented.
func wrapped(w io.Writer, text string) string {
	columns := 0
	if IsTerminal(w) {
		columns = Width(w, 0)
	}
	if columns == 0 || Columns(text) <= columns {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		content := strings.TrimRight(line, "\n")
		if Columns(content) <= columns {
			b.WriteString(line)
			continue
		}
		words := strings.TrimLeft(content, " ")
		indent := content[:len(content)-len(words)]
		whole := layout(columns).hang(indent, words, indent+"  ")
		b.WriteString(strings.TrimSuffix(whole, "\n") + line[len(content):])
	}
	return b.String()
}

// isDiagnostics reports whether a writer is the standard error of the process.
func isDiagnostics(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && f.Fd() == os.Stderr.Fd()
}

// manualWord is the argument with which a command prints its manual page.
const manualWord = "__manual"

func (c *Command) manual(binary string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"mcp-bash %s\" \"mcp-bash\"\n", strings.ToUpper(binary), Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(binary), roff(c.brief()))
	b.WriteString(".SH SYNOPSIS\n" + roff(c.usage(binary)) + "\n")
	b.WriteString(".SH DESCRIPTION\n")
	c.manualBody(&b, binary)
	c.manualCommands(&b, binary)
	b.WriteString(".SH SEE ALSO\n")
	others := slices.DeleteFunc(slices.Clone(Programs), func(name string) bool { return name == binary })
	for i, other := range others {
		b.WriteString(".BR " + roff(other) + " (1)")
		if i < len(others)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (c *Command) manualCommands(b *strings.Builder, name string) {
	for _, sub := range c.Commands {
		own := name + " " + sub.Name
		fmt.Fprintf(b, ".SH %s\n", strings.ToUpper(roff(own)))
		b.WriteString(roff(sub.usage(own)) + "\n.PP\n")
		sub.manualBody(b, own)
		sub.manualCommands(b, own)
	}
}

func (c *Command) manualBody(b *strings.Builder, name string) {
	b.WriteString(roff(c.Summary) + "\n")
	if len(c.Examples) > 0 {
		b.WriteString(".SS Examples\n.nf\n")
		for _, e := range c.Examples {
			b.WriteString(roff(e.named(name)))
			if e.Purpose != "" {
				b.WriteString("   # " + roff(e.Purpose))
			}
			b.WriteString("\n")
		}
		b.WriteString(".fi\n")
	}
	if c.Run != nil || len(c.Commands) == 0 {
		b.WriteString(".SS Options\n")
		for _, row := range c.optionRows() {
			b.WriteString(".TP\n.B " + roff(row[0]) + "\n" + roff(strings.Join(strings.Fields(row[1]), " ")) + "\n")
		}
	}
	if c.Text != "" {
		b.WriteString(".SS Notes\n")
		for _, paragraph := range strings.Split(strings.Trim(c.Text, "\n"), "\n\n") {
			if strings.HasPrefix(paragraph, " ") {
				b.WriteString(".nf\n" + roff(paragraph) + "\n.fi\n")
			} else {
				b.WriteString(roff(strings.Join(strings.Fields(paragraph), " ")) + "\n.PP\n")
			}
		}
	}
	if exits := c.exits(); exits != nil {
		b.WriteString(".SS Exit codes\n")
		for _, e := range exits {
			fmt.Fprintf(b, ".TP\n.B %d\n%s\n", e.Code, roff(e.Meaning))
		}
	}
}

func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
