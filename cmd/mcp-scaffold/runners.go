package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/runners"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/pkg/text/toolnames"
)

// targets makes a tool of each target of a task runner's project file, or of the targets that words
// name. It makes none if words are about something else (WRAP-80).
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

// isTarget reports whether a tool was made of a target.
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
