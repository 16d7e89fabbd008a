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
)

// targets makes a tool of each target of a task runner's project file, or of the targets that words
// name. It returns none if words are about something else (WRAP-80).
func (w *wrapper) targets(ctx context.Context, words []string) ([]*wrap.Tool, error) {
	if len(words) == 0 || w.o.noRecipe || w.o.recipe != "" || w.o.subcommands {
		return nil, nil
	}
	runner := runners.Of(filepath.Base(words[0]))
	if runner == nil {
		return nil, nil
	}
	own, err := library().Of(runner.Program) // recipes for the commands of the runner itself
	if err != nil {
		return nil, err
	}
	directory := cmp.Or(w.o.directory, ".")
	file := runner.Find(directory)
	if file == "" {
		if len(own) > 0 {
			return nil, nil
		}
		return nil, cli.Failf(cli.CodeNotFound, "%s has no %s; --directory names another folder, and --no-recipe reads the "+
			"help of %s", directory, strings.Join(runner.Files, ", "), runner.Program)
	}
	all, err := w.readTargets(ctx, runner, words[0], file)
	if err != nil {
		return nil, err
	}
	for _, name := range words[1:] {
		switch {
		case hasTarget(all, name):
		case len(own) > 0: // npm ls
			return nil, nil
		default:
			return nil, cli.Failf(cli.CodeNotFound, "%s has no %s %s", file, runner.Noun, cli.Line(name))
		}
	}
	some, err := w.selected(all, words[1:])
	if err != nil {
		return nil, err
	}
	if w.o.name != "" && len(some) != 1 {
		return nil, cli.Usagef("--name is for one new tool, and %s has %d of them", file, len(some))
	}
	return w.toolsOf(some, words[0], file)
}

func (w *wrapper) readTargets(ctx context.Context, runner *runners.Runner, program, file string) ([]runners.Target,
	error) {
	at := w.ask.Find(program)
	if at == "" {
		return nil, noProgram(program)
	}
	abs, err := filepath.Abs(file)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(abs)
	if fsys.Within(w.p.Root, dir) { // tools start in the project's root
		if dir = "./" + relative(w.p.Root, dir); dir == "./." {
			dir = "."
		}
	}
	all, skipped, err := runner.Read(runners.Source{File: abs, Dir: dir,
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

func relative(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

func hasTarget(all []runners.Target, name string) bool {
	return slices.ContainsFunc(all, func(t runners.Target) bool { return t.Name == name })
}

// selected returns the targets with these names, or all. --only and --without can name targets, too.
func (w *wrapper) selected(all []runners.Target, names []string) ([]runners.Target, error) {
	without := []string{}
	split := func(list []string, targets *[]string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(name string) bool {
			if hasTarget(all, name) {
				*targets = append(*targets, name)
				return true
			}
			return false
		})
	}
	names = slices.Clone(names)
	w.o.Only, w.o.Without = split(w.o.Only, &names), split(w.o.Without, &without)
	some := slices.DeleteFunc(slices.Clone(all), func(t runners.Target) bool {
		return len(names) > 0 && !slices.Contains(names, t.Name) || slices.Contains(without, t.Name)
	})
	if len(some) == 0 {
		return nil, cli.Usagef("--without leaves out every target")
	}
	for _, name := range append(slices.Clone(w.o.Only), w.o.Without...) {
		if !slices.ContainsFunc(some, func(t runners.Target) bool { return wrap.Has(t.Recipe, name) }) {
			return nil, cli.Usagef("%s is neither a target nor an argument", cli.Line(name))
		}
	}
	return some, nil
}

func (w *wrapper) toolsOf(targets []runners.Target, program, file string) (list []*wrap.Tool, err error) {
	names := map[string]bool{}
	for _, target := range targets {
		name := w.o.name
		if name == "" {
			name = freeName(scaffold.ToolName([]string{filepath.Base(program), target.Name}), names)
		}
		tool, err := w.toolOf(target, program, file, name, w.o.Selection)
		if err != nil {
			return nil, err
		}
		list = append(list, tool)
	}
	return list, nil
}

// freeName returns the name of a tool, with a number if another target has it.
func freeName(name string, taken map[string]bool) string {
	const maxName = 60
	name = strings.Trim(name[:min(len(name), maxName)], "-")
	free := name
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	taken[free] = true
	return free
}

func (w *wrapper) toolOf(target runners.Target, program, file, name string, s wrap.Selection) (*wrap.Tool, error) {
	from := wrap.Source{File: w.recordedPath(file), Runner: true}
	tool, err := scaffold.NewTool(w.p, target.Recipe, from, []string{program}, w.ask.Find(program), name,
		s.For(target.Recipe))
	if err != nil {
		return nil, err
	}
	tool.Words = []string{program, target.Name}
	return tool, nil
}

// targetAgain makes the tool of a target that was wrapped before. It returns nil for other tools.
func (w *wrapper) targetAgain(ctx context.Context, old *scaffold.Wrapped, s wrap.Selection) (*wrap.Tool, error) {
	runner := runners.Of(filepath.Base(old.Command[0]))
	if runner == nil || len(old.Command) != 2 || !slices.Contains(runner.Files, filepath.Base(old.Recipe)) {
		return nil, nil
	}
	file := w.resolved(old.Recipe)
	all, err := w.readTargets(ctx, runner, old.Command[0], file)
	if err != nil {
		return nil, err
	}
	for _, target := range all {
		if target.Name == old.Command[1] {
			return w.toolOf(target, old.Command[0], file, old.Name, s)
		}
	}
	return nil, cli.Failf(cli.CodeNotFound, "%s has no %s %s", old.Recipe, runner.Noun, old.Command[1])
}
