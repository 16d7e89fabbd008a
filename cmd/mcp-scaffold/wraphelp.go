package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/recipe/danger"
	"mcp-bash/pkg/scaffold/usage/ask"
	"mcp-bash/pkg/scaffold/usage/infer"
	"mcp-bash/pkg/scaffold/wrap"
)

func (w *wrapper) commands(ctx context.Context, words []string) ([]*wrap.Tool, error) {
	if err := w.refuseInterpreter(words); err != nil {
		return nil, err
	}
	bar := cli.NewBar(w.s)
	leaves, notes, err := w.ask.Tree(ctx, words, w.o.depth,
		func(done, total int64) { bar.Show("asking", done, total) })
	bar.End()
	for _, note := range notes {
		w.warn(note)
	}
	if err == nil {
		leaves, err = w.selectCommands(ctx, leaves, len(words))
	}
	if err != nil {
		return nil, w.refused(words, err)
	}
	var tools []*wrap.Tool
	for _, leaf := range leaves {
		line := append(slices.Clone(words), leaf.Words[len(words):]...)
		r := infer.Recipe(leaf.Program)
		tool, err := scaffold.NewTool(w.p, r.Recipe, wrap.Source{}, line, leaf.File, "", w.o.Selection.For(r.Recipe))
		if err != nil {
			return nil, err
		}
		note(tool, r)
		tools = append(tools, tool)
	}
	if len(tools) == 0 {
		return nil, w.refused(words, ask.ErrNothing)
	}
	w.warnSize(tools)
	return tools, nil
}

// selectCommands takes the commands that --commands names, or that the person picks on a terminal.
func (w *wrapper) selectCommands(ctx context.Context, leaves []*ask.Answer, skip int) (chosen []*ask.Answer,
	err error) {
	var choices []cli.Choice
	for _, leaf := range leaves {
		choices = append(choices, cli.Choice{Label: strings.Join(leaf.Words[skip:], " "), Text: leaf.Summary, On: true})
	}
	if err := w.chooseCommands(ctx, choices); err != nil {
		return nil, err
	}
	for i, leaf := range leaves {
		if choices[i].On {
			chosen = append(chosen, leaf)
		}
	}
	return chosen, nil
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

// note adds to a tool what the recipe leaves out, and what a person should check.
func note(tool *wrap.Tool, r *infer.Result) {
	for _, l := range r.LeftOut {
		tool.LeftOut = append(tool.LeftOut, wrap.LeftOut(l))
	}
	tool.Review = append(tool.Review, r.Review...)
}

// refuseInterpreter returns an error for a program that runs the code it is given (WRAP-26).
func (w *wrapper) refuseInterpreter(words []string) error {
	if len(words) > 1 || w.o.Force || w.o.update || !danger.Load().Interpreter(filepath.Base(words[0])) {
		return nil
	}
	return cli.Failf(cli.CodeInvalid, "%s runs the code it is given, so its tool could do anything", words[0]).
		WithHint("--force wraps it anyway.")
}

func (w *wrapper) fromHelp(ctx context.Context, words []string, name string, s wrap.Selection) (*wrap.Tool, error) {
	if err := w.refuseInterpreter(words); err != nil {
		return nil, err
	}
	answer, err := w.ask.Program(ctx, words)
	if answer != nil {
		for _, note := range answer.Notes {
			w.warn(note)
		}
	}
	if err != nil {
		return nil, w.refused(words, err)
	}
	line := strings.Join(words, " ")
	if commands := answer.Subcommands; len(commands) > 0 && !w.o.update {
		w.warn(fmt.Sprintf("%s has commands, but this tool cannot run them. Wrap one with wrap %[1]s %s, or all with "+
			"--subcommands", line, commands[0].Name))
	}
	r := infer.Recipe(answer.Program)
	switch {
	case r.Generic && r.Runs != "" && len(s.Only)+len(s.With) == 0 && !w.o.update:
		return nil, cli.Failf(cli.CodeInvalid, "%s %s, and its help explains no options: a list of words would offer all of "+
			"that", words[0], r.Runs).WithHint("--with arguments offers it anyway.")
	case r.Generic:
		w.warn(fmt.Sprintf("the help of %s does not explain its arguments, so the tool takes a list of words, "+
			"options included", line))
	case w.o.update:
		s = s.For(r.Recipe)
	case w.asks():
		if s.Only, err = w.pickOptions(ctx, r.Recipe); err != nil {
			return nil, err
		}
	}
	tool, err := scaffold.NewTool(w.p, r.Recipe, wrap.Source{}, words, answer.File, name, s)
	if err == nil {
		note(tool, r)
	}
	return tool, err
}

// pickOptions asks the person for the options of the tool. The first ones are on.
func (w *wrapper) pickOptions(ctx context.Context, r *recipe.Recipe) (only []string, err error) {
	var choices []cli.Choice
	var names []string
	on := 0
	for _, a := range r.Arguments {
		if a.Option == "" || a.Required {
			continue
		}
		text := a.Description
		if why := r.Danger(&a); why != "" {
			text = cmp.Or(why, "only by name") + ": " + text
		}
		choices = append(choices, cli.Choice{Label: a.Option, Text: text, On: !a.Only && on < wrap.MaxOptions})
		names = append(names, a.Option)
		if !a.Only {
			on++
		}
	}
	if len(choices) == 0 {
		return nil, nil
	}
	if err := cli.Pick(ctx, w.s, "Options of the tool:", choices); err != nil {
		return nil, err
	}
	for i, c := range choices {
		if c.On {
			only = append(only, names[i])
		}
	}
	return only, nil
}
