package cli

import (
	"fmt"
	"regexp"
	"strings"
)

// helpWidth is the width of help texts, in columns.
const helpWidth = 80

// help returns the output of --help. name is the command as the user called it. verb is its name as a verb of
// mcp-bash.
func (c *Command) help(name, verb string) string {
	var b strings.Builder
	b.WriteString(wrap(c.Summary, "", helpWidth))
	b.WriteString(c.examples())
	b.WriteString("\nUsage: " + c.usage() + "\n")
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
		b.WriteString(table(rows))
		b.WriteString("\nRun \"NAME COMMAND --help\" for the help of a command.\n")
	}
	b.WriteString("\nOptions:\n" + table(c.optionRows()))
	if c.Text != "" {
		b.WriteString("\n" + paragraphs(c.Text))
	}
	if len(c.Exits) > 0 {
		b.WriteString("\nExit codes:\n")
		var rows [][2]string
		for _, e := range c.Exits {
			rows = append(rows, [2]string{fmt.Sprint(e.Code), e.Meaning})
		}
		b.WriteString(table(rows))
	}
	return named(b.String(), name)
}

// named replaces the word NAME by the name of the command.
func named(text, name string) string {
	return regexp.MustCompile(`\bNAME\b`).ReplaceAllLiteralString(text, name)
}

// examples returns the examples, with their purposes in a column if they fit.
func (c *Command) examples() string {
	if len(c.Examples) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nExamples:\n")
	column := 0
	for _, e := range c.Examples {
		if n := len(e.Line); n <= 44 {
			column = max(column, n)
		}
	}
	for _, e := range c.Examples {
		line := "  " + strings.ReplaceAll(e.Line, "\n", "\n    ")
		if e.Purpose != "" {
			line = fmt.Sprintf("%-*s   # %s", column+2, line, e.Purpose)
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

func (c *Command) usage() string {
	parts := []string{"NAME"}
	switch {
	case c.Usage != "":
		parts = append(parts, c.Usage)
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
		if f.Value != "" {
			left += " " + f.Value
		}
		rows = append(rows, [2]string{left, f.Help})
	}
	return append(rows, [2]string{"-h, --help", "this text"}, [2]string{"-v, --version", "the version"})
}

// table returns rows in two columns.
func table(rows [][2]string) string {
	const widest = 22
	column := 0
	for _, row := range rows {
		if n := len(row[0]); n <= widest {
			column = max(column, n)
		}
	}
	var b strings.Builder
	indent := strings.Repeat(" ", column+4)
	for _, row := range rows {
		text := wrap(row[1], indent, helpWidth)
		if len(row[0]) > column {
			b.WriteString("  " + row[0] + "\n" + text)
			continue
		}
		b.WriteString(fmt.Sprintf("  %-*s", column+2, row[0]) + strings.TrimPrefix(text, indent))
	}
	return b.String()
}

// paragraphs wraps a text, except indented lines.
func paragraphs(text string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		if strings.HasPrefix(paragraph, " ") {
			b.WriteString(paragraph + "\n")
		} else {
			b.WriteString(wrap(paragraph, "", helpWidth))
		}
	}
	return b.String()
}

// wrap breaks a text into indented lines of at most width columns.
func wrap(text, indent string, width int) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		switch {
		case line == indent:
		case len(line)+1+len(word) > width:
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
