package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/usage/ask"
	"mcp-bash/pkg/scaffold/wrap"
)

// wrapOptions are the options of wrap (docs/contract/wrap.md).
type wrapOptions struct {
	scaffold.WrapOptions
	only, without string
	name          string
	subcommands   bool
	depth         int
	update        bool
	projectRoot   string
	json          bool
	maxGiven      func() bool
}

// wrapOptionsMax is the default maximum of options that a tool gets (WRAP-6).
const wrapOptionsMax = 15

func wrapCommand() *cli.Command {
	o := &wrapOptions{depth: 1}
	o.Max = wrapOptionsMax
	c := &cli.Command{
		Name:    "wrap",
		Summary: "Create tools that run a command-line program: read its help, and generate scripts and schemas to review.",
		Usage:   "[COMMAND [SUBCOMMAND ...]]",
		Examples: []cli.Example{
			{Line: "NAME sort", Purpose: "tools/sort"},
			{Line: "NAME git log --dry-run", Purpose: "show the options, and where they were found"},
			{Line: "NAME sort --only reverse,unique,key", Purpose: "offer only these options"},
			{Line: "NAME gh issue --subcommands", Purpose: "create a tool for each command of gh issue"},
			{Line: "NAME --update", Purpose: "add new options of the programs; your changes are kept"},
		},
		Operands: []cli.Operand{{Name: "[COMMAND...]"}},
		Text: "The program is run only to get its help and its shell completions, in an empty home " +
			"and with a time limit. Options after -- are not allowed.",
		Exits: exits,
		Run:   func(s cli.Streams, operands []string) error { return runWrap(s, o, operands) },
	}
	c.Flags.Positive(&o.Max, "max-options", "N", "the maximum number of options of a tool (15)")
	o.maxGiven = func() bool { return c.Flags.Given("max-options") }
	c.Flags.String(&o.only, "only", "LIST", "offer only these options; a list of names with commas")
	c.Flags.String(&o.without, "without", "LIST", "leave out these options")
	c.Flags.String(&o.name, "name", "TOOL", "the name of the tool; default: derived from the command line")
	c.Flags.Bool(&o.subcommands, "subcommands", "create a tool for each command of the program")
	c.Flags.Positive(&o.depth, "depth", "N", "the maximum depth of --subcommands (1)")
	c.Flags.Bool(&o.update, "update", "update wrapped tools, and keep changes made by hand")
	c.Flags.Bool(&o.Force, "force", "replace an existing tool; with --update, do not ask")
	c.Flags.Bool(&o.DryRun, "dry-run", "show what would be written, and write nothing")
	c.Flags.ProjectRoot(&o.projectRoot)
	c.Flags.Bool(&o.json, "json", "print all findings as JSON, with source and certainty")
	return c
}

// list splits a list of names.
func list(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// runWrap creates tools for a program (WRAP-1).
func runWrap(s cli.Streams, o *wrapOptions, words []string) error {
	o.Only, o.Without = list(o.only), list(o.without)
	if err := wrap.CheckWords(words); err != nil {
		return err
	}
	switch {
	case len(words) == 0 && !o.update:
		return cli.Usagef("COMMAND is missing")
	case o.name != "" && (o.subcommands || o.update):
		return cli.Usagef("--name is for one new tool")
	case o.update && o.subcommands:
		return cli.Usagef("--update and --subcommands exclude each other")
	}
	p, err := scaffold.Open(o.projectRoot, s.Notice)
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	asker, err := ask.New(os.Getenv("PATH"), os.Getenv("MANPATH"))
	if err != nil {
		return err
	}
	defer asker.Close()
	w := &wrapper{s: s, o: o, p: p, ask: asker, maxGiven: o.maxGiven()}
	if o.update {
		return interrupted(ctx, w.update(ctx, words))
	}
	plans, err := w.plans(ctx, words)
	if err != nil {
		return interrupted(ctx, err)
	}
	made, err := scaffold.Wrap(ctx, p, plans, o.WrapOptions, w.warn)
	if err != nil {
		return interrupted(ctx, err)
	}
	return w.printTools(plans, made)
}

// A wrapper is one run of wrap.
type wrapper struct {
	s        cli.Streams
	o        *wrapOptions
	p        *project.Project
	ask      *ask.Asker
	maxGiven bool // --max-options is on the command line
}

func (w *wrapper) warn(text string) { cli.Printf(w.s.Err, "wrap: warning: %s\n", text) }

// plans asks the program for help, and plans a tool for it or for each of its commands.
func (w *wrapper) plans(ctx context.Context, words []string) ([]*wrap.Plan, error) {
	if !w.o.subcommands {
		plan, err := w.plan(ctx, words, w.o.name)
		if err != nil {
			return nil, err
		}
		return []*wrap.Plan{plan}, nil
	}
	bar := cli.NewBar(w.s)
	leaves, notes, err := w.ask.Tree(ctx, words, w.o.depth,
		func(done, total int64) { bar.Show("asking", done, total) })
	bar.End()
	for _, note := range notes {
		w.warn(note)
	}
	if err != nil {
		return nil, w.refused(words, err)
	}
	var plans []*wrap.Plan
	for _, leaf := range leaves {
		line := append(slices.Clone(words), leaf.Words[len(words):]...)
		plan, err := scaffold.NewPlan(w.p, leaf, line, "", w.o.Selection.For(leaf.Program))
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	if len(plans) == 0 {
		return nil, w.refused(words, ask.ErrNothing)
	}
	return plans, nil
}

// plan asks a program for help, and plans a tool for it.
func (w *wrapper) plan(ctx context.Context, words []string, name string) (*wrap.Plan, error) {
	answer, err := w.ask.Program(ctx, words)
	if answer != nil {
		for _, note := range answer.Notes {
			w.warn(note)
		}
	}
	if err != nil {
		return nil, w.refused(words, err)
	}
	if commands := answer.Subcommands; len(commands) > 0 {
		w.warn(fmt.Sprintf("%s has commands, but this tool cannot run them. Wrap one with wrap %[1]s %s, or all with "+
			"--subcommands", strings.Join(words, " "), commands[0].Name))
	}
	return scaffold.NewPlan(w.p, answer, words, name, w.o.Selection)
}

// refused returns the error for a program for which no tool can be created (WRAP-13).
func (w *wrapper) refused(words []string, err error) error {
	line := strings.Join(words, " ")
	switch {
	case errors.Is(err, ask.ErrNotFound):
		return cli.Failf(cli.CodeNotFound, "%s: no such program on PATH; install it, or use its path", words[0])
	case errors.Is(err, ask.ErrNoCommands):
		return cli.Failf(cli.CodeInvalid, "%s lists no commands; leave --subcommands out", line)
	case errors.Is(err, ask.ErrNothing):
		return cli.Failf(cli.CodeInvalid, "%s: neither --help nor a manual page describes its options; "+
			"write the tool by hand: mcp-bash scaffold tool NAME", line)
	}
	return err
}

// printTools prints the tools that were created, and the options that were left out (WRAP-3
// to WRAP-5).
func (w *wrapper) printTools(plans []*wrap.Plan, made []*scaffold.Item) error {
	if w.o.json {
		return w.printToolsJSON(plans, made)
	}
	for i, plan := range plans {
		if w.o.DryRun {
			table(w.s.Out, plan)
		}
		done := "Wrapped"
		if w.o.DryRun {
			done = "Would wrap"
		}
		cli.Printf(w.s.Out, "%s %s at %s: %d arguments\n", done, strings.Join(plan.Words, " "), made[i].Path,
			len(plan.Arguments))
		if n := len(plan.LeftOut); n > 0 {
			var names []string
			for _, l := range plan.LeftOut {
				if l.Why != "help" {
					names = append(names, strings.Split(l.Term, ", ")[0])
				}
			}
			if len(names) > 0 {
				cli.Printf(w.s.Out, "  left out: %s\n", strings.Join(names, " "))
			}
		}
		for _, r := range plan.Review {
			cli.Printf(w.s.Out, "  review: %s\n", r)
		}
	}
	if w.o.DryRun || len(plans) == 0 {
		return nil
	}
	_, err := cli.Printf(w.s.Out, "\nNext steps:\n  read %s, which explains why options were left out\n  %s\n",
		filepath.Join("tools", plans[0].Name, "README.md"), filepath.Join("tools", plans[0].Name, "smoke.sh"))
	return err
}

// table prints the arguments of a tool (WRAP-4).
func table(out io.Writer, plan *wrap.Plan) {
	rows := [][4]string{{"argument", "in the program", "takes", "found in"}}
	for _, a := range plan.Arguments {
		takes := string(a.Kind)
		if a.List {
			takes += "..."
		}
		if a.Required {
			takes += ", required"
		}
		rows = append(rows, [4]string{a.Property, a.Term, takes, fmt.Sprintf("%s, %s", a.Source, a.Sure)})
	}
	var width [3]int
	for _, row := range rows {
		for i := range width {
			width[i] = max(width[i], len([]rune(row[i])))
		}
	}
	for _, row := range rows {
		cli.Printf(out, "%-*s  %-*s  %-*s  %s\n", width[0], row[0], width[1], row[1], width[2], row[2],
			row[3])
	}
}

// printToolsJSON prints all findings as JSON (WRAP-5).
func (w *wrapper) printToolsJSON(plans []*wrap.Plan, made []*scaffold.Item) error {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("tools").Array()
	for i, plan := range plans {
		b.Object().Name("name").String(plan.Name).Name("command").Strings(plan.Words).Name("path").String(made[i].Path).
			Name("files").Strings(made[i].Files)
		plan.AppendJSON(&b)
		b.End()
	}
	b.End()
	if w.o.DryRun {
		b.Name("dryRun").Bool(true)
	}
	_, err := fmt.Fprintf(w.s.Out, "%s\n", b.End().Bytes())
	return err
}
