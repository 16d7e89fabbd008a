package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/ask"
	"mcp-bash/pkg/scaffold/draft"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/wrap"
)

// commands makes a tool of each command that --commands names, from its help.
func (w *wrapper) commands(ctx context.Context, words []string) (tools []*wrap.Tool, err error) {
	if w.o.commands == "" {
		return nil, cli.Failf(cli.CodeInvalid, "%s has no recipes for its commands; name them with --commands LIST",
			strings.Join(words, " "))
	}
	for _, name := range list(w.o.commands) {
		line := append(slices.Clone(words), strings.Fields(name)...)
		if err := scaffold.CheckWords(line); err != nil {
			return nil, err
		}
		tool, err := w.fromHelp(ctx, line, "", w.o.Selection)
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	w.warnSize(tools)
	return tools, nil
}

// chooseCommands turns on the commands that --commands names. Otherwise the person picks on a
// terminal, and elsewhere the list stays as it is.
func (w *wrapper) chooseCommands(ctx context.Context, choices []cli.Choice) error {
	if w.o.commands == "" {
		if !w.asks() || len(choices) < 2 {
			return nil
		}
		return cli.Pick(ctx, w.s, "Commands:", choices)
	}
	for i := range choices {
		choices[i].On = false
	}
	for _, one := range list(w.o.commands) {
		name := strings.Join(strings.Fields(one), " ")
		at := slices.IndexFunc(choices, func(c cli.Choice) bool { return c.Label == name })
		if at < 0 {
			return cli.Usagef("--commands: there is no command %s", one)
		}
		choices[at].On = true
	}
	return nil
}

// asks reports whether a person can pick options and commands: on a terminal, unless the command
// line has a choice already.
func (w *wrapper) asks() bool {
	o := w.o
	return cli.IsTerminal(w.s.In) && cli.IsTerminal(w.s.Out) && !o.json && !o.DryRun && !o.update && !o.Force &&
		o.only+o.with+o.without == "" && o.Max == 0
}

// manyTokens is a size of descriptions that deserves a warning.
const manyTokens = 10_000

// warnSize warns if the descriptions of the tools fill much of a model's context. A token is taken
// as four bytes of the descriptions and schemas that a client gets.
func (w *wrapper) warnSize(tools []*wrap.Tool) {
	size := 0
	for _, tool := range tools {
		for _, f := range tool.Files("") {
			if f.Name == "tool.meta.json" {
				size += len(rawjson.Get([]byte(f.Text), "description"))
				size += len(rawjson.AppendCompact(nil, rawjson.Get([]byte(f.Text), "inputSchema")))
			}
		}
	}
	if tokens := size / 4; tokens > manyTokens {
		w.warn(fmt.Sprintf("the descriptions of these %d tools take about %d tokens of a model's context (4 bytes of "+
			"description and schema are a token); choose with --commands LIST, or lower --max-options", len(tools), tokens))
	}
}

// help asks a program for help.
func (w *wrapper) help(ctx context.Context, words []string) (*ask.Answer, error) {
	answer, err := w.ask.Help(ctx, words)
	if answer != nil {
		for _, note := range answer.Notes {
			w.warn(note)
		}
	}
	if err != nil {
		return nil, w.refused(words, err)
	}
	return answer, nil
}

// described asks a program for help, and makes a recipe of the answer.
func (w *wrapper) described(ctx context.Context, words []string) (*recipe.Recipe, *ask.Answer, error) {
	answer, err := w.help(ctx, words)
	if err != nil {
		return nil, nil, err
	}
	r := draft.Recipe(append([]string{filepath.Base(words[0])}, words[1:]...), answer.Help, "stdin")
	if answer.Plugin != "" {
		r.Starts = []string{answer.Plugin}
	}
	if draft.Generic(r) {
		w.warn(fmt.Sprintf("the help of %s does not explain its arguments, so the tool takes a list of words, "+
			"options included", strings.Join(words, " ")))
	}
	return r, answer, nil
}

// draft writes a recipe of the help of a program (WRAP-16).
func (w *wrapper) draft(ctx context.Context, words []string) error {
	r, _, err := w.described(ctx, words)
	if err != nil {
		return err
	}
	name, err := scaffold.WriteRecipe(ctx, w.p, r, w.o.Force)
	if err != nil {
		return err
	}
	var guessed []string
	for _, a := range r.Arguments {
		if len(a.Unconfirmed) > 0 {
			guessed = append(guessed, fmt.Sprintf("%s (%s)", a.Name, strings.Join(a.Unconfirmed, ", ")))
		}
	}
	cli.Printf(w.s.Out, "Drafted %s at %s\n", strings.Join(words, " "), name)
	if len(guessed) > 0 {
		cli.Printf(w.s.Out, "  unconfirmed: %s\n", strings.Join(guessed, ", "))
	}
	_, err = cli.Printf(w.s.Out, "\nNext steps:\n  complete the recipe: paths, exit codes, dangers, effects, examples\n"+
		"  mcp-bash validate\n  mcp-bash wrap --recipe %s\n", name)
	return err
}

// fromHelp makes a tool of a program from its help. The tool is confined (WRAP-36).
func (w *wrapper) fromHelp(ctx context.Context, words []string, name string, s wrap.Selection) (*wrap.Tool, error) {
	r, answer, err := w.described(ctx, words)
	if err != nil {
		return nil, err
	}
	switch {
	case w.o.update, w.o.subcommands:
		s = s.For(r)
	case w.asks():
		if s.Only, err = w.pickOptions(ctx, r); err != nil {
			return nil, err
		}
	}
	if len(s.Only)+len(s.Without) == 0 {
		draft.Open(r)
	}
	tool, err := scaffold.NewTool(w.p, r, wrap.Source{}, words, answer.File, name, s)
	if err == nil && answer.Word != "" {
		tool.Trial = &wrap.Trial{Words: append(slices.Clone(words[1:]), answer.Word), ExitCode: answer.Status}
	}
	return tool, err
}

// pickOptions asks the person for the options of the tool. The first ones are on.
func (w *wrapper) pickOptions(ctx context.Context, r *recipe.Recipe) (only []string, err error) {
	var choices []cli.Choice
	for _, a := range r.Arguments {
		if a.Option != "" {
			choices = append(choices, cli.Choice{Label: a.Option, Text: a.Description, On: len(choices) < wrap.MaxOptions})
		}
	}
	if len(choices) > 0 {
		err = cli.Pick(ctx, w.s, "Options of the tool:", choices)
	}
	for _, c := range choices {
		if c.On {
			only = append(only, c.Label)
		}
	}
	return only, err
}
