package main

import (
	"context"
	_ "embed" // the prompt
	"errors"
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
	"mcp-bash/pkg/text/helptext"
	"mcp-bash/schemas"
)

// helps makes a tool from the program's help, or from the help of each command that --commands names.
func (w *wrapper) helps(ctx context.Context, words []string) (tools []*wrap.Tool, err error) {
	lines := [][]string{words}
	if w.o.subcommands {
		if lines = nil; len(w.o.commands) == 0 {
			return nil, cli.Failf(cli.CodeInvalid, "%s has no recipes for its commands; name them with --commands LIST",
				strings.Join(words, " "))
		}
		for _, name := range w.o.commands {
			lines = append(lines, append(slices.Clone(words), strings.Fields(name)...))
		}
	}
	for _, line := range lines {
		if err := scaffold.CheckWords(line); err != nil {
			return nil, err
		}
		tool, err := w.fromHelp(ctx, line)
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	if w.o.subcommands {
		w.warnSize(tools)
	}
	return tools, nil
}

// asks reports whether a person can pick options and commands: on a terminal, unless the command
// line has a choice already.
func (w *wrapper) asks() bool {
	o := w.o
	return onTerminal(w.s) && !o.json && !o.DryRun && !o.update && !o.Force &&
		len(o.Only)+len(o.With)+len(o.Without) == 0 && o.Max == 0
}

// manyTokens is the size of descriptions above which there is a warning.
const manyTokens = 10_000

// warnSize prints a warning if the descriptions of the tools fill much of a model's context. It estimates four bytes of
// descriptions and schemas for each token.
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
	switch {
	case errors.Is(err, ask.ErrNotFound):
		return nil, noProgram(words[0])
	case errors.Is(err, ask.ErrNothing): // WRAP-13
		return nil, cli.Failf(cli.CodeInvalid, "%s: its help describes no options; "+
			"write the tool by hand: mcp-bash scaffold tool NAME", strings.Join(words, " "))
	}
	return answer, err
}

// described asks a program for help, and makes a recipe from the answer.
func (w *wrapper) described(ctx context.Context, words []string) (*recipe.Recipe, *ask.Answer, error) {
	answer, err := w.help(ctx, words)
	if err != nil {
		return nil, nil, err
	}
	r := draft.Recipe(named(words), answer.Help, "stdin")
	if answer.Plugin != "" {
		r.Starts = []string{answer.Plugin}
	}
	if draft.Generic(r) {
		w.warn(fmt.Sprintf("the help of %s does not explain its arguments, so the tool takes a list of words, "+
			"options included", strings.Join(words, " ")))
	}
	return r, answer, nil
}

// draft writes a recipe that it makes from the help of a program.
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

// fromHelp makes a tool from the help of a program. The tool is confined.
func (w *wrapper) fromHelp(ctx context.Context, words []string) (*wrap.Tool, error) {
	r, answer, err := w.described(ctx, words)
	if err != nil {
		return nil, err
	}
	if !w.o.subcommands && w.asks() {
		if w.o.Only, err = w.pickOptions(ctx, r); err != nil {
			return nil, err
		}
	}
	if s := w.selection(r, false); len(s.Only)+len(s.Without) == 0 {
		draft.Open(r)
	}
	tool, err := w.tool(r, wrap.Source{}, words, answer.File, w.o.name)
	if err == nil && answer.Word != "" {
		tool.Trial = &wrap.Trial{Words: append(slices.Clone(words[1:]), answer.Word), ExitCode: answer.Status}
	}
	return tool, err
}

// pickOptions asks the person for the options of the tool. The first options are preselected.
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

//go:embed prompt.md
var promptText string

// maxManual limits the manual page in a prompt, in bytes.
const maxManual = 100_000

// prompt prints a prompt with which a coding agent writes the recipe of a program.
func (w *wrapper) prompt(ctx context.Context, words []string) error {
	answer, err := w.help(ctx, words)
	if err != nil {
		return err
	}
	manual, err := w.ask.Manual(ctx, words)
	if err != nil {
		return err
	}
	if manual = helptext.Plain(manual); len(manual) > maxManual {
		manual = strings.ToValidUTF8(manual[:maxManual], "") + "\n[The rest is left out.]"
	}
	schema, err := schemas.Files.ReadFile(schemas.File(schemas.Recipe))
	if err != nil {
		return err
	}
	r := recipe.Recipe{Program: filepath.Base(words[0]), Command: words[1:]}
	_, err = strings.NewReplacer("{{line}}", cli.Line(strings.Join(words, " ")), "{{file}}", cli.Line(r.FileName()),
		"{{schema}}", fenced("json", string(schema)), "{{help}}", fenced("text", helptext.Plain(answer.Text)),
		"{{manual}}", fenced("text", manual)).WriteString(w.s.Out, promptText)
	return err
}

// fenced returns a text as a block of code in Markdown. The text cannot end the block.
func fenced(kind, text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return "There is none."
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + kind + "\n" + text + "\n" + fence
}
