// Package runners reads the targets of task runners, so that each target becomes a tool. It reads
// the project file as text, or asks the runner to print it. No command of the project runs.
package runners

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/text/lazyregexp"
)

// Limits on foreign text.
const (
	maxFile        = 1 << 20 // bytes of a project file
	maxTargets     = 200
	maxName        = 100 // bytes of a target's name
	maxDescription = 300 // bytes of a target's description
)

// timeout is the time limit of a call in seconds. Targets often build something.
const timeout = 300

// A Runner is a program that runs the targets of a project file.
type Runner struct {
	// Program is its name on PATH.
	Program string
	// Files are the names of the project file, the first one that exists counts.
	Files []string
	// Noun is the runner's word for a target.
	Noun string

	read func(p *project) error
}

// Of returns the task runner with this name on PATH, or nil.
func Of(program string) *Runner {
	switch program {
	case "make", "gmake":
		return &Runner{program, []string{"GNUmakefile", "makefile", "Makefile"}, "target", readMakefile}
	case "just":
		return &Runner{program, []string{"justfile", "Justfile", ".justfile"}, "recipe", readJustfile}
	case "task", "go-task":
		return &Runner{program, []string{"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml",
			"Taskfile.dist.yml", "taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml"}, "task", readTaskfile}
	case "npm":
		return &Runner{program, []string{"package.json"}, "script", readPackage}
	}
	return nil
}

// Find returns the project file in a directory, or "".
func (r *Runner) Find(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, name := range r.Files {
		for _, e := range entries { // a file system may ignore case; this is the name that it shows
			if file := filepath.Join(dir, e.Name()); e.Name() == name && isFile(file) {
				return file
			}
		}
	}
	return ""
}

func isFile(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// A Target is one target of a project file.
type Target struct {
	Name   string
	Recipe *recipe.Recipe
}

// A Skipped is a target that cannot become a tool, with the reason.
type Skipped struct{ Name, Why string }

// A Source is a project file to read.
type Source struct {
	// File is its path.
	File string
	// Dir is the directory of the file as the tools name it: absolute, or relative to their
	// working directory.
	Dir string
	// Print runs the program, confined, and returns its standard output.
	Print func(words ...string) ([]byte, error)
}

// A project is a project file that is being read.
type project struct {
	*Runner
	Source
	targets []Target
	skipped []Skipped
}

// Read returns the targets of a project file.
func (r *Runner) Read(s Source) ([]Target, []Skipped, error) {
	p := &project{Runner: r, Source: s}
	err := r.read(p)
	if err != nil {
		err = fmt.Errorf("%s: %w", s.File, err)
	}
	return p.targets, p.skipped, err
}

// skip records a target that cannot become a tool.
func (p *project) skip(name, why string) {
	if len(p.skipped) < maxTargets {
		p.skipped = append(p.skipped, Skipped{recipe.Plain(name, maxName), why})
	}
}

// add adds a target. words are the fixed words of the command line after the program.
func (p *project) add(name, says string, words []string, arguments ...recipe.Argument) {
	switch {
	case len(name) > maxName || !utf8.ValidString(name) || !usableName.MatchString(name):
		p.skip(name, "its name has characters that have a meaning elsewhere")
		return
	case slices.ContainsFunc(p.targets, func(t Target) bool { return t.Name == name }):
		return
	case len(p.targets) == maxTargets:
		p.skip(name, fmt.Sprintf("it is not among the first %d", maxTargets))
		return
	}
	fixed := []recipe.Argument{{Words: words}}
	if at := slices.Index(words, name); at > 0 { // recipe.CommandAt looks for the command at the start of an item
		fixed = []recipe.Argument{{Words: words[:at]}, {Words: words[at:]}}
	}
	p.targets = append(p.targets, Target{name, &recipe.Recipe{
		Program: p.Program, Command: []string{name}, Title: p.Program + " " + name, Summary: p.summary(name, says),
		Arguments: append(fixed, arguments...), Output: recipe.Output{Type: "text"},
		Capabilities: []string{"Process", "Edit"}, TimeoutSecs: timeout,
	}})
}

// summary describes a target for models. Text of the project file is quoted, because others wrote it.
func (p *project) summary(name, says string) string {
	file := recipe.Plain(filepath.Join(filepath.Base(filepath.Dir(p.File)), filepath.Base(p.File)), maxName)
	text := fmt.Sprintf("Runs the %s %s of %s.", p.Noun, name, filepath.ToSlash(file))
	if says = recipe.Quote(says, maxDescription); says != "" {
		text += " The file says: " + says
	}
	return text
}

// usableName matches a target's name that is one word for every shell, runner and reader.
var usableName = lazyregexp.New(`^[\p{L}\p{Nd}_.:/+@,][-\p{L}\p{Nd}_.:/+@,]*$`)

// value is the pattern of values that a target's command gets. Runners put values into shell
// commands as text, so nothing that a shell, make or an option parser could read is allowed.
const value = `[A-Za-z0-9_./@%+:][A-Za-z0-9_.,/@%+:=-]*`

// plain describes the values of the pattern to models.
const plain = "Letters, digits and _ . , / @ % + : = - only."

// argument returns an argument of a target with a checked value.
func argument(name, says string) recipe.Argument {
	text := plain
	if says = recipe.Quote(says, maxDescription); says != "" {
		text = fmt.Sprintf("The file says: %s. %s", says, plain)
	}
	return recipe.Argument{Name: name, Type: "string", Pattern: value, Description: text}
}

// isProperty matches a name that can be that of a property.
var isProperty = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
