package cli

import (
	"fmt"
	"slices"
	"strings"
)

// A Completion lists the possible values of an operand or an option. The zero value is for unknown values.
type Completion struct {
	// files and dirs leave the completion to the shell.
	files, dirs bool
	isList      bool
	words       func() []string
}

// Files completes names of files. Dirs completes names of directories, and DirList the first of a list.
var (
	Files   = Completion{files: true}
	Dirs    = Completion{dirs: true}
	DirList = Completion{dirs: true, isList: true}
)

// isPath reports whether the value is one path.
func (c *Completion) isPath() bool { return (c.files || c.dirs) && !c.isList }

// Words completes fixed words.
func Words(words ...string) Completion { return Completion{words: func() []string { return words }} }

// Found completes words that a function returns.
func Found(words func() []string) Completion { return Completion{words: words} }

// CompleteWord is the first argument with which the scripts in share/completions call a command. The command prints
// the completions of the last argument, one on each line: the word, a tab, and its meaning. The lines ":files" and
// ":directories" leave the completion to the shell.
const CompleteWord = "__complete"

func (c *Command) complete(s Streams, args []string) int {
	if len(args) == 0 {
		return ExitUsage
	}
	for _, line := range c.candidates(args[:len(args)-1], args[len(args)-1]) {
		fmt.Fprintln(s.Out, line)
	}
	return ExitOK
}

// candidates returns the completions of part after the words before.
func (c *Command) candidates(before []string, part string) (lines []string) {
	cmd := c
	if len(c.Commands) > 0 {
		sub, rest, err := c.choose(before)
		if err != nil || sub == c {
			return c.startingWith(part)
		}
		if len(sub.Commands) > 0 {
			return sub.candidates(rest, part)
		}
		cmd, before = sub, rest
	}
	if n := len(before); n > 0 {
		if f := cmd.Flags.find(strings.TrimPrefix(before[n-1], "--")); f != nil && f.Value != "" &&
			!slices.Contains(before, "--") {
			return f.Complete.candidates(part)
		}
	}
	if name, value, ok := strings.Cut(part, "="); ok && strings.HasPrefix(name, "--") {
		if f := cmd.Flags.find(name[2:]); f != nil {
			for _, line := range f.Complete.candidates(value) {
				lines = append(lines, name+"="+line)
			}
			return lines
		}
	}
	if strings.HasPrefix(part, "-") && !slices.Contains(before, "--") {
		for _, row := range cmd.optionRows() {
			word, _, _ := strings.Cut(row[0][strings.Index(row[0], "--"):], " ")
			if strings.HasPrefix(word, part) {
				lines = append(lines, word+"\t"+strings.Join(strings.Fields(row[1]), " "))
			}
		}
		return lines
	}
	return cmd.operand(before).candidates(part)
}

func (c *Command) startingWith(part string) (lines []string) {
	for _, sub := range c.Commands {
		if strings.HasPrefix(sub.Name, part) {
			lines = append(lines, sub.Name+"\t"+sub.brief())
		}
	}
	if strings.HasPrefix(part, "-") {
		lines = append(lines, "--help", "--version")
	}
	return lines
}

// operand returns the completion of the operand after the words before.
func (c *Command) operand(before []string) Completion {
	if len(c.Operands) == 0 {
		return Completion{}
	}
	at := 0
	for i := 0; i < len(before); i++ {
		if f := c.Flags.find(strings.TrimPrefix(before[i], "--")); f != nil && strings.HasPrefix(before[i], "--") {
			if f.Value != "" {
				i++
			}
			continue
		}
		if !strings.HasPrefix(before[i], "-") {
			at++
		}
	}
	last := len(c.Operands) - 1
	if at > last {
		if !c.Operands[last].repeatable() {
			return Completion{}
		}
		at = last
	}
	return c.Operands[at].Complete
}

func (c Completion) candidates(part string) (lines []string) {
	switch {
	case c.files:
		return []string{":files"}
	case c.dirs:
		return []string{":directories"}
	case c.words == nil:
		return nil
	}
	for _, word := range c.words() {
		if strings.HasPrefix(word, part) {
			lines = append(lines, word)
		}
	}
	return lines
}
