// Package finding describes a problem that a check found: its rule, severity, place and remedy.
// Checks of projects and of installations share it, as text and as JSON.
package finding

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
)

// A Severity is the severity of a finding.
type Severity string

// Only errors make a check fail.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// A Rule describes the findings with an id, for "explain".
type Rule struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Summary  string   `json:"summary"` // the problem, in one line
	Reason   string   `json:"reason"`  // the consequences
	Fix      string   `json:"fix"`     // the remedy, or ""
}

// Rules are the rules of a program, in the order in which commands list them.
type Rules []Rule

// ParseRules reads rules. Each is a line "ID (SEVERITY): SUMMARY", followed by indented lines with the reason. The
// remedy follows in indented lines, the first of which begins with "Fix: ".
func ParseRules(text string) (list Rules) {
	var part *string // receives the indented lines
	for line := range strings.Lines(text) {
		words := strings.TrimSpace(line)
		fix, isFix := strings.CutPrefix(words, "Fix: ")
		switch {
		case words == "" || line[0] == '#':
		case line[0] != ' ':
			id, rest, _ := strings.Cut(words, " (")
			severity, summary, _ := strings.Cut(rest, "): ")
			list = append(list, Rule{ID: id, Severity: Severity(severity), Summary: summary})
			part = &list[len(list)-1].Reason
		case isFix:
			part = &list[len(list)-1].Fix
			*part = fix
		default:
			*part = strings.TrimSpace(*part + " " + words)
		}
	}
	return list
}

// Find returns the rule with an id, or nil.
func (r Rules) Find(id string) *Rule {
	at := slices.IndexFunc(r, func(one Rule) bool { return one.ID == id })
	if at < 0 {
		return nil
	}
	return &r[at]
}

// A Finding is one result of a check.
type Finding struct {
	ID       string
	Severity Severity
	Section  string // the part of a project, such as "tools", or ""
	Path     string // the file, relative to the project, or ""
	Line     int    // from 1; 0 for the whole file
	Column   int    // from 1; 0 if unknown
	Message  string // without the path, unless Named
	Named    bool   // whether the message contains the path
	Fix      string // the remedy; "" if the check passed
	Good     bool   // whether the check passed
	Fixable  bool   // whether --fix repairs it
	Command  string // a shell command that repairs it, or ""
}

// Sort sorts findings: errors, warnings, notes, then passed checks. It is stable.
func Sort(list []Finding) {
	slices.SortStableFunc(list, func(a, b Finding) int { return a.rank() - b.rank() })
}

func (f *Finding) rank() int {
	switch {
	case f.Good:
		return 3
	case f.Severity == Error:
		return 0
	case f.Severity == Warning:
		return 1
	}
	return 2
}

// Text returns the message with its path.
func (f *Finding) Text() string {
	if f.Path == "" || f.Named {
		return f.Message
	}
	return f.Path + " - " + f.Message
}

// Mark returns the sign before the finding.
func (f *Finding) Mark() string { return [...]string{"✗", "⚠", "•", "✓"}[f.rank()] }

// Color returns the colour of the sign on a terminal.
func (f *Finding) Color() cli.Color {
	return [...]cli.Color{cli.Red, cli.Yellow, cli.Plain, cli.Green}[f.rank()]
}

// Print writes the finding as text. A problem has a second line with the line of the file, the remedy and the id.
func (f *Finding) Print(w io.Writer) {
	cli.Sign(w, "", f.Color(), f.Mark(), f.Text())
	if f.Good || f.Fix == "" {
		return
	}
	where := ""
	switch {
	case f.Line > 0 && f.Column > 0:
		where = fmt.Sprintf("line %d, column %d: ", f.Line, f.Column)
	case f.Line > 0:
		where = fmt.Sprintf("line %d: ", f.Line)
	}
	cli.Explain(w, "    %s%s [%s]\n", where, f.Fix, f.ID)
}

// AppendMessage appends the finding as a message of validate.
func (f *Finding) AppendMessage(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("level").String(string(f.Severity)).Name("section").String(f.Section).
		Name("message").String(f.Text())
	f.appendMore(b.Name("id").String(f.ID))
	return b.End().Bytes()
}

// AppendJSON appends the finding in the form of doctor and of --ndjson.
func (f *Finding) AppendJSON(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("id").String(f.ID).Name("severity").String(string(f.Severity)).Name("message").String(f.Text()).
		Name("fixable").Bool(f.Fixable).Name("suggestedCommand")
	if f.Command == "" {
		b.Null()
	} else {
		b.String(f.Command)
	}
	b.Optional("section", f.Section)
	f.appendMore(b)
	return b.End().Bytes()
}

// MarshalJSON implements [json.Marshaler] by AppendJSON.
func (f *Finding) MarshalJSON() ([]byte, error) { return f.AppendJSON(nil), nil }

func (f *Finding) appendMore(b *rawjson.Builder) {
	b.Optional("path", f.Path)
	if f.Line > 0 {
		b.Name("line").Int(f.Line)
	}
	if f.Column > 0 {
		b.Name("column").Int(f.Column)
	}
	b.Optional("fix", f.Fix)
}

// Explain returns the explanation of a rule.
func (r *Rule) Explain() string {
	todo := cmp.Or(r.Fix, "nothing")
	return fmt.Sprintf("%s (%s): %s\n\n%s\n\nWhat to do: %s\n", r.ID, r.Severity, r.Summary, r.Reason, todo)
}

// List returns a line for each rule.
func (r Rules) List() string {
	var b strings.Builder
	width := 0
	for i := range r {
		width = max(width, len(r[i].ID))
	}
	for i := range r {
		fmt.Fprintf(&b, "%-*s  %-7s  %s\n", width, r[i].ID, r[i].Severity, r[i].Summary)
	}
	return b.String()
}
