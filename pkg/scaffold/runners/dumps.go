package runners

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold/recipe"
)

// readPackage reads the scripts of a package.json. Scripts that npm runs by itself are left out.
func readPackage(p *project) error {
	text, err := boundedfile.Read(p.File, maxFile)
	if err != nil {
		return err
	}
	return p.parsePackage(text)
}

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

// readTaskfile asks task for its tasks. --no-status prevents the commands that find out whether a
// task is up to date.
func readTaskfile(p *project) error {
	text, err := p.Print("--taskfile", p.File, "--list-all", "--json", "--no-status")
	if err != nil {
		return err
	}
	return p.parseTasks(text)
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

// readJustfile asks just for its recipes. It prints them without running a command.
func readJustfile(p *project) error {
	text, err := p.Print("--justfile", p.File, "--dump", "--dump-format", "json")
	if err != nil {
		return err
	}
	return p.parseDump(text)
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
