package main

import (
	"cmp"
	"context"
	"fmt"
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
)

// addOptions are the options of add, and of init and new with --from.
type addOptions struct {
	scaffold.AdoptOptions
	projectRoot           string
	update, json, noTrial bool
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
	c.Flags.ProjectRoot(&o.projectRoot)
	c.Flags.Bool(&o.json, "json", "print the result as JSON; errors, too")
	return c
}

// addScripts makes tools of scripts and of folders of scripts.
func addScripts(s cli.Streams, o *addOptions, operands []string) error {
	ctx, stop := cli.UntilSignal()
	defer stop()
	if o.update {
		return interrupted(ctx, updateScripts(ctx, s, o, operands))
	}
	if len(operands) == 0 {
		return cli.Usagef("Give a script, or a folder of scripts")
	}
	var folders []*adopt.Folder
	for _, operand := range operands {
		folder, err := lookAt(operand)
		if err != nil {
			return err
		}
		folders = append(folders, folder)
	}
	p, err := scaffold.Open(o.projectRoot, s.Notice)
	if err != nil {
		return err
	}
	return interrupted(ctx, adoptAll(ctx, s, o, p, folders))
}

// updateScripts makes tools of scripts again (ADD-5).
func updateScripts(ctx context.Context, s cli.Streams, o *addOptions, names []string) error {
	if o.Copy {
		return cli.Usagef("--update and --copy exclude each other")
	}
	p, err := scaffold.Open(o.projectRoot, s.Notice)
	if err != nil {
		return err
	}
	tools, err := scaffold.WrappedTools(p, names)
	if err != nil {
		return err
	}
	tools = slices.DeleteFunc(tools, func(w *scaffold.Wrapped) bool { return w.Script == "" })
	if len(tools) == 0 {
		return cli.Failf(cli.CodeNotFound, "no such tool was made of a script; begin with: mcp-bash add SCRIPT")
	}
	w := &wrapper{s: s, o: &wrapOptions{json: o.json}, p: p}
	w.o.Force, w.o.DryRun = o.Force, o.DryRun
	return w.updateAll(ctx, tools)
}

// lookAt reads a folder, or the one script that an operand names.
func lookAt(operand string) (*adopt.Folder, error) {
	name, err := fsys.Named(operand, os.Getenv("HOME"))
	if err != nil {
		return nil, cli.Usagef("%s: %v", operand, err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, cli.Failf(cli.CodeNotFound, "%s: %v", operand, fsys.Cause(err))
	}
	if info.IsDir() {
		folder, err := adopt.Look(name)
		if err != nil {
			return nil, cli.Failf(cli.CodeInvalid, "%s: %v", operand, fsys.Cause(err))
		}
		return folder, nil
	}
	folder, err := adopt.LookAt(name)
	if err != nil {
		return nil, cli.Failf(cli.CodeInvalid, "%s: %v", operand, fsys.Cause(err))
	}
	if len(folder.Scripts) == 0 && len(folder.LeftOut) == 0 {
		return nil, cli.Failf(cli.CodeInvalid, "%s: not a script: it has neither a first line such as "+
			"#!/usr/bin/env bash, nor the ending .sh; for a program, use mcp-bash wrap", operand)
	}
	return folder, nil
}

const noTrial = "leave out the trial at the end: a call of each tool that changes nothing, such as --help"

// An adoption is what became of one folder, with the outcomes of the trials.
type adoption struct {
	*scaffold.Adopted
	trials []scaffold.Verdict // one for each tool; nil: they were left out
}

// adoptAll makes the tools of some folders, tries them, and prints the result.
func adoptAll(ctx context.Context, s cli.Streams, o *addOptions, p *project.Project, folders []*adopt.Folder) error {
	if !o.json && !o.noTrial && !o.DryRun && cli.IsTerminal(s.In) && cli.IsTerminal(s.Out) {
		o.Confirm = func(names []string) bool { return confirmTrials(ctx, s, names) }
	}
	var list []*adoption
	for _, folder := range folders {
		made, err := scaffold.Adopt(ctx, p, folder, o.AdoptOptions, func(text string) {
			cli.Printf(s.Err, "add: warning: %s\n", text)
		})
		if err != nil {
			return err
		}
		list = append(list, &adoption{Adopted: made})
	}
	if !o.DryRun && !o.noTrial {
		for _, made := range list {
			made.try(ctx, p)
		}
	}
	if o.json {
		return printAdoptedJSON(s, o, list)
	}
	for _, made := range list {
		printAdopted(s, o, made)
	}
	return nil
}

// confirmTrials asks whether to try tools that have no other trial.
func confirmTrials(ctx context.Context, s cli.Streams, names []string) bool {
	cli.Printf(s.Out, "These scripts seem to change nothing without arguments: %s\n", strings.Join(names, ", "))
	return cli.Confirm(ctx, s, s.Out, "Try them so, confined, without writing?")
}

// try makes the trials of the tools that have one. They cannot fail the command, because the tools are there (ADD-51).
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

// printTrials lists why tools failed or were not tried.
func (a *adoption) printTrials(s cli.Streams) {
	untried := map[string][]string{}
	headed := false
	for i, v := range a.trials {
		switch v.Status {
		case scaffold.NotTried:
			untried[v.Reason] = append(untried[v.Reason], a.Tools[i].Name)
		case scaffold.Failed:
			if !headed {
				cli.Printf(s.Out, "\nFailed:\n")
				headed = true
			}
			cli.Printf(s.Out, "  %s: %s: %s\n", a.Tools[i].Name, v.Call, v.Reason)
			if v.Remedy != "" {
				cli.Printf(s.Out, "    %s\n", v.Remedy)
			}
		}
	}
	if len(untried) > 0 {
		cli.Printf(s.Out, "\nNot tried:\n")
	}
	for _, reason := range slices.Sorted(maps.Keys(untried)) {
		cli.Printf(s.Out, "  %s: %s\n", strings.Join(untried[reason], ", "), reason)
	}
}

// printAdopted prints the tools of a folder, what was left out, and what a person should check.
func printAdopted(s cli.Streams, o *addOptions, made *adoption) {
	done := "Made"
	if o.DryRun {
		done = "Would make"
	}
	cli.Printf(s.Out, "%s %s of %s\n\n", done, plural(len(made.Tools), "tool"), made.Folder.Dir)
	rows, required := cli.Table{{"tool", "script", "trial", "arguments"}}, false
	if made.trials == nil {
		rows[0] = slices.Delete(rows[0], 2, 3)
	}
	for i, tool := range made.Tools {
		row := []string{tool.Name, made.Folder.Scripts[i].Path}
		if made.trials != nil {
			mark := map[string]string{scaffold.Failed: "✗", scaffold.NotTried: "-"}[made.trials[i].Status]
			row = append(row, cmp.Or(mark, "✓"))
		}
		var names []string
		for _, a := range made.Folder.Scripts[i].Says.Arguments {
			name := a.Name
			if a.Required {
				name, required = name+"*", true
			}
			names = append(names, name)
		}
		rows = append(rows, append(row, strings.Join(names, " ")))
	}
	if len(made.Tools) > 0 {
		rows.Print(s.Out)
	}
	if required {
		cli.Printf(s.Out, "\n* required\n")
	}
	made.printTrials(s)
	if len(made.Folder.LeftOut) > 0 {
		cli.Printf(s.Out, "\nLeft out:\n")
		for _, l := range made.Folder.LeftOut {
			cli.Printf(s.Out, "  %s: %s\n", l.Path, l.Reason)
			if l.Remedy != "" {
				cli.Printf(s.Out, "    %s\n", l.Remedy)
			}
		}
	}
	if made.Folder.Others > 0 {
		cli.Printf(s.Out, "\nNot a script, or part of one: %s\n", plural(made.Folder.Others, "other file"))
	}
	headed := false
	for _, found := range made.Folder.Scripts {
		for _, note := range found.Notes(o.Ask) {
			if !headed {
				cli.Printf(s.Out, "\nTo check:\n")
				headed = true
			}
			cli.Printf(s.Out, "  %s: %s\n", place(found.Path, note.Line), note.Text)
		}
	}
	if len(made.Variables) > 0 {
		cli.Printf(s.Out, "\nVariables that reach the tools (server.d/server.meta.json): %s\n",
			strings.Join(made.Variables, " "))
	}
}

// plural returns a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func place(path string, line int) string {
	if line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// printAdoptedJSON prints the same for programs.
func printAdoptedJSON(s cli.Streams, o *addOptions, list []*adoption) error {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("tools").Array()
	for _, made := range list {
		for i, tool := range made.Tools {
			found := made.Folder.Scripts[i]
			b.Object().Name("name").String(tool.Name).Name("script").String(filepath.Join(made.Folder.Dir, found.Path)).
				Name("path").String(made.Items[i].Path).Name("files").Strings(made.Items[i].Files).Name("notes").Array()
			for _, note := range found.Notes(o.Ask) {
				b.Object().Name("line").Int(note.Line).Name("text").String(note.Text).End()
			}
			b.End()
			if made.trials != nil {
				b.Name("trial").Raw(encoded(made.trials[i]))
			}
			tool.AppendJSON(&b)
			b.End()
		}
	}
	b.End().Name("leftOut").Array()
	var variables []string
	for _, made := range list {
		variables = append(variables, made.Variables...)
		for _, l := range made.Folder.LeftOut {
			b.Object().Name("path").String(filepath.Join(made.Folder.Dir, l.Path)).Name("reason").String(l.Reason)
			if l.Remedy != "" {
				b.Name("command").String(l.Remedy)
			}
			b.End()
		}
	}
	slices.Sort(variables)
	b.End().Name("variables").Strings(slices.Compact(variables))
	if o.DryRun {
		b.Name("dryRun").Bool(true)
	}
	_, err := fmt.Fprintf(s.Out, "%s\n", b.End().Bytes())
	return err
}
