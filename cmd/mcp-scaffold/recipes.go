package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/share/recipes"
)

// library returns the recipes that this program contains. A test checks them.
func library() recipe.Library { return recipe.Library{Files: recipes.Files} }

// recipes makes tools of the recipes for a command line: one for the command, or those of its commands. It makes none
// if the help must be read.
func (w *wrapper) recipes(ctx context.Context, words []string) (tools []*wrap.Tool, err error) {
	switch {
	case w.o.recipe != "" && !w.o.noRecipe:
		tool, err := w.given(ctx, words)
		return []*wrap.Tool{tool}, err
	case w.o.noRecipe || strings.ContainsRune(words[0], filepath.Separator) && fsys.Within(w.p.Root, w.ask.Find(words[0])):
		return nil, nil // recipes are not for the programs of the project
	}
	r, err := library().Find(named(words))
	if err != nil {
		return nil, err
	}
	list := []*recipe.Recipe{r}
	if r == nil || w.o.subcommands {
		if list, err = w.ofCommands(ctx, words); err != nil {
			return nil, err
		}
	}
	for _, r := range list {
		tool, err := w.usable(ctx, r, append([]string{words[0]}, r.Words()[1:]...))
		if err != nil {
			return nil, err
		} else if tool != nil {
			tools = append(tools, tool)
		}
	}
	return tools, nil
}

// named returns a command line with the name of its program.
func named(words []string) []string { return append([]string{filepath.Base(words[0])}, words[1:]...) }

// usable makes the tool of a recipe that may be used and fits the installed version. Otherwise it warns, and
// returns nil.
func (w *wrapper) usable(ctx context.Context, r *recipe.Recipe, words []string) (*wrap.Tool, error) {
	if !r.Verified && !w.o.unverified {
		w.warn(fmt.Sprintf("the recipe of %s was not tested with the real program, so its help is read; "+
			"--unverified uses the recipe", strings.Join(words, " ")))
		return nil, nil
	}
	tool, err := w.fit(ctx, r, r.FileName(), words)
	if _, ok := errors.AsType[*unfitError](err); ok {
		w.warn(fmt.Sprintf("%v, so its help is read", err))
		return nil, nil
	}
	return tool, err
}

// An unfitError is the error for an installed version that a recipe is not for.
type unfitError struct {
	line, wants, installed string
}

func (e *unfitError) Error() string {
	if e.installed == "" {
		return fmt.Sprintf("the recipe of %s is for versions %s, and the installed version is unknown", e.line, e.wants)
	}
	return fmt.Sprintf("the recipe of %s is for versions %s, and %s is installed", e.line, e.wants, e.installed)
}

// fit finds the program of a recipe, compares its version, and makes the tool. The error can be an *unfitError.
func (w *wrapper) fit(ctx context.Context, r *recipe.Recipe, from string, words []string) (*wrap.Tool, error) {
	line, file := words, ""
	for _, name := range append([]string{words[0]}, r.Aliases...) {
		if file = w.ask.Find(name); file != "" || words[0] != r.Program {
			line = append([]string{name}, words[1:]...)
			break
		}
	}
	if file == "" {
		return nil, noProgram(words[0])
	}
	source := wrap.Source{File: from}
	if r.Version != nil {
		key := strings.Join(append([]string{line[0]}, r.Version.CommandLine()...), "\x00")
		installed, known := w.versions[key]
		if !known { // a program is asked once
			text, err := w.ask.Version(ctx, line[0], r.Version.CommandLine())
			if err != nil {
				return nil, err
			}
			installed = recipe.VersionIn(text)
			w.versions[key] = installed
		}
		if !r.Version.Contains(installed) {
			return nil, &unfitError{strings.Join(words, " "), r.Version.String(), installed}
		}
		source.Version = installed
	}
	return w.tool(r, source, line, file, w.o.name)
}

// maxRecipe limits the file of a recipe, in bytes.
const maxRecipe = 1 << 20

// given makes the tool of the recipe that the person or the record of a tool names.
func (w *wrapper) given(ctx context.Context, words []string) (*wrap.Tool, error) {
	name, from, file := w.o.recipe, w.recordedPath(w.o.recipe), w.o.recipe
	if w.o.update {
		from, file = name, w.resolved(name)
	}
	var r *recipe.Recipe
	var err error
	if strings.Contains(from, "/") {
		var text []byte
		if text, err = boundedfile.Read(file, maxRecipe); err == nil {
			r, err = recipe.Parse(text)
		}
	} else {
		r, err = library().Find(named(words))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, cli.Failf(cli.CodeNotFound, "%s: %v", name, fsys.Cause(err))
	case err != nil:
		return nil, cli.Failf(cli.CodeInvalid, "%s: %v", name, fsys.Cause(err))
	case r == nil:
		return nil, cli.Failf(cli.CodeNotFound, "the recipe %s no longer exists; --no-recipe reads the program's help", name)
	case len(words) == 0:
		words = r.Words()
	case !r.Is(named(words)):
		return nil, cli.Usagef("%s is the recipe of %s, not of %s", name, strings.Join(r.Words(), " "),
			strings.Join(words, " "))
	}
	tool, err := w.fit(ctx, r, from, words)
	if _, ok := errors.AsType[*unfitError](err); ok {
		return nil, cli.Failf(cli.CodeInvalid, "%v; change the recipe's version, or use --no-recipe", err)
	}
	return tool, err
}

// recordedPath returns the path of a file for .wrap.json: relative to the project if it is there.
// It always has a slash.
func (w *wrapper) recordedPath(file string) string {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "./" + file
	}
	if rel, err := filepath.Rel(w.p.Root, abs); err == nil && filepath.IsLocal(rel) {
		return "./" + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(abs)
}

// resolved returns the path of a file in .wrap.json.
func (w *wrapper) resolved(recorded string) string {
	if file := filepath.FromSlash(recorded); filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(w.p.Root, filepath.FromSlash(recorded))
}

// ofCommands returns the recipes of a program's commands: those that --commands names, or that a person picks on a
// terminal. Elsewhere it returns all of them with --subcommands, and otherwise an error that names them.
func (w *wrapper) ofCommands(ctx context.Context, words []string) (chosen []*recipe.Recipe, err error) {
	all, err := library().Of(filepath.Base(words[0]))
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r *recipe.Recipe) bool {
		line := r.Words()
		return len(line) <= len(words) || !slices.Equal(line[1:len(words)], words[1:]) || !r.Verified && !w.o.unverified
	})
	if len(all) == 0 {
		return nil, nil
	}
	var choices []cli.Choice
	var names []string
	for _, r := range all {
		name := strings.Join(r.Words()[len(words):], " ")
		names = append(names, name)
		on := w.o.subcommands
		if len(w.o.commands) > 0 {
			on = slices.Contains(w.o.commands, name)
		}
		choices = append(choices, cli.Choice{Label: name, Text: r.Title, On: on})
	}
	for _, name := range w.o.commands {
		if !slices.Contains(names, name) {
			return nil, cli.Usagef("--commands: there is no command %s", name)
		}
	}
	switch picks := w.asks() && len(w.o.commands) == 0; {
	case !w.o.subcommands && !picks:
		return nil, cli.Failf(cli.CodeInvalid, "%s has recipes for these commands: %s; wrap one with \"wrap %[1]s %[3]s\", "+
			"or all with --subcommands", strings.Join(words, " "), strings.Join(names, ", "), names[0])
	case picks && len(choices) > 1:
		if err := cli.Pick(ctx, w.s, "Commands:", choices); err != nil {
			return nil, err
		}
	}
	for i, r := range all {
		if choices[i].On {
			chosen = append(chosen, r)
		}
	}
	if len(chosen) == 0 {
		return nil, cli.Failf(cli.CodeInvalid, "no command was picked; nothing was written")
	}
	return chosen, nil
}

func listRecipes(s cli.Streams, words []string, asJSON bool) error {
	all, err := library().All()
	if err != nil {
		return err
	}
	rows := cli.Table{{"command", "installed", "verified", "title"}}
	list := []listedRecipe{}
	for _, r := range all {
		line := r.Words()
		if len(words) > 0 && (!r.Names(words[0]) || len(line) < len(words) || !slices.Equal(line[1:len(words)], words[1:])) {
			continue
		}
		l := listedRecipe{Command: line, Title: r.Title, Summary: r.Summary, Verified: r.Verified,
			Documentation: r.Documentation}
		l.Installed = slices.ContainsFunc(append([]string{r.Program}, r.Aliases...),
			func(name string) bool { return script.LookPath(name, os.Getenv("PATH")) != "" })
		if r.Version != nil {
			l.Versions = r.Version.String()
		}
		list = append(list, l)
		rows = append(rows, []string{strings.Join(line, " "), yes(l.Installed), yes(l.Verified), l.Title})
	}
	switch {
	case len(list) == 0 && len(words) > 0:
		return cli.Failf(cli.CodeNotFound, "%s has no recipe; wrap %[1]s reads its help", strings.Join(words, " "))
	case asJSON:
		return printJSON(s, map[string]any{"recipes": list}, false)
	}
	rows.Print(s.Out)
	return nil
}

// A listedRecipe is a recipe for programs.
type listedRecipe struct {
	Command       []string `json:"command"`
	Title         string   `json:"title"`
	Summary       string   `json:"summary"`
	Verified      bool     `json:"verified"`
	Installed     bool     `json:"installed"`
	Versions      string   `json:"versions,omitempty"`
	Documentation string   `json:"documentation"`
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
