package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/ask"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/runners"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/pkg/text/toolnames"
)

// wrapOptions are the options of wrap (docs/contract/wrap.md).
type wrapOptions struct {
	common
	scaffold.WrapOptions
	name        string
	recipe      string // the file of a recipe; for an update, .wrap.json has the path
	directory   string
	noRecipe    bool
	unverified  bool
	list        bool
	commands    []string
	subcommands bool
	update      bool
	draft       bool
	prompt      bool
	check       bool
}

func wrapCommand() *cli.Command {
	o := &wrapOptions{}
	c := &cli.Command{
		Name:    "wrap",
		Summary: "Create tools that run a command-line program: by a recipe, or from its help.",
		Usage:   "[COMMAND [SUBCOMMAND ...]]",
		Examples: []cli.Example{
			{Line: "NAME sort", Purpose: "tools/sort"},
			{Line: "NAME --list", Purpose: "the programs that have a recipe"},
			{Line: "NAME git log --dry-run", Purpose: "show the arguments of the tool"},
			{Line: "NAME sort --only reverse,unique,columns", Purpose: "offer only these options"},
			{Line: "NAME git --commands log,status", Purpose: "create a tool for each of these commands"},
			{Line: "NAME --update", Purpose: "add new options of the programs; your changes are kept"},
		},
		Operands: []cli.Operand{{Name: "[COMMAND...]"}},
		Text: "make, just, task and npm become a tool for each target of the project file. For other programs, a recipe " +
			"is used if it fits the installed version. Otherwise the program is run to get its help, confined and with a " +
			"time limit. The kernel limits its tool to reading the roots. Options after -- are not allowed.",
		Exits: exits,
		Run:   func(s cli.Streams, operands []string) error { return runWrap(s, o, operands) },
	}
	names := func(list *[]string, option, help string) {
		c.Flags.Func(option, "LIST", help, func(text string) *cli.Error {
			for name := range strings.SplitSeq(text, ",") {
				if words := strings.Fields(name); len(words) > 0 {
					*list = append(*list, strings.Join(words, " "))
				}
			}
			return nil
		})
	}
	c.Flags.Bool(&o.list, "list", "list the recipes; with COMMAND, those of a program")
	c.Flags.String(&o.recipe, "recipe", "FILE", "use the recipe in this file")
	c.Flags.String(&o.directory, "directory", "DIR",
		"for make, just, task and npm: the folder of the project file (.); for --check: the folder of the examples (empty)")
	c.Flags.Bool(&o.noRecipe, "no-recipe", "read the program's help even if there is a recipe")
	c.Flags.Bool(&o.unverified, "unverified", "use recipes that were not tested with the real program, too")
	c.Flags.Positive(&o.Max, "max-options", "N",
		fmt.Sprintf("the maximum number of options of a tool (%d; all of a recipe)", wrap.MaxOptions))
	names(&o.Only, "only", "offer only these options; a list of names with commas")
	names(&o.With, "with", "offer these options too; README.md of the tool lists those left out")
	names(&o.Without, "without", "leave out these options")
	c.Flags.String(&o.name, "name", "TOOL", "the name of the tool; default: derived from the command line")
	c.Flags.Bool(&o.subcommands, "subcommands", "create a tool for each command of the program that has a recipe")
	names(&o.commands, "commands", "of the program's commands, only these; implies --subcommands")
	c.Flags.Bool(&o.draft, "draft", "write a recipe of the program's help into recipes/, for you to complete")
	c.Flags.Bool(&o.prompt, "prompt", "print what a coding agent needs to write a recipe: help, manual, schema, rules")
	c.Flags.Bool(&o.check, "check", "with --recipe: run its examples with the real program, and write nothing")
	c.Flags.Bool(&o.update, "update", "update wrapped tools, and keep changes made by hand")
	c.Flags.Bool(&o.Force, "force", "replace an existing tool; with --update, do not ask")
	c.Flags.Bool(&o.DryRun, "dry-run", "show what would be written, and write nothing")
	o.addTo(c, "print the arguments of the tools, or the list, as JSON")
	return c
}

func checkWrap(o *wrapOptions, words []string) error {
	if err := scaffold.CheckWords(words); err != nil {
		return err
	}
	switch {
	case len(words) == 0 && !o.update && o.recipe == "" && !o.list:
		return cli.Usagef("COMMAND is missing")
	case o.name != "" && (o.subcommands || o.update):
		return cli.Usagef("--name is for one new tool")
	case o.update && o.subcommands:
		return cli.Usagef("--update and --subcommands exclude each other")
	case o.draft && (len(words) == 0 || o.update || o.subcommands || o.recipe != "" || o.json || o.DryRun):
		return cli.Usagef("--draft takes one command line, --force and --project-root")
	case o.prompt && (len(words) == 0 || o.draft || o.update || o.subcommands || o.recipe != "" || o.json || o.DryRun):
		return cli.Usagef("--prompt takes one command line and --project-root")
	case o.check && (o.recipe == "" || o.Force || o.DryRun || o.name != ""):
		return cli.Usagef("--check takes --recipe FILE, --directory, --json and --project-root")
	case o.recipe != "" && (o.noRecipe || o.update || o.subcommands):
		return cli.Usagef("--recipe is for one new tool")
	}
	return nil
}

// runWrap creates tools for a program.
func runWrap(s cli.Streams, o *wrapOptions, words []string) error {
	o.subcommands = o.subcommands || len(o.commands) > 0
	if err := checkWrap(o, words); err != nil {
		return err
	}
	if o.list {
		return listRecipes(s, words, o.json)
	}
	return o.inProject(s, func(ctx context.Context, p *project.Project) error {
		w := &wrapper{s: s, o: o, p: p, ask: ask.New(os.Getenv("PATH")), versions: map[string]string{},
			warn: warner(s, "wrap")}
		switch {
		case o.check:
			return w.check(ctx, words)
		case o.prompt:
			return w.prompt(ctx, words)
		case o.draft:
			return w.draft(ctx, words)
		case o.update:
			return w.update(ctx, words)
		}
		tools, err := w.tools(ctx, words)
		if err != nil {
			return err
		}
		made, err := scaffold.Wrap(ctx, p, tools, o.WrapOptions, w.warn)
		if err != nil {
			return err
		}
		return w.printTools(tools, made)
	})
}

type wrapper struct {
	s        cli.Streams
	o        *wrapOptions
	p        *project.Project
	ask      *ask.Asker
	versions map[string]string // of programs, by command line
	warn     func(text string)
}

// tools makes a tool for the program, for each of its commands, or for each target of a task runner.
func (w *wrapper) tools(ctx context.Context, words []string) ([]*wrap.Tool, error) {
	for _, make := range []func(context.Context, []string) ([]*wrap.Tool, error){w.targets, w.recipes, w.helps} {
		if tools, err := make(ctx, words); err != nil || len(tools) > 0 {
			return tools, err
		}
	}
	return nil, nil
}

// tool makes a tool from a recipe. For several tools or an update, the selection may name arguments of other tools.
func (w *wrapper) tool(r *recipe.Recipe, from wrap.Source, words []string, file, name string) (*wrap.Tool, error) {
	return scaffold.NewTool(w.p, r, from, words, file, name, w.selection(r, from.Runner))
}

func (w *wrapper) selection(r *recipe.Recipe, isTarget bool) wrap.Selection {
	if w.o.subcommands || w.o.update || isTarget {
		return w.o.Selection.For(r)
	}
	return w.o.Selection
}

func noProgram(name string) error {
	return cli.Failf(cli.CodeNotFound, "%s: no such program on PATH; install it, or use its path", name)
}

// printTools prints the tools that were created, and the options that were left out.
func (w *wrapper) printTools(tools []*wrap.Tool, made []*scaffold.Item) error {
	if w.o.json {
		list := []json.RawMessage{}
		for i, tool := range tools {
			list = append(list, toolObject(tool, struct {
				Name    string   `json:"name"`
				Command []string `json:"command"`
				Path    string   `json:"path"`
				Files   []string `json:"files"`
			}{tool.Name, tool.Words, made[i].Path, made[i].Files}))
		}
		return printJSON(w.s, map[string]any{"tools": list}, w.o.DryRun)
	}
	done := "Wrapped"
	if w.o.DryRun {
		done = "Would wrap"
	}
	for i, tool := range tools {
		if w.o.DryRun {
			tool.Table().Print(w.s.Out)
		}
		cli.Printf(w.s.Out, "%s %s at %s: %d arguments, from %s\n", done, strings.Join(tool.Words, " "), made[i].Path,
			tool.Arguments(), origin(tool.Source))
		var names []string
		for _, l := range tool.LeftOut {
			names = append(names, strings.Split(l.Option, ", ")[0])
		}
		if len(names) > 0 {
			cli.Printf(w.s.Out, "  left out: %s\n", strings.Join(names, " "))
		}
		for _, r := range tool.Review {
			cli.Printf(w.s.Out, "  review: %s\n", r)
		}
	}
	if w.o.DryRun || len(tools) == 0 {
		return nil
	}
	cli.Printf(w.s.Out, "\nNext steps:\n  read %s, which explains why options were left out\n"+
		"  mcp-bash test\n", filepath.Join("tools", tools[0].Name, "README.md"))
	return nil
}

// origin describes the source of a tool. For a recipe, it adds how to avoid the recipe.
func origin(s wrap.Source) string {
	text := s.String()
	if s.Version != "" {
		text += " for version " + s.Version
	}
	if s.File != "" && !s.Runner {
		text += " (--no-recipe reads its help instead)"
	}
	return text
}

// update updates tools that were wrapped before.
func (w *wrapper) update(ctx context.Context, names []string) error {
	tools, err := scaffold.WrappedTools(w.p, names)
	if err != nil {
		return err
	}
	return w.updateAll(ctx, tools)
}

func (w *wrapper) updateAll(ctx context.Context, tools []*scaffold.Wrapped) error {
	var updates []*scaffold.Update
	for _, old := range tools {
		c := old.Complete(w.o.Selection)
		tool, err := w.again(ctx, old, c)
		var failure *cli.Error
		switch {
		case errors.As(err, &failure) && (failure.Code == cli.CodeNotFound || failure.Code == cli.CodeInvalid):
			w.warn(fmt.Sprintf("%s is not updated: %v", old.Name, err))
			continue
		case err != nil:
			return err
		}
		u, err := old.Compare(w.p, tool, c)
		if err != nil {
			return err
		}
		if !u.Needed() {
			w.printf("%s is up to date\n", old.Name)
			continue
		}
		updates = append(updates, u)
	}
	changes := 0
	for _, u := range updates {
		changes += len(u.Changes)
		w.show(u)
	}
	done := "Would update"
	if !w.o.DryRun && len(updates) > 0 {
		if changes > 0 && !w.o.Force {
			if err := w.o.confirm(ctx, w.s, "Write this?", "written"); err != nil {
				return err
			}
		}
		if err := scaffold.Apply(ctx, w.p, updates); err != nil {
			return err
		}
		done = "Updated"
	}
	for _, u := range updates {
		w.printf("%s %s\n", done, u.Tool.Name)
	}
	if w.o.json {
		return printJSON(w.s, updateResult(updates), w.o.DryRun)
	}
	return nil
}

// again makes a tool from the source that it was made from: its script, recipe, target, or the program's help.
func (w *wrapper) again(ctx context.Context, old *scaffold.Wrapped, s wrap.Selection) (*wrap.Tool, error) {
	if old.Script != "" {
		return scaffold.AdoptAgain(ctx, w.p, old)
	}
	same, o := *w, *w.o
	same.o = &o
	o.Selection, o.name, o.noRecipe = s, old.Name, o.noRecipe || old.Recipe == ""
	if isTarget(old) {
		o.directory = filepath.Dir(w.resolved(old.Recipe))
	} else {
		o.recipe = old.Recipe
	}
	tools, err := same.tools(ctx, old.Command)
	if err != nil {
		return nil, err
	}
	return tools[0], nil
}

// printf prints text for people. With --json, standard output only has the JSON object.
func (w *wrapper) printf(format string, args ...any) {
	if !w.o.json {
		cli.Printf(w.s.Out, format, args...)
	}
}

// show prints the changes, and a warning for each conflict with a person's change, which is kept.
func (w *wrapper) show(u *scaffold.Update) {
	for _, c := range u.Changes {
		if c.Conflicts > 0 {
			w.warn(fmt.Sprintf("%s: you and the program both changed %d parts; your changes are kept", c.Path, c.Conflicts))
		}
		if c.Before != c.After {
			w.printf("%s", diff.Diff(c.Path, []byte(c.Before), c.Path+" (new)", []byte(c.After)))
		}
	}
}

// updateResult returns the updates for programs.
func updateResult(updates []*scaffold.Update) any {
	list := []json.RawMessage{}
	for _, u := range updates {
		list = append(list, toolObject(u.Tool, struct {
			Name  string            `json:"name"`
			Files []scaffold.Change `json:"files"`
		}{u.Tool.Name, u.Changes}))
	}
	return map[string]any{"updated": list}
}

// targets makes a tool from each target of a task runner's project file, or from the targets that words name. It makes
// none for any other command line.
func (w *wrapper) targets(ctx context.Context, words []string) (tools []*wrap.Tool, err error) {
	if len(words) == 0 || w.o.noRecipe || w.o.recipe != "" || w.o.subcommands {
		return nil, nil
	}
	runner := runners.Of(filepath.Base(words[0]))
	if runner == nil {
		return nil, nil
	}
	own, err := library().Of(runner.Program) // recipes for the commands of the runner itself, such as npm ls
	if err != nil {
		return nil, err
	}
	hasOwn := len(own) > 0 && !w.o.update
	directory := cmp.Or(w.o.directory, ".")
	file := runner.Find(directory)
	switch {
	case file == "" && hasOwn:
		return nil, nil
	case file == "":
		return nil, cli.Failf(cli.CodeNotFound, "%s has no %s; --directory names another folder, and --no-recipe reads the "+
			"help of %s", directory, strings.Join(runner.Files, ", "), runner.Program)
	}
	all, err := w.readTargets(ctx, runner, words[0], file)
	if err != nil {
		return nil, err
	}
	from := wrap.Source{File: w.recordedPath(file), Runner: true}
	for _, name := range words[1:] {
		switch {
		case hasTarget(all, name):
		case hasOwn:
			return nil, nil
		default:
			return nil, cli.Failf(cli.CodeNotFound, "%s has no %s %s", from.File, runner.Noun, cli.Line(name))
		}
	}
	some, err := w.selected(all, words[1:])
	if err != nil {
		return nil, err
	}
	if w.o.name != "" && len(some) != 1 {
		return nil, cli.Usagef("--name is for one new tool, and %s has %d of them", file, len(some))
	}
	taken := map[string]bool{}
	for _, target := range some {
		name := cmp.Or(w.o.name, toolnames.Unique(scaffold.ToolName(named([]string{words[0], target.Name})), taken))
		tool, err := w.tool(target.Recipe, from, words[:1], w.ask.Find(words[0]), name)
		if err != nil {
			return nil, err
		}
		tool.Words = []string{words[0], target.Name}
		tools = append(tools, tool)
	}
	return tools, nil
}

// isTarget reports whether a tool was made from a target.
func isTarget(old *scaffold.Wrapped) bool {
	runner := runners.Of(filepath.Base(old.Command[0]))
	return runner != nil && len(old.Command) == 2 && slices.Contains(runner.Files, filepath.Base(old.Recipe))
}

func (w *wrapper) readTargets(ctx context.Context, runner *runners.Runner, program, file string) ([]runners.Target,
	error) {
	at := w.ask.Find(program)
	if at == "" {
		return nil, noProgram(program)
	}
	physical, err := fsys.Physical(file)
	if err != nil {
		return nil, err
	}
	dir := w.recordedPath(filepath.Dir(physical)) // tools start in the project's root
	if dir == "./." {
		dir = "."
	}
	all, skipped, err := runner.Read(runners.Source{File: physical, Dir: dir,
		Print: func(words ...string) ([]byte, error) { return w.ask.Output(ctx, at, words) }})
	if err != nil {
		return nil, cli.Failf(cli.CodeInvalid, "%s: %v", program, err)
	}
	for _, s := range skipped {
		w.warn(fmt.Sprintf("%s is left out: %s", cli.Line(s.Name), s.Why))
	}
	if len(all) == 0 {
		return nil, cli.Failf(cli.CodeInvalid, "%s has no %s that can become a tool", file, runner.Noun)
	}
	return all, nil
}

func hasTarget(all []runners.Target, name string) bool {
	return slices.ContainsFunc(all, func(t runners.Target) bool { return t.Name == name })
}

// selected returns the targets with these names, or all. --only and --without can name targets, too.
func (w *wrapper) selected(all []runners.Target, names []string) ([]runners.Target, error) {
	isTarget := func(name string) bool { return hasTarget(all, name) }
	some := slices.DeleteFunc(slices.Clone(all), func(t runners.Target) bool {
		picked := slices.Contains(names, t.Name) || slices.Contains(w.o.Only, t.Name)
		return !picked && (len(names) > 0 || slices.ContainsFunc(w.o.Only, isTarget)) || slices.Contains(w.o.Without, t.Name)
	})
	if len(some) == 0 {
		return nil, cli.Usagef("--without leaves out every target")
	}
	w.o.Only = slices.DeleteFunc(slices.Clone(w.o.Only), isTarget)
	w.o.Without = slices.DeleteFunc(slices.Clone(w.o.Without), isTarget)
	for _, name := range slices.Concat(w.o.Only, w.o.Without) {
		if !slices.ContainsFunc(some, func(t runners.Target) bool { return wrap.Has(t.Recipe, name) }) {
			return nil, cli.Usagef("%s is neither a target nor an argument", cli.Line(name))
		}
	}
	return some, nil
}
