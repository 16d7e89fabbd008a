package usage

import (
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// maxCandidates limits how many candidates are read from a completion.
const maxCandidates = 5000

// directive matches the last line of cobra's answer: a colon and a number.
var directive = lazyregexp.New(`^:\d+$`)

// Cobra parses the output of cobra's __complete: on each line a candidate, a tab and a
// description, then a last line with a directive. It returns nil if the directive is missing
// (WRAP-26).
func Cobra(text []byte, words []string) *Program {
	if len(text) > maxBytes {
		return nil
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if n := len(lines); n > maxCandidates || !directive.MatchString(strings.TrimSpace(lines[n-1])) {
		return nil
	}
	p := &Program{Words: words, Style: StyleCobra, DashesAt: -1, Sources: []Source{FromCompletion}}
	for _, l := range lines[:len(lines)-1] {
		name, help, described := strings.Cut(cleanTab(l), "\t")
		p.candidate(name, help, described)
	}
	return p
}

// cleanTab cleans a line and keeps its first tab.
func cleanTab(s string) string {
	name, help, found := strings.Cut(s, "\t")
	if !found {
		return cleanLine(name).text
	}
	return cleanLine(name).text + "\t" + cleanLine(help).text
}

// candidate adds one candidate of a completion to the program.
func (p *Program) candidate(name, help string, described bool) {
	name = strings.TrimSuffix(name, "=")
	switch {
	case strings.HasPrefix(name, "-"):
		if m := nameAt.FindString(name); m == name && m != "" && len(name) <= maxName {
			p.add(&Option{Names: []string{name}, Help: sentence(help), Source: FromCompletion, Sure: Certain})
		}
	case described && commandName.MatchString(name):
		p.addCommand(Subcommand{name, sentence(help), FromCompletion})
	}
}

var commandName = lazyregexp.New(`^[a-z0-9][A-Za-z0-9_.:-]{0,63}$`)

// ClickVariable returns the name of the variable that asks a click program for completion.
func ClickVariable(program string) string {
	upper := strings.ToUpper(strings.ReplaceAll(strings.ReplaceAll(program, "-", "_"), ".", "_"))
	return "_" + upper + "_COMPLETE"
}

// Click parses click's completions for zsh. Each candidate has three lines: its type, its
// name, and its description or "_" (WRAP-27).
func Click(text []byte, words []string) *Program {
	if len(text) > maxBytes {
		return nil
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(lines)%3 != 0 || len(lines) > 3*maxCandidates {
		return nil
	}
	p := &Program{Words: words, Style: StyleClick, DashesAt: -1, Sources: []Source{FromCompletion}}
	for i := 0; i < len(lines); i += 3 {
		kind, name, help := lines[i], cleanLine(lines[i+1]).text, cleanLine(lines[i+2]).text
		if kind != "plain" {
			if kind != "dir" && kind != "file" {
				return nil
			}
			continue
		}
		if help == "_" {
			help = ""
		}
		p.candidate(name, help, true)
	}
	return p
}
