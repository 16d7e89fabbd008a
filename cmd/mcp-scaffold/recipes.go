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
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/share/recipes"
)

// library returns the recipes that this program contains. A test checks them.
func library() recipe.Library { return recipe.Library{Files: recipes.Files} }

// A fitting is a recipe that fits an installed program.
type fitting struct {
	recipe *recipe.Recipe
	from   wrap.Source
	words  []string // the command line
	file   string   // the program
}

// recipes returns the recipes to use for a command line: one for the command, or those of its
// commands. It returns none if the help must be read.
func (w *wrapper) recipes(ctx context.Context, words []string) ([]fitting, error) {
	switch {
	case w.o.recipe != "":
		f, err := w.fromFile(ctx, w.o.recipe, words)
		return []fitting{f}, err
	case w.o.noRecipe || w.ownProgram(words[0]):
		return nil, nil
	}
	named := append([]string{filepath.Base(words[0])}, words[1:]...)
	r, err := library().Find(named)
	if err != nil {
		return nil, err
	}
	if r != nil && !w.o.subcommands {
		f, err := w.usable(ctx, r, words)
		if f == nil || err != nil {
			return nil, err
		}
		return []fitting{*f}, nil
	}
	return w.ofCommands(ctx, words, named)
}

// ownProgram reports whether a program is a file of the project. Recipes are not for these.
func (w *wrapper) ownProgram(name string) bool {
	return strings.ContainsRune(name, filepath.Separator) && fsys.Within(w.p.Root, w.ask.Find(name))
}

// usable returns a recipe that may be used and fits the installed version. Otherwise it warns, and
// returns nil.
func (w *wrapper) usable(ctx context.Context, r *recipe.Recipe, words []string) (*fitting, error) {
	line := strings.Join(words, " ")
	if !r.Verified && !w.o.unverified {
		w.warn(fmt.Sprintf("the recipe of %s was not tested with the real program, so its help is read; "+
			"--unverified uses the recipe", line))
		return nil, nil
	}
	f, err := w.fit(ctx, r, wrap.Source{File: r.FileName()}, words)
	if _, ok := errors.AsType[*unfitError](err); ok {
		w.warn(fmt.Sprintf("%v, so its help is read", err))
		return nil, nil
	}
	return &f, err
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

// fit finds the program of a recipe, and compares its version. The error can be an *unfitError.
func (w *wrapper) fit(ctx context.Context, r *recipe.Recipe, from wrap.Source, words []string) (fitting, error) {
	f := fitting{recipe: r, from: from, words: words}
	for _, name := range append([]string{words[0]}, r.Aliases...) {
		if f.file = w.ask.Find(name); f.file != "" || words[0] != r.Program {
			f.words = append([]string{name}, words[1:]...)
			break
		}
	}
	if f.file == "" {
		return f, noProgram(words[0])
	}
	if r.Version == nil {
		return f, nil
	}
	version, err := w.version(ctx, f.words[0], r.Version)
	if err != nil {
		return f, err
	}
	if !r.Version.Contains(version) {
		return f, &unfitError{strings.Join(words, " "), r.Version.String(), version}
	}
	f.from.Version = version
	return f, nil
}

// version returns the version of a program, or "". A program is asked once.
func (w *wrapper) version(ctx context.Context, program string, v *recipe.Version) (string, error) {
	line := append([]string{program}, v.CommandLine()...)
	key := strings.Join(line, "\x00")
	if known, ok := w.versions[key]; ok {
		return known, nil
	}
	text, err := w.ask.Version(ctx, program, v.CommandLine())
	if err != nil {
		return "", err
	}
	w.versions[key] = recipe.VersionIn(text)
	return w.versions[key], nil
}

// maxRecipe limits the file of a recipe, in bytes.
const maxRecipe = 1 << 20

func readRecipe(file string) (*recipe.Recipe, error) {
	text, err := boundedfile.Read(file, maxRecipe)
	if err != nil {
		code := cli.CodeInvalid
		if errors.Is(err, fs.ErrNotExist) {
			code = cli.CodeNotFound
		}
		return nil, &cli.Error{Code: code, Subject: file, Cause: fsys.Cause(err)}
	}
	r, err := recipe.Parse(text)
	if err != nil {
		return nil, cli.Failf(cli.CodeInvalid, "%s: %v", file, err)
	}
	return r, nil
}

func (w *wrapper) fromFile(ctx context.Context, file string, words []string) (fitting, error) {
	r, err := readRecipe(file)
	if err != nil {
		return fitting{}, err
	}
	if len(words) == 0 {
		words = r.Words()
	}
	if !r.Is(append([]string{filepath.Base(words[0])}, words[1:]...)) {
		return fitting{}, cli.Usagef("%s is the recipe of %s, not of %s", file, strings.Join(r.Words(), " "),
			strings.Join(words, " "))
	}
	f, err := w.fit(ctx, r, wrap.Source{File: w.recordedPath(file)}, words)
	return f, refit(err)
}

// refit turns an *unfitError into a failure, where there is no other recipe.
func refit(err error) error {
	if _, ok := errors.AsType[*unfitError](err); ok {
		return cli.Failf(cli.CodeInvalid, "%v; change the recipe's version, or use --no-recipe", err)
	}
	return err
}

// recordedPath returns the path of a recipe for .wrap.json: relative to the project if it is there.
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

func (w *wrapper) recorded(ctx context.Context, old *scaffold.Wrapped) (fitting, error) {
	var r *recipe.Recipe
	var err error
	if strings.Contains(old.Recipe, "/") {
		r, err = readRecipe(w.resolved(old.Recipe))
	} else {
		r, err = library().Find(append([]string{filepath.Base(old.Command[0])}, old.Command[1:]...))
	}
	if err != nil {
		return fitting{}, err
	}
	if r == nil {
		return fitting{}, cli.Failf(cli.CodeNotFound, "the recipe %s no longer exists; --no-recipe reads the program's help",
			old.Recipe)
	}
	f, err := w.fit(ctx, r, wrap.Source{File: old.Recipe}, old.Command)
	return f, refit(err)
}

// ofCommands returns the recipes of a program's commands: all with --subcommands, or those of
// --commands. Otherwise it asks on a terminal, and names them in an error elsewhere.
func (w *wrapper) ofCommands(ctx context.Context, words, named []string) (list []fitting, err error) {
	all, err := library().Of(named[0])
	if err != nil {
		return nil, err
	}
	below := func(r *recipe.Recipe) bool {
		line := r.Words()
		return len(line) > len(named) && slices.Equal(line[1:len(named)], named[1:]) && (r.Verified || w.o.unverified)
	}
	all = slices.DeleteFunc(all, func(r *recipe.Recipe) bool { return !below(r) })
	if len(all) == 0 {
		return nil, nil
	}
	if all, err = w.pick(ctx, words, all); err != nil {
		return nil, err
	}
	for _, r := range all {
		f, err := w.usable(ctx, r, append([]string{words[0]}, r.Words()[1:]...))
		if err != nil {
			return nil, err
		}
		if f != nil {
			list = append(list, *f)
		}
	}
	return list, nil
}

// pick takes the recipes that --commands names, or that a person picks on a terminal. Elsewhere it
// takes all of them with --subcommands, and otherwise it returns an error that names them.
func (w *wrapper) pick(ctx context.Context, words []string, all []*recipe.Recipe) (chosen []*recipe.Recipe, err error) {
	var choices []cli.Choice
	var names []string
	for _, r := range all {
		name := strings.Join(r.Words()[len(words):], " ")
		names = append(names, name)
		choices = append(choices, cli.Choice{Label: name, Text: r.Title, On: w.o.subcommands})
	}
	if !w.o.subcommands && !w.asks() {
		return nil, cli.Failf(cli.CodeInvalid, "%s has recipes for these commands: %s; wrap one with \"wrap %[1]s %[3]s\", "+
			"or all with --subcommands", strings.Join(words, " "), strings.Join(names, ", "), names[0])
	}
	if err := w.chooseCommands(ctx, choices); err != nil {
		return nil, err
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

func (w *wrapper) fromRecipes(list []fitting) (tools []*wrap.Tool, err error) {
	for _, f := range list {
		s := w.o.Selection
		if w.o.subcommands {
			s = s.For(f.recipe)
		}
		tool, err := scaffold.NewTool(w.p, f.recipe, f.from, f.words, f.file, w.o.name, s)
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
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
