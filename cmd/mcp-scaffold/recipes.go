package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/share/recipes"
)

// library returns the recipes that this program contains. A test checks them.
func library() recipe.Library { return recipe.Library{Files: recipes.Files} }

// recipes makes tools from the recipes for a command line. It uses the recipe of the command, or one for each of its
// subcommands. If there is no recipe, it returns nil, and the caller reads the help.
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

// usable makes a tool from a recipe that may be used and that fits the installed version. Otherwise it prints a warning
// and returns nil.
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

// An unfitError means that a recipe does not support the installed version of its program.
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
		if !known { // ask each program only once
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

// given makes a tool from the recipe that --recipe, or the record of a tool, names.
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

// ofCommands returns the recipes of a program's subcommands: those that --commands names, all with --subcommands, or
// those that a person picks on a terminal. In any other case it returns an error that lists them.
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

// A listedRecipe is a recipe in the JSON output.
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

// An exampleResult is the outcome of one example of a recipe.
type exampleResult struct {
	Description string `json:"description"`
	Differs     string `json:"differs,omitempty"` // the difference from the recipe
}

// check runs the examples of a recipe with the real program, as the server would, and prints what differs from the
// recipe. The tool is in a temporary project. Its only root is an empty folder, or that of --directory.
func (w *wrapper) check(ctx context.Context, words []string) error {
	dir, err := os.MkdirTemp("", "mcp-check.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root := w.o.directory
	if root == "" {
		root = filepath.Join(dir, "root")
		if err := os.Mkdir(root, 0o700); err != nil {
			return err
		}
	}
	if root, err = fsys.Physical(root); err != nil {
		return cli.Failf(cli.CodeNotFound, "--directory %s: %v", w.o.directory, fsys.Cause(err))
	}
	server, err := scaffold.New(ctx, dir, "check", false, func(*scaffold.Server) error { return nil })
	if err != nil {
		return err
	}
	w.p = project.Open(server.Root, w.p.Env, server.Root, func(string) {})
	tools, err := w.tools(ctx, words)
	if err != nil {
		return err
	}
	if len(tools[0].Recipe.Examples) == 0 {
		return cli.Failf(cli.CodeInvalid, "%s has no examples; add two calls that work", w.o.recipe)
	}
	if _, err := scaffold.Wrap(ctx, w.p, tools, scaffold.WrapOptions{}, func(string) {}); err != nil {
		return err
	}
	var results []exampleResult
	for _, e := range tools[0].Recipe.Examples {
		differs, err := w.runExample(ctx, tools[0], e, root)
		if err != nil {
			return err
		}
		results = append(results, exampleResult{e.Description, differs})
	}
	return w.printExamples(results)
}

// A callResult is the result of a call, or the message of its error.
type callResult struct {
	IsError bool
	Content []struct{ Text string }
	Message string
}

// runExample makes the call of an example. It returns the difference from the recipe, or "".
func (w *wrapper) runExample(ctx context.Context, t *wrap.Tool, e recipe.Example, root string) (string, error) {
	for name := range pathsOf(t.Recipe, e, "read", "both") {
		if _, err := os.Lstat(filepath.Join(root, name)); err != nil {
			return fmt.Sprintf("not run: there is no %s; name a folder that has it with --directory", name), nil
		}
	}
	uri := (&url.URL{Scheme: "file", Path: filepath.ToSlash(root)}).String()
	uri = strings.ReplaceAll(uri, ",", "%2C") // commas separate roots
	text, err := scaffold.RunTool(ctx, w.p, t.Name, "--full", "--roots", uri, "--args", string(encoded(e.Arguments)))
	result := callResult{}
	if json.Unmarshal(text, &result) != nil || err != nil && result.Message == "" {
		return "", cmp.Or(err, errors.New("mcp-runtool printed no result"))
	}
	return difference(t.Recipe, e, result, root), nil
}

// pathsOf yields the paths of an example whose access is one of the given kinds. A value that a recipe excludes with
// "unless" is not a path.
func pathsOf(r *recipe.Recipe, e recipe.Example, access ...recipe.Access) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, a := range r.Arguments {
			if a.Type != recipe.Path || !slices.Contains(access, cmp.Or(a.Access, "read")) {
				continue
			}
			excepted, err := regexp.CompilePOSIX("^(" + a.Unless + ")$")
			values, isList := e.Arguments[a.Name].([]any)
			if !isList {
				values = []any{e.Arguments[a.Name]}
			}
			for _, v := range values {
				name, ok := v.(string)
				if ok = ok && name != "-" && (err != nil || !excepted.MatchString(name)); ok && !yield(name) {
					return
				}
			}
		}
	}
}

// difference returns the difference between the result of an example and its recipe, or "".
func difference(r *recipe.Recipe, e recipe.Example, got callResult, root string) string {
	var texts []string
	for _, c := range got.Content {
		texts = append(texts, strings.TrimSpace(c.Text))
	}
	text := cmp.Or(strings.Join(texts, "; "), got.Message)
	if got.IsError || got.Message != "" {
		return "it fails: " + text
	}
	if r.Output.Type == "json" && !json.Valid([]byte(text)) {
		return fmt.Sprintf("output.type is json, and it prints: %.200s", text)
	}
	for name := range pathsOf(r, e, "write") {
		if _, err := os.Lstat(filepath.Join(root, name)); err != nil {
			return fmt.Sprintf("it does not write %s, whose access is write", name)
		}
	}
	return ""
}

// printExamples prints the outcomes. It returns an error if an example differs.
func (w *wrapper) printExamples(results []exampleResult) error {
	wrong := 0
	for i, r := range results {
		mark := "✓"
		if r.Differs != "" {
			mark = "✗"
			wrong++
		}
		w.printf("%s example %d: %s\n", mark, i+1, r.Description)
		if r.Differs != "" {
			w.printf("  %s\n", r.Differs)
		}
	}
	switch {
	case w.o.json:
		cli.Printf(w.s.Out, "%s\n", []byte(encoded(struct {
			Examples []exampleResult `json:"examples"`
			OK       bool            `json:"ok"`
		}{results, wrong == 0})))
	case wrong > 0:
		cli.Printf(w.s.Err, "wrap: %d of %d examples differ from the recipe %s\n", wrong, len(results), w.o.recipe)
	}
	if wrong > 0 {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}
