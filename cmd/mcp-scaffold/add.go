package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/adopt"
	"mcp-bash/pkg/scaffold/wrap"
)

// addOptions are the options of add, and of init and new with --from.
type addOptions struct {
	common
	scaffold.AdoptOptions
	update, noTrial bool
}

func addCommand() *cli.Command {
	o := &addOptions{}
	c := &cli.Command{
		Name:    "add",
		Summary: "Make tools of scripts. A tool has the script's options and operands as arguments.",
		Usage:   "SCRIPT_OR_FOLDER ...",
		Examples: []cli.Example{
			{Line: "NAME ~/scripts/backup.sh", Purpose: "the tool backup, which starts that script"},
			{Line: "NAME ~/scripts --dry-run", Purpose: "show the tools of a folder, and write nothing"},
			{Line: "NAME ~/scripts --copy", Purpose: "with copies in the project, for bundles"},
			{Line: "NAME --update", Purpose: "follow changes of the scripts; your changes are kept"},
		},
		Operands: []cli.Operand{{Name: "[SCRIPT_OR_FOLDER...]"}},
		Text: "Scripts of Bash and sh are read, never run: options, operands, variables, programs and files. Other scripts " +
			"get one argument with a list of words. Each tool is confined to what its script shows. Uncertain points " +
			"are listed. At the end, each tool with a call that changes nothing, such as --help, makes it.",
		Exits: exits,
		Run:   func(s cli.Streams, operands []string) error { return addScripts(s, o, operands) },
	}
	c.Flags.Bool(&o.Copy, "copy", "copy the scripts to scripts/ of the project")
	c.Flags.Bool(&o.Ask, "ask", "let the user of the client answer the questions of scripts")
	c.Flags.Bool(&o.update, "update", "make tools of scripts again, the named ones or all, and keep your changes")
	c.Flags.Bool(&o.Force, "force", "replace existing tools; with --update, do not ask")
	c.Flags.Bool(&o.DryRun, "dry-run", "show what would be written, and write nothing")
	c.Flags.Bool(&o.noTrial, "no-trial", noTrial)
	o.addTo(c, jsonHelp)
	return c
}

// addScripts makes tools from scripts and from folders of scripts. With --update it makes them again.
func addScripts(s cli.Streams, o *addOptions, operands []string) error {
	switch {
	case o.update && o.Copy:
		return cli.Usagef("--update and --copy exclude each other")
	case o.update:
		return o.inProject(s, func(ctx context.Context, p *project.Project) error {
			return updateScripts(ctx, s, o, p, operands)
		})
	case len(operands) == 0:
		return cli.Usagef("Give a script, or a folder of scripts")
	}
	o.LeaveExisting = true
	var folders []*adopt.Folder
	for _, operand := range operands {
		folder, err := lookAt(operand)
		if err != nil {
			return err
		}
		folders = append(folders, folder)
	}
	return o.inProject(s, func(ctx context.Context, p *project.Project) error {
		return adoptAll(ctx, s, o, p, folders)
	})
}

// updateScripts makes tools from scripts again.
func updateScripts(ctx context.Context, s cli.Streams, o *addOptions, p *project.Project, names []string) error {
	tools, err := scaffold.WrappedTools(p, names)
	if err != nil {
		return err
	}
	tools = slices.DeleteFunc(tools, func(w *scaffold.Wrapped) bool { return w.Script == "" })
	if len(tools) == 0 {
		return cli.Failf(cli.CodeNotFound, "no such tool was made of a script; begin with: mcp-bash add SCRIPT")
	}
	w := &wrapper{s: s, o: &wrapOptions{common: o.common}, p: p}
	w.o.Force, w.o.DryRun = o.Force, o.DryRun
	return w.updateAll(ctx, tools)
}

// lookAt reads the folder or the script that an operand names. It returns an error if no tool can be made of it.
func lookAt(operand string) (*adopt.Folder, error) {
	name, err := fsys.Named(operand, os.Getenv("HOME"))
	if err != nil {
		return nil, cli.Usagef("%s: %v", operand, err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, cli.Failf(cli.CodeNotFound, "%s: %v", operand, fsys.Cause(err))
	}
	look := adopt.LookAt
	if info.IsDir() {
		look = adopt.Look
	}
	folder, err := look(name)
	if err != nil {
		return nil, cli.Failf(cli.CodeInvalid, "%s: %v", operand, fsys.Cause(err))
	}
	if len(folder.Scripts) > 0 {
		return folder, nil
	}
	if !info.IsDir() && len(folder.LeftOut) == 0 {
		return nil, cli.Failf(cli.CodeInvalid, "%s: not a script: it has neither a first line such as "+
			"#!/usr/bin/env bash, nor the ending .sh; for a program, use mcp-bash wrap", operand)
	}
	var reasons strings.Builder
	for _, l := range folder.LeftOut {
		cli.Printf(&reasons, "\n  %s: %s", l.Path, l.Reason)
		if l.Remedy != "" {
			cli.Printf(&reasons, "\n    %s", l.Remedy)
		}
	}
	return nil, cli.Failf(cli.CodeInvalid, "%s: no script that can become a tool%s", operand, cli.Lines(reasons.String()))
}

const noTrial = "leave out the trial at the end: a call of each tool that changes nothing, such as --help"

// An adoption has the tools that were made from one folder, with the outcomes of their trials.
type adoption struct {
	*scaffold.Adopted
	trials []scaffold.Verdict // one for each tool; nil: there were no trials
}

// adoptAll makes tools from some folders, tries them, and prints the result.
func adoptAll(ctx context.Context, s cli.Streams, o *addOptions, p *project.Project, folders []*adopt.Folder) error {
	tries := !o.noTrial && !o.DryRun
	if tries && !o.json && onTerminal(s) {
		o.Confirm = func(names []string) bool {
			cli.Printf(s.Out, "These scripts seem to change nothing without arguments: %s\n", strings.Join(names, ", "))
			return cli.Confirm(ctx, s, s.Out, "Try them so, confined, without writing?")
		}
	}
	var list []*adoption
	existing := 0
	for _, folder := range folders {
		options := o.AdoptOptions
		options.LeaveExisting = o.LeaveExisting && len(folders)+len(folder.Scripts) > 2 // one script is an error
		made, err := scaffold.Adopt(ctx, p, folder, options, warner(s, "add"))
		if err != nil {
			return err
		}
		list = append(list, &adoption{Adopted: made})
		existing += made.Existing
	}
	for _, made := range list {
		if tries {
			made.try(ctx, p)
		}
		if !o.json {
			made.print(s, o)
		}
	}
	if o.json {
		if err := printResult(s, existing == 0, adoptedResult(o, list), o.DryRun); err != nil {
			return err
		}
	}
	if existing > 0 {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// try makes the trials of the tools that declare one. A failed trial does not fail the command, because the tools
// exist.
func (a *adoption) try(ctx context.Context, p *project.Project) {
	a.trials = make([]scaffold.Verdict, len(a.Tools))
	var names []string
	for i, t := range a.Tools {
		if a.trials[i] = (scaffold.Verdict{Status: scaffold.NotTried, Reason: a.Untried[i]}); t.Trial != nil {
			names = append(names, t.Name)
		}
	}
	made := scaffold.Try(ctx, p, names)
	for i, t := range a.Tools {
		if t.Trial != nil {
			a.trials[i], made = made[0], made[1:]
		}
	}
}

// print prints the tools of a folder, what was left out, and what a person should check.
func (a *adoption) print(s cli.Streams, o *addOptions) {
	done := "Made"
	if o.DryRun {
		done = "Would make"
	}
	cli.Printf(s.Out, "%s %s of %s\n", done, plural(len(a.Tools), "tool"), a.Folder.Dir)
	a.printTools(s)
	a.printTrials(s)
	leftOut := section{out: s.Out, title: "Left out"}
	for _, l := range a.Folder.LeftOut {
		leftOut.add("%s: %s\n", l.Path, l.Reason)
		if l.Remedy != "" {
			leftOut.add("  %s\n", l.Remedy)
		}
	}
	if a.Folder.Others > 0 {
		cli.Printf(s.Out, "\nNot a script, or part of one: %s\n", plural(a.Folder.Others, "other file"))
	}
	check := section{out: s.Out, title: "To check"}
	for _, found := range a.Folder.Scripts {
		for _, note := range found.Notes(o.Ask) {
			place := found.Path
			if note.Line > 0 {
				place = fmt.Sprintf("%s:%d", place, note.Line)
			}
			check.add("%s: %s\n", place, note.Text)
		}
	}
	if len(a.Variables) > 0 {
		cli.Printf(s.Out, "\nVariables that reach the tools (server.d/server.meta.json): %s\n",
			strings.Join(a.Variables, " "))
	}
}

// printTools prints the table of the tools.
func (a *adoption) printTools(s cli.Streams) {
	rows, required := cli.Table{{"tool", "script", "trial", "arguments"}}, false
	for i, t := range a.Tools {
		found, mark := a.Folder.Scripts[i], ""
		if a.trials != nil {
			mark = map[string]string{scaffold.Failed: "✗", scaffold.NotTried: "-"}[a.trials[i].Status]
			mark = cmp.Or(mark, "✓")
		}
		var names []string
		for _, a := range t.Recipe.Properties() {
			name := a.Name
			if a.Required {
				name, required = name+"*", true
			}
			names = append(names, name)
		}
		rows = append(rows, []string{t.Name, found.Path, mark, strings.Join(names, " ")})
	}
	if a.trials == nil {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 2, 3)
		}
	}
	if len(a.Tools) > 0 {
		cli.Printf(s.Out, "\n")
		rows.Print(s.Out)
	}
	if required {
		cli.Printf(s.Out, "\n* required\n")
	}
}

// printTrials lists why tools failed or were not tried.
func (a *adoption) printTrials(s cli.Streams) {
	untried := map[string][]string{}
	failed := section{out: s.Out, title: "Failed"}
	for i, v := range a.trials {
		switch name := a.Tools[i].Name; v.Status {
		case scaffold.NotTried:
			untried[v.Reason] = append(untried[v.Reason], name)
		case scaffold.Failed:
			failed.add("%s: %s: %s\n", name, v.Call, v.Reason)
			if v.Remedy != "" {
				failed.add("  %s\n", v.Remedy)
			}
		}
	}
	notTried := section{out: s.Out, title: "Not tried"}
	for _, reason := range slices.Sorted(maps.Keys(untried)) {
		notTried.add("%s: %s\n", strings.Join(untried[reason], ", "), reason)
	}
}

// A section is a part of the result with a title, which is printed before the first line.
type section struct {
	out    io.Writer
	title  string
	headed bool
}

func (p *section) add(format string, args ...any) {
	if !p.headed {
		cli.Printf(p.out, "\n%s:\n", p.title)
	}
	p.headed = true
	cli.Printf(p.out, "  "+format, args...)
}

// plural returns a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// An adoptedTool describes a tool that was made from a script, for --json.
type adoptedTool struct {
	Name   string            `json:"name"`
	Script string            `json:"script"`
	Path   string            `json:"path"`
	Files  []string          `json:"files"`
	Notes  []adopt.Note      `json:"notes"`
	Trial  *scaffold.Verdict `json:"trial,omitempty"`
}

// adoptedResult returns the content of [adoption.print] for programs.
func adoptedResult(o *addOptions, list []*adoption) any {
	var result struct {
		Tools     []json.RawMessage `json:"tools"`
		LeftOut   []adopt.LeftOut   `json:"leftOut"`
		Variables []string          `json:"variables"`
	}
	result.Tools, result.LeftOut, result.Variables = []json.RawMessage{}, []adopt.LeftOut{}, []string{}
	for _, made := range list {
		for i, t := range made.Tools {
			found := made.Folder.Scripts[i]
			members := adoptedTool{t.Name, filepath.Join(made.Folder.Dir, found.Path), made.Items[i].Path,
				made.Items[i].Files, append([]adopt.Note{}, found.Notes(o.Ask)...), nil}
			if made.trials != nil {
				members.Trial = &made.trials[i]
			}
			result.Tools = append(result.Tools, toolObject(t, members))
		}
		for _, l := range made.Folder.LeftOut {
			l.Path = filepath.Join(made.Folder.Dir, l.Path)
			result.LeftOut = append(result.LeftOut, l)
		}
		result.Variables = append(result.Variables, made.Variables...)
	}
	slices.Sort(result.Variables)
	result.Variables = slices.Compact(result.Variables)
	return result
}

// toolObject returns an object with some members, and the members that describe the recipe of a tool.
func toolObject(t *wrap.Tool, members any) json.RawMessage {
	var b rawjson.Builder
	b.Object().Members(encoded(members))
	t.AppendJSON(&b)
	return b.End().Bytes()
}
