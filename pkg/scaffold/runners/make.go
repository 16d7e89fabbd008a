package runners

import (
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/text/lazyregexp"
)

// maxIncluded limits the files that a makefile includes.
const maxIncluded = 20

// A makefile has the targets that the text of a makefile describes. Make itself is not asked,
// because it runs $(shell ...) when it reads the file.
type makefile struct {
	targets   []string // in order
	says      map[string]string
	known     map[string]bool // targets that are phony or documented
	variables []recipe.Argument
	files     []string
}

// parseMakefile reads the targets that are phony or documented. Without such targets, it reads all targets that do
// not look like files.
func (p *project) parseMakefile(text []byte) error {
	m := &makefile{says: map[string]string{}, known: map[string]bool{}, files: []string{p.File}}
	m.parse(string(text), filepath.Dir(p.File))
	words := []string{"-C", p.Dir, "--no-print-directory", "--"}
	for _, name := range m.targets {
		switch {
		case len(m.known) > 0 && !m.known[name], strings.HasPrefix(name, "."), strings.Contains(name, "%"):
			continue
		case len(m.known) == 0 && strings.ContainsAny(name, "./"):
			p.skip(name, "it looks like a file; add it to .PHONY if it is a command")
			continue
		}
		p.add(name, m.says[name], append(slices.Clone(words), name), m.variables...)
	}
	return nil
}

// parse reads the text of a makefile. dir is the directory of its includes.
func (m *makefile) parse(text, dir string) {
	conditions := []string{"ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"}
	var above []string                                                                 // the comment above a line
	defined := 0                                                                       // depth of define
	text = strings.NewReplacer("\\\r\n", " ", "\\\n", " ", "\r\n", "\n").Replace(text) // a backslash joins lines
	for line := range strings.SplitSeq(text, "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case defined > 0 || word == "define":
			switch word {
			case "define":
				defined++
			case "endef":
				defined--
			}
		case strings.HasPrefix(line, "\t"): // a command
		case strings.HasPrefix(line, "#"):
			above = append(above, line)
			continue
		case slices.Contains(conditions, word):
			continue
		case word == "include" || word == "-include" || word == "sinclude":
			m.include(strings.Fields(rest), dir)
		default:
			m.line(line, above)
		}
		above = nil
	}
}

// include reads files of the same directory or below it, whose names are plain.
func (m *makefile) include(names []string, dir string) {
	for _, name := range names {
		file := filepath.Join(dir, name)
		if strings.ContainsAny(name, "$*?[") || !filepath.IsLocal(name) || len(m.files) >= maxIncluded ||
			slices.Contains(m.files, file) {
			continue
		}
		m.files = append(m.files, file)
		if text, err := boundedfile.Read(file, maxFile); err == nil {
			m.parse(string(text), dir)
		}
	}
}

// line reads a rule or an assignment, and its comment.
func (m *makefile) line(line string, above []string) {
	code, comment, hasComment := strings.Cut(line, "#")
	documented := hasComment && strings.HasPrefix(comment, "#")
	says := ""
	switch {
	case documented:
		says = strings.TrimLeft(comment, "#")
	case len(above) > 0:
		documented = strings.HasPrefix(above[len(above)-1], "##")
		for _, c := range above {
			says += strings.TrimLeft(c, "#") + " "
		}
	}
	if strings.HasPrefix(strings.TrimSpace(says), "@") { // a heading of some conventions
		says, documented = "", false
	}
	at := strings.IndexAny(code, ":=")
	if at < 0 {
		return
	}
	after := strings.TrimLeft(code[at:], ":")
	if code[at] == '=' || strings.HasPrefix(after, "=") {
		if documented {
			m.variable(code[:at], says)
		}
		return
	}
	if names := strings.TrimRight(code[:at], "& "); !strings.Contains(names, "$") {
		m.rule(strings.Fields(names), after, says, documented)
	}
}

// rule records the targets of a rule.
func (m *makefile) rule(names []string, after, says string, documented bool) {
	for _, name := range names {
		if name == ".PHONY" {
			for _, phony := range strings.Fields(after) {
				m.known[phony] = true
			}
			continue
		}
		if !slices.Contains(m.targets, name) && len(m.targets) < 10*maxTargets {
			m.targets = append(m.targets, name)
		}
		if says != "" && m.says[name] == "" {
			m.says[name] = says
		}
		if documented {
			m.known[name] = true
		}
	}
}

// choosesProgram matches names of variables that choose programs to run or their options.
var choosesProgram = lazyregexp.New(`^(?:.*SHELL|MAKE.*|CC|CXX|CPP|LD|AR|AS|FC|RM|INSTALL|.*FLAGS|.*CMD|.*COMMAND|` +
	`.*EXEC|EDITOR|PAGER)$`)

// variable records a documented variable.
func (m *makefile) variable(name, says string) {
	name = strings.TrimSpace(strings.TrimRight(name, "?+!: "))
	for _, before := range []string{"export ", "override "} {
		name = strings.TrimSpace(strings.TrimPrefix(name, before))
	}
	const maxVariables = 10
	if !isProperty.MatchString(name) || len(m.variables) == maxVariables || choosesProgram.MatchString(
		strings.ToUpper(name)) || slices.ContainsFunc(m.variables, func(a recipe.Argument) bool { return a.Name == name }) {
		return
	}
	a := argument(name, says)
	a.Option, a.Form = name, "equals"
	m.variables = append(m.variables, a)
}
