package cli

import (
	"fmt"
	"slices"
	"strings"
)

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
	if len(c.Commands) == 0 {
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
