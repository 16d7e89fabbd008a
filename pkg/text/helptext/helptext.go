// Package helptext finds options and operands in the text that a program prints for --help. It recognizes one form: a
// usage line, and lines with two columns.
//
//	Usage: backup [-n] [--keep COUNT] SOURCE [TARGET]
//	  -k, --keep COUNT   number of archives to keep [1|7|30] (default: 7)
//
// Nothing is concluded from prose. A value is a text unless the line has a list of choices in brackets.
package helptext

import (
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// Help is the content of a help text.
type Help struct {
	Options  []Option
	Operands []Operand
	Usage    bool // there is a usage line
	// Purpose is the first line that is neither a usage nor a part of a list.
	Purpose string
}

// An Option is a line of the first column.
type Option struct {
	Names    []string // "-k", "--keep"
	Value    string   // "COUNT"; "": the option has no value
	Optional bool     // the value can be left out, as in --color[=WHEN]
	Equals   bool     // the value follows "="
	Attached bool     // the value is in the same word, as in -U<n>
	Choices  []string
	Default  string
	Repeat   bool
	Number   bool
	Text     string
}

// An Operand is a word of the usage line, or a line of a list of operands.
type Operand struct {
	Name     string
	Optional bool
	Repeat   bool
	Text     string
	after    string // the option before the operand, such as -f in "-f <file>"
}

var (
	optionLine = lazyregexp.New(`^\s{0,12}(-[^\s,=\[]+)((?:(?:, *| ?\| ?| {1,2})-[^\s,=\[|]+)*)(\[?[ =]?[^\s].*?)?` +
		`(?:\s{2,}|\t+| +: +)(\S.*)?$`)
	bareOption = lazyregexp.New(`^\s{0,12}(-[^\s,=\[]+)((?:(?:, ?| ?\| ?)-[^\s,=\[|]+)*)` +
		`([ =][<\[{]?[A-Za-z][\w.:/|,=-]*[>\]}]?(?:, -[^\s,=\[|]+(?:[ =][<\[{]?[A-Za-z][\w.:/|,=-]*[>\]}]?)?)?)?$`)
	// spacedOption has one space between the value, which is in capitals or brackets, and the text.
	spacedOption = lazyregexp.New(`^\s{0,8}(-[^\s,=\[]+)((?:(?:, ?| ?\| ?)-[^\s,=\[|]+)*)` +
		`([ =](?:<[^<>]+>|[A-Z][A-Z0-9_-]*))\s+([^\s-].*)$`)
	// otherOption is a line of an option, and nothing separates its value from its text: --force replace files.
	otherOption = lazyregexp.New(`^\s{0,8}--?[A-Za-z]`)
	column      = lazyregexp.New(`^\s{1,12}(<?[A-Za-z][\w-]*>?)(?:\s{2,}|\t+| +[-–—:] +)(\S.*)$`)
	usageLine   = lazyregexp.New(`(?i)^\s*usage(?: of \S+)?:?\s*(.*)$`)
	// notText matches sequences for terminals, and characters that control the direction of text.
	notText = lazyregexp.New(`\x1b\[[0-9;?]*[A-Za-z]|.\x08|[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}` +
		`\x{202a}-\x{202e}\x{2066}-\x{2069}]`)
	typeIs        = lazyregexp.New(`\[(string|number|array)\]`) // of yargs
	choiceList    = lazyregexp.New(`[\[({<]([\w.+-]+(?:\|[\w.+-]+)+)[\])}>]`)
	moreValues    = lazyregexp.New(`(-\S+ [A-Z][\w-]*) \[[A-Z][\w-]* \.\.\.\]`) // of argparse
	standardInput = lazyregexp.New(`(?i)\b(?:stdin|standard input)\b`)
	defaultIs     = lazyregexp.New(`(?i)[\[(]default(?:s to|:| is|=)?\s*["']?([^\])"']+?)["']?[\])]`)
)

// Plain returns a text without sequences for terminals, control characters, and bytes that are not UTF-8.
func Plain(text string) string { return notText.ReplaceAllString(strings.ToValidUTF8(text, ""), "") }

// maxText limits the text of an option, in bytes.
const maxText = 4000

// Read finds the options and operands in a help text. It accepts any text. Lines above 500 bytes are skipped.
func Read(text string) Help {
	var h Help
	text = Plain(text)
	inUsage, bare, program := false, false, ""
	var last *string // the text that the next line can continue
	var indent int
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch trimmed := strings.TrimSpace(line); {
		case len(line) > 500:
			last = nil
			continue
		case trimmed == "":
			inUsage, last = false, nil
			continue
		}
		if m := usageLine.FindStringSubmatch(line); m != nil {
			inUsage, bare, last = true, m[1] == "", nil
			if m[1] != "" {
				program, _, _ = strings.Cut(m[1], " ")
				h.usage(m[1])
			}
			continue
		}
		if o, ok := option(line, !inUsage); ok {
			inUsage = false
			h.Options = append(h.Options, o)
			last, indent = &h.Options[len(h.Options)-1].Text, len(line)-len(strings.TrimLeft(line, " \t"))
			continue
		}
		// A line below "Usage:" alone, or with an indent, is a usage too.
		if inUsage = inUsage && (bare || line[0] == ' ' || line[0] == '\t'); inUsage {
			line = strings.TrimSpace(line)
			if first, _, _ := strings.Cut(line, " "); bare {
				program = first
			} else if first != program && program != "" {
				line = program + " " + line // the rest of a long usage
			}
			bare = false
			if len(h.Options) == 0 {
				h.usage(line)
			}
			continue
		}
		if m := column.FindStringSubmatch(line); m != nil && last == nil {
			h.describe(strings.Trim(m[1], "<>"), m[2])
			continue
		}
		if last != nil && len(line)-len(strings.TrimLeft(line, " \t")) > indent+2 && !otherOption.MatchString(line) {
			if len(*last) < maxText {
				*last = strings.TrimSpace(*last + " " + strings.TrimSpace(line))
			}
			continue
		}
		last = nil
		if t := strings.TrimSpace(line); h.Purpose == "" && !strings.HasSuffix(t, ":") && !strings.HasPrefix(t, "-") {
			h.Purpose = t
		}
	}
	for i := range h.Options {
		h.Options[i].annotate()
	}
	h.Operands = slices.DeleteFunc(h.Operands, func(o Operand) bool { return o.after != "" && h.takesValue(o.after) })
	return h
}

func (h *Help) takesValue(option string) bool {
	return slices.ContainsFunc(h.Options, func(o Option) bool {
		return o.Value != "" && !o.Optional && slices.Contains(o.Names, option)
	})
}

// NamesInput reports whether the text of an option or operand names standard input: "FILE, or - for stdin".
func (h *Help) NamesInput() bool {
	return slices.ContainsFunc(h.Operands, func(o Operand) bool { return standardInput.MatchString(o.Text) }) ||
		slices.ContainsFunc(h.Options, func(o Option) bool { return standardInput.MatchString(o.Text) })
}

// option reads a line of a list of options. It leaves out the negation of a switch (--[no-]color becomes --color) and
// values after the first (--fields FIELD [FIELD ...]). spaced accepts one space before the text.
func option(line string, spaced bool) (o Option, ok bool) {
	line = moreValues.ReplaceAllString(strings.Replace(line, "--[no-]", "--", 1), "$1")
	m := optionLine.FindStringSubmatch(line)
	if m == nil {
		if m = bareOption.FindStringSubmatch(line); m != nil {
			m = append(m, "")
		} else if m = spacedOption.FindStringSubmatch(line); m == nil || !spaced {
			return o, false
		}
	}
	between := func(r rune) bool { return strings.ContainsRune(", |", r) }
	o.Names = append([]string{m[1]}, strings.FieldsFunc(m[2], between)...)
	value := m[3]
	if before, after, found := strings.Cut(value, ", -"); found { // -k COUNT, --keep COUNT
		value = before
		name, _, _ := strings.Cut("-"+strings.NewReplacer("=", " ", "[", " ").Replace(after), " ")
		o.Names = append(o.Names, name)
	}
	o.Optional = strings.HasPrefix(value, "[")
	value = strings.TrimSpace(strings.Trim(value, "[]"))
	o.Equals = strings.HasPrefix(value, "=")
	o.Value = strings.Trim(strings.TrimPrefix(value, "="), "<>'\" ")
	if strings.ContainsRune(o.Value, ' ') && !strings.Contains(value, "<") {
		return o, false // prose that begins with a dash
	}
	o.Text = m[4]
	for i, name := range o.Names {
		// --verbose... and -U<n>
		name = strings.TrimSuffix(name, "...")
		if short, value, found := strings.Cut(name, "<"); found && len(short) == 2 && o.Value == "" {
			name, o.Value, o.Attached = short, strings.Trim(value, "<>"), true
		}
		o.Names[i] = name
		isCut := strings.HasSuffix(name, ".") || strings.HasSuffix(name, ":")
		if strings.Trim(name, "-") == "" || isCut || strings.ContainsAny(name, "\"'`$();{}*?") && name != "-?" {
			return o, false
		}
	}
	return o, true
}

// annotate reads the brackets in the text of an option.
func (o *Option) annotate() {
	if list, ok := strings.CutPrefix(o.Value, "{"); ok && strings.Contains(list, ",") { // {json,xml}
		o.Choices = strings.Split(strings.TrimRight(list, "}"), ",")
	} else if m := choiceList.FindStringSubmatch(o.Value + " " + o.Text); m != nil && o.Value != "" {
		o.Choices = strings.Split(m[1], "|")
	} else if strings.Contains(o.Value, "|") {
		o.Choices = strings.Split(o.Value, "|")
	}
	if m := typeIs.FindStringSubmatch(o.Text); m != nil && o.Value == "" {
		o.Value, o.Number, o.Repeat = m[1], m[1] == "number", m[1] == "array"
	}
	if m := defaultIs.FindStringSubmatch(o.Text); m != nil {
		o.Default = m[1]
	}
}

// usage reads the operands of a usage line. The first word is the program.
func (h *Help) usage(line string) {
	words := strings.Fields(strings.NewReplacer("[ ", "[", " ]", "]").Replace(line))
	h.Usage = h.Usage || len(words) > 0
	isOperand := func(o Operand) bool { return o.after == "" }
	if slices.ContainsFunc(h.Operands, isOperand) || len(words) < 2 {
		return
	}
	list := h.Operands // the operands of a list; a word after an option can be its value
	afterOption, after := false, ""
	for _, w := range words[1:] {
		name := strings.TrimRight(strings.TrimLeft(w, "[<{("), "]>}).…")
		opens := strings.HasPrefix(w, "[")
		switch {
		case strings.HasPrefix(name, "-"):
			// A value follows an option without a closing bracket: [-k COUNT].
			afterOption = opens && !strings.HasSuffix(w, "]") && !strings.Contains(name, "=")
			if after = ""; !opens {
				after = name
			}
			continue
		case afterOption:
			afterOption = !strings.HasSuffix(w, "]")
			continue
		case strings.HasPrefix(w, "..") && len(list) > 0: // [FILE ...]
			list[len(list)-1].Repeat = true
			continue
		case name == "" || name == "|" || strings.ContainsAny(name, "$\"'`;(){}"):
			continue
		case slices.Contains([]string{"option", "options", "flags"}, strings.ToLower(name)):
			continue
		case strings.HasPrefix(w, "#"):
			h.Operands = list
			return
		}
		if strings.Contains(name, "|") || strings.HasPrefix(w, "{") || strings.HasPrefix(w, "(") {
			name = "" // a choice of words
		}
		repeats := strings.Contains(w, "..") || strings.Contains(w, "…")
		if n := len(list); n > 0 && opens && list[n-1].Name == name { // FILE [FILE ...]
			list[n-1].Repeat = true
			continue
		}
		list = append(list, Operand{Name: name, Optional: opens, Repeat: repeats, after: after})
		after = ""
	}
	h.Operands = list
}

// describe adds a text to the operand with a name.
func (h *Help) describe(name, text string) {
	same := func(o Operand) bool { return strings.EqualFold(o.Name, name) }
	if i := slices.IndexFunc(h.Operands, same); i >= 0 && h.Operands[i].Text == "" {
		h.Operands[i].Text = text
	}
}
