// Package runners reads the targets of task runners, so that each target becomes a tool. It reads
// the project file as text, or asks the runner to print it. No command of the project runs.
package runners

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
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

	// dump are words that make the program print the targets, with the project file after the first one. nil: the
	// file itself is parsed.
	dump  []string
	parse func(p *project, text []byte) error
}

// Of returns the task runner with this name on PATH, or nil.
func Of(program string) *Runner {
	switch program {
	case "make", "gmake":
		return &Runner{program, []string{"GNUmakefile", "makefile", "Makefile"}, "target", nil, (*project).parseMakefile}
	case "just":
		return &Runner{program, []string{"justfile", "Justfile", ".justfile"}, "recipe",
			[]string{"--justfile", "--dump", "--dump-format", "json"}, (*project).parseDump}
	case "task", "go-task":
		return &Runner{program, []string{"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml",
			"Taskfile.dist.yml", "taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml"}, "task",
			// --no-status prevents the commands that find out whether a task is up to date.
			[]string{"--taskfile", "--list-all", "--json", "--no-status"}, (*project).parseTasks}
	case "npm":
		return &Runner{program, []string{"package.json"}, "script", nil, (*project).parsePackage}
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
	var text []byte
	var err error
	if r.dump == nil {
		text, err = boundedfile.Read(s.File, maxFile)
	} else { // without running a command
		text, err = s.Print(slices.Insert(slices.Clone(r.dump), 1, s.File)...)
	}
	if err == nil {
		err = r.parse(p, text)
	}
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

// isProperty matches valid names of properties.
var isProperty = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// parsePackage reads the scripts of a package.json. Scripts that npm runs by itself are left out.
func (p *project) parsePackage(text []byte) error {
	doc, err := rawjson.Check(text)
	if err != nil {
		return err
	}
	scripts := rawjson.Get(doc, "scripts")
	if scripts != nil && rawjson.KindOf(scripts) != rawjson.Object {
		return errors.New(`"scripts" must be an object`)
	}
	byItself := []string{"preinstall", "install", "postinstall", "prepare", "prepublish", "prepublishOnly", "publish",
		"postpublish", "prepack", "postpack", "dependencies", "preversion", "version", "postversion", "preuninstall",
		"uninstall", "postuninstall"}
	for name, value := range rawjson.All(scripts) {
		command, ok := rawjson.Text(value)
		before, isPre := strings.CutPrefix(name, "pre")
		after, isPost := strings.CutPrefix(name, "post")
		switch {
		case !ok:
		case slices.Contains(byItself, name), isPre && rawjson.Get(scripts, before) != nil,
			isPost && rawjson.Get(scripts, after) != nil:
			p.skip(name, "npm runs it by itself")
		default:
			p.add(name, command, []string{"--prefix", p.Dir, "--no-update-notifier", "--logs-max=0", "run", name})
		}
	}
	return nil
}

func (p *project) parseTasks(text []byte) error {
	var list struct {
		Tasks []struct{ Name, Desc, Summary string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("%s --list-all --json printed no list of tasks; it needs go-task 3.19: %w", p.Program, err)
	}
	for _, t := range list.Tasks {
		p.add(t.Name, cmp.Or(strings.TrimSpace(t.Desc), t.Summary), []string{"--dir", p.Dir, "--color=false", t.Name})
	}
	return nil
}

// A module is a justfile, or a module of one, as the program just prints it in JSON.
type module struct {
	Recipes map[string]struct {
		Doc        string
		Private    bool
		Attributes []json.RawMessage
		Parameters []parameter
	}
	Modules map[string]module
}

// A parameter is a parameter of a recipe of a justfile.
type parameter struct {
	Name    string
	Kind    string // singular, plus, star
	Default json.RawMessage
	Help    string
	Long    string
	Flag    bool
}

func (p *project) parseDump(text []byte) error {
	var top module
	if err := json.Unmarshal(text, &top); err != nil {
		return fmt.Errorf("just --dump --dump-format json printed no recipes; just 1.13 or newer is needed: %w", err)
	}
	p.addModule(top, "", 0)
	return nil
}

func (p *project) addModule(m module, prefix string, depth int) {
	const maxDepth = 4
	for _, name := range slices.Sorted(maps.Keys(m.Recipes)) {
		r := m.Recipes[name]
		asks := func(a json.RawMessage) bool {
			return string(a) == `"confirm"` || rawjson.Get(a, "confirm") != nil
		}
		switch {
		case r.Private:
		case slices.ContainsFunc(r.Attributes, asks):
			p.skip(prefix+name, "it asks a person to confirm")
		default:
			arguments, why := justArguments(r.Parameters)
			if why != "" {
				p.skip(prefix+name, why)
				continue
			}
			words := []string{"--justfile", p.Dir + "/" + filepath.Base(p.File), "--working-directory", p.Dir, "--",
				prefix + name}
			p.add(prefix+name, r.Doc, words, arguments...)
		}
	}
	if depth == maxDepth {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m.Modules)) {
		p.addModule(m.Modules[name], prefix+name+"::", depth+1)
	}
}

// justArguments returns the arguments of a recipe, or why it cannot have any.
func justArguments(parameters []parameter) (list []recipe.Argument, why string) {
	for _, parameter := range parameters {
		name := strings.ReplaceAll(parameter.Name, "-", "_")
		switch {
		case !isProperty.MatchString(name),
			slices.ContainsFunc(list, func(a recipe.Argument) bool { return a.Name == name }):
			return nil, "the name of a parameter cannot be that of an argument"
		case parameter.Long != "" || parameter.Flag:
			return nil, "a parameter is an option, which this version does not know"
		}
		a := argument(name, parameter.Help)
		a.Repeat = parameter.Kind == "plus" || parameter.Kind == "star"
		a.Required = parameter.Kind != "star" && rawjson.Absent(parameter.Default)
		if text, ok := rawjson.Text(parameter.Default); ok && text != "" {
			a.Description += fmt.Sprintf(" Default: %s.", recipe.Quote(text, maxName))
		}
		list = append(list, a)
	}
	return list, ""
}
