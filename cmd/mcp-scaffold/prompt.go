package main

import (
	"context"
	_ "embed"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/text/helptext"
	"mcp-bash/schemas"
)

//go:embed prompt.md
var promptText string

// maxManual limits the manual page in a prompt, in bytes.
const maxManual = 100_000

// prompt prints one text by which a coding agent writes the recipe of a program (WRAP-17).
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

// fenced makes a block of code of a text. The text cannot end the block.
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
