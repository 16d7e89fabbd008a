// Package danger has the list of programs and options that run other programs, or read settings that
// do. Tools do not offer them unless somebody asks for them by name (WRAP-26). Options that write to a
// file are not in the list: the tool's capabilities limit them to the roots. The list is dangers.json.
package danger

import (
	_ "embed" // the list
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

//go:embed dangers.json
var dangers []byte

// A List is the list of dangers.
type List struct {
	// Interpreters are programs that run the code they are given.
	Interpreters []string `json:"interpreters"`
	// Runners are programs whose operands or expressions run programs, with the reason.
	Runners map[string]string `json:"runners"`
	// Options are dangerous whichever program has them, and Programs those of some programs.
	Options  map[string]string            `json:"options"`
	Programs map[string]map[string]string `json:"programs"`
	// Texts are found in the descriptions of dangerous options that take a value.
	Texts []Text `json:"texts"`
}

// A Text is a regular expression for descriptions, with the danger.
type Text struct {
	Pattern string `json:"pattern"`
	Why     string `json:"why"`

	expression *regexp.Regexp
}

// Load reads the list.
func Load() *List {
	l := &List{}
	if err := json.Unmarshal(dangers, l); err != nil {
		panic("dangers.json: " + err.Error()) // it is compiled in, and tested
	}
	for i := range l.Texts {
		l.Texts[i].expression = regexp.MustCompile(l.Texts[i].Pattern)
	}
	return l
}

// Interpreter reports whether a program runs the code it is given. A version can follow its name,
// as in python3.13.
func (l *List) Interpreter(program string) bool {
	return slices.Contains(l.Interpreters, base(program))
}

// Program returns the reason why a tool cannot pass any words to a program, or "".
func (l *List) Program(program string) string {
	if l.Interpreter(program) {
		return "runs the code it is given"
	}
	return l.Runners[base(program)]
}

// base returns a program's name without its version and suffix.
func base(program string) string {
	name := strings.TrimSuffix(program[strings.LastIndexAny(program, `/\`)+1:], ".exe")
	if short := strings.TrimRight(name, "0123456789.-"); short != "" && name != "sqlite3" && name != "m4" {
		return short
	}
	return name
}

// Names returns the dangerous options of a program: those that are dangerous anywhere, and its own.
func (l *List) Names(program string) map[string]string {
	names := maps.Clone(l.Options)
	maps.Copy(names, l.Programs[base(program)])
	maps.Copy(names, l.Programs[program])
	return names
}

// Option returns the reason why an option is dangerous, or "". help is its description, and takes
// reports whether it has a value.
func (l *List) Option(program string, names []string, help string, takes bool) string {
	for _, name := range names {
		if why := l.Programs[program][name]; why != "" {
			return why
		}
		if why := l.Programs[base(program)][name]; why != "" {
			return why
		}
		why := l.Options[name]
		if why != "" && (takes || !strings.HasPrefix(why, "reads")) {
			return why
		}
	}
	for i, t := range l.Texts {
		// A switch that reads settings does so where the program decides.
		if (takes || i < 3) && t.expression.MatchString(help) {
			return t.Why
		}
	}
	return ""
}
