package cli

import (
	"fmt"
	"regexp"
	"strings"
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
	case len(c.Commands) > 0:
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
