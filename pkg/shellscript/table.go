package shellscript

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/text/lazyregexp"
)

//go:embed programs.txt
var programs string

// table returns the rows of programs.txt by the name of the program.
var table = sync.OnceValue(func() map[string][]string {
	rows := map[string][]string{}
	for line := range strings.Lines(programs) {
		if fields := strings.Fields(line); fields[0] != "#" {
			rows[fields[0]] = fields[1:]
		}
	}
	return rows
})

// property returns the value of a word in the row of a program: "efm" for "input:efm". The value can be empty.
func property(program, word string) (value string, has bool) {
	for _, field := range table()[program] {
		if value, ok := strings.CutPrefix(field, word); ok && strings.Trim(value[:min(1, len(value))], ":") == "" {
			return strings.TrimPrefix(value, ":"), true
		}
	}
	return "", false
}

// started matches the name of a program at the beginning of a text in quotation marks.
var started = lazyregexp.New("(?:[\"'`]|(?:qx|%x)[({\\[/])([\\w.+-]+)[\"'` ]")

// SettingsOf returns the files in the home directory that the programs of a script in another language read. A program
// is one that begins a quoted text: ["git", "log"], `git log`.
func SettingsOf(text string) (files []string) {
	for _, m := range started.FindAllStringSubmatch(text, -1) {
		for _, field := range table()[m[1]] {
			if file, ok := strings.CutPrefix(field, "settings:"); ok && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// IsStandard reports whether each system has a program, so that nobody needs to install it.
func IsStandard(name string) bool { return slices.Contains(table()["=standard"], name) }

// IsShell reports whether a program runs the scripts that Read reads.
func IsShell(name string) bool { return slices.Contains(table()["=shells"], name) }

// isBuiltin reports whether Bash does the command itself.
func isBuiltin(name string) bool { return slices.Contains(table()["=builtin"], name) }

// isFailure reports whether scripts call a function with this name to end with an error.
func isFailure(name string) bool { return slices.Contains(table()["=failure"], name) }

// prints reports whether a command writes its words, or a here-document, to standard output.
func prints(name string) bool { return name == "echo" || name == "printf" || name == "cat" }
