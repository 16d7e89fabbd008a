package cli

import (
	"fmt"
	"regexp"
	"strings"
)

// A layout has the number of columns of a help text.
type layout int

// layoutFor returns the layout for a stream: the width of a terminal, within bounds, or else 80 columns (CLI-1160).
func layoutFor(stream any) layout { return layout(min(max(Width(stream, 80), 30), 120)) }

// help returns the output of --help. name is the command as the user called it. verb is its name as a verb of
// mcp-bash.
func (c *Command) help(name, verb string, l layout) string {
	var b strings.Builder
	b.WriteString(l.wrap(c.Summary, ""))
	b.WriteString(c.examples(name, l))
	b.WriteString("\nUsage: " + c.usage(name) + "\n")
	if name != verb && !c.NotVerb {
		b.WriteString("       as a verb: " + verb + "\n")
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
		if n := len(e.named(name)); n <= 44 {
			column = max(column, n)
		}
	}
	for _, e := range c.Examples {
		line := "  " + strings.ReplaceAll(e.named(name), "\n", "\n    ")
		if e.Purpose != "" {
			beside := fmt.Sprintf("%-*s   # %s", column+2, line, e.Purpose)
			if len(beside) > int(l) {
				beside = line + "   # " + e.Purpose
			}
			if len(beside) > int(l) {
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
	return append(rows, [2]string{"-h, --help", "this text"}, [2]string{"-v, --version", "the version"})
}

// table returns rows in two columns.
func (l layout) table(rows [][2]string) string {
	const widest, narrowest = 22, 24 // of the left and of the right column
	column := 0
	for _, row := range rows {
		if n := len(row[0]); n <= widest {
			column = max(column, n)
		}
	}
	var b strings.Builder
	indent := strings.Repeat(" ", column+4)
	for _, row := range rows {
		if len(indent)+narrowest > int(l) {
			b.WriteString(l.wrap(row[0], "  ") + l.wrap(row[1], "      "))
			continue
		}
		text := l.wrap(row[1], indent)
		if len(row[0]) > column {
			b.WriteString("  " + row[0] + "\n" + text)
			continue
		}
		b.WriteString(fmt.Sprintf("  %-*s", column+2, row[0]) + strings.TrimPrefix(text, indent))
	}
	return b.String()
}

// paragraphs wraps a text, except indented lines.
func (l layout) paragraphs(text string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		if strings.HasPrefix(paragraph, " ") {
			b.WriteString(paragraph + "\n")
		} else {
			b.WriteString(l.wrap(paragraph, ""))
		}
	}
	return b.String()
}

// wrap breaks a text into indented lines. A word that is longer than a line gets a line.
func (l layout) wrap(text, indent string) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		switch {
		case line == indent:
		case len(line)+1+len(word) > int(l):
			b.WriteString(line + "\n")
			line = indent
		default:
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}

func lowerFirst(text string) string {
	if text == "" || len(text) > 1 && text[1] >= 'A' && text[1] <= 'Z' {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}
