// Package finding says what a check found: what it is, how bad, where it stands and what
// to do about it. Checks of a project and of an installation share it, and so do their
// forms for people and for programs.
package finding

import (
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// A Severity says how bad a finding is.
type Severity string

// Only errors make a check fail (CLI-102).
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// A Rule is what many findings have in common: what "explain" tells about their id.
type Rule struct {
	ID       string
	Severity Severity
	Summary  string // one line: what is wrong
	Reason   string // what comes of it
	Fix      string // what to do; "" for nothing
}

// Rules are what a program knows, in the order in which they are listed.
type Rules []Rule

// Find returns the rule with an id, nil when there is none.
func (r Rules) Find(id string) *Rule {
	at := slices.IndexFunc(r, func(one Rule) bool { return one.ID == id })
	if at < 0 {
		return nil
	}
	return &r[at]
}

// A Finding is one thing that a check has to say.
type Finding struct {
	ID       string
	Severity Severity
	Section  string // "tools": which part of a project; "" for none
	Path     string // of the file, relative to the project; "" for none
	Line     int    // from 1; 0: all of it
	Column   int    // from 1; 0: unknown
	Message  string // without the path, unless Named
	Named    bool   // the message names the path itself
	Fix      string // what to do; "" where nothing is wrong
	Good     bool   // nothing is wrong, which is said as well
	Fixable  bool   // --fix does it
	Command  string // that a person can type to mend it; "" for none
}

// Sort sorts findings: errors, warnings, notes, then what is right. Findings of one sort keep their order.
func Sort(list []Finding) {
	rank := func(f *Finding) int {
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
	slices.SortStableFunc(list, func(a, b Finding) int { return rank(&a) - rank(&b) })
}

// Text is what is found, and where.
func (f *Finding) Text() string {
	if f.Path == "" || f.Named {
		return f.Message
	}
	return f.Path + " - " + f.Message
}

// Mark is the sign before the finding.
func (f *Finding) Mark() string {
	switch {
	case f.Good:
		return "✓"
	case f.Severity == Error:
		return "✗"
	case f.Severity == Warning:
		return "⚠"
	}
	return "•"
}

// AppendText appends the finding as people read it: a line, and where something is wrong
// another one with the line of the file, the remedy and the id (CLI-1003).
func (f *Finding) AppendText(dst []byte, line func(string) string) []byte {
	dst = fmt.Appendf(dst, "%s %s\n", f.Mark(), line(f.Text()))
	if f.Good || f.Fix == "" {
		return dst
	}
	where := ""
	switch {
	case f.Line > 0 && f.Column > 0:
		where = fmt.Sprintf("line %d, column %d: ", f.Line, f.Column)
	case f.Line > 0:
		where = fmt.Sprintf("line %d: ", f.Line)
	}
	return fmt.Appendf(dst, "    %s%s [%s]\n", where, line(f.Fix), f.ID)
}

// AppendMessage appends the finding as a message of validate (CLI-1007).
func (f *Finding) AppendMessage(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("level").String(string(f.Severity)).Name("section").String(f.Section).
		Name("message").String(f.Text())
	f.appendMore(b.Name("id").String(f.ID))
	return b.End().Bytes()
}

// AppendJSON appends the finding as doctor lists it, and as a line of --ndjson (CLI-1105,
// CLI-207).
func (f *Finding) AppendJSON(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("id").String(f.ID).Name("severity").String(string(f.Severity)).Name("message").String(f.Text()).
		Name("fixable").Bool(f.Fixable).Name("suggestedCommand")
	if f.Command == "" {
		b.Null()
	} else {
		b.String(f.Command)
	}
	if f.Section != "" {
		b.Name("section").String(f.Section)
	}
	f.appendMore(b)
	return b.End().Bytes()
}

func (f *Finding) appendMore(b *rawjson.Builder) {
	if f.Path != "" {
		b.Name("path").String(f.Path)
	}
	if f.Line > 0 {
		b.Name("line").Int(f.Line)
	}
	if f.Column > 0 {
		b.Name("column").Int(f.Column)
	}
	if f.Fix != "" {
		b.Name("fix").String(f.Fix)
	}
}

// Explain is what is to be told about a rule.
func (r *Rule) Explain() string {
	todo := r.Fix
	if todo == "" {
		todo = "nothing"
	}
	return fmt.Sprintf("%s (%s): %s\n\n%s\n\nWhat to do: %s\n", r.ID, r.Severity, r.Summary, r.Reason, todo)
}

// List is a line for each rule.
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

// AppendJSON appends a rule for programs.
func (r *Rule) AppendJSON(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("id").String(r.ID).Name("severity").String(string(r.Severity)).Name("summary").String(r.Summary).
		Name("reason").String(r.Reason).Name("fix").String(r.Fix)
	return b.End().Bytes()
}
