package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rogpeppe/go-internal/diff"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/wrap"
)

// update updates tools that were wrapped before (WRAP-41 to WRAP-43).
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
		if err := w.show(u); err != nil {
			return err
		}
	}
	done := "Would update"
	if !w.o.DryRun && len(updates) > 0 {
		if changes > 0 && !w.o.Force {
			if err := confirm(ctx, w.s, w.o.json, "Write this?", "written"); err != nil {
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
		return w.updateJSON(updates)
	}
	return nil
}

// again makes a tool that was wrapped before from its recipe, or else from the program's help.
func (w *wrapper) again(ctx context.Context, old *scaffold.Wrapped, s wrap.Selection) (*wrap.Tool, error) {
	if old.Script != "" {
		return scaffold.AdoptAgain(ctx, w.p, old)
	}
	if tool, err := w.targetAgain(ctx, old, s); err != nil || tool != nil {
		return tool, err
	}
	if old.Recipe == "" || w.o.noRecipe {
		return w.fromHelp(ctx, old.Command, old.Name, s)
	}
	f, err := w.recorded(ctx, old)
	if err != nil {
		return nil, err
	}
	return scaffold.NewTool(w.p, f.recipe, f.from, old.Command, f.file, old.Name, s.For(f.recipe))
}

// printf prints text for people. With --json, standard output only has the JSON object.
func (w *wrapper) printf(format string, args ...any) {
	if !w.o.json {
		cli.Printf(w.s.Out, format, args...)
	}
}

// show prints the changes, and warns of conflicts with a person's changes, which are kept.
func (w *wrapper) show(u *scaffold.Update) error {
	for _, c := range u.Changes {
		if c.Conflicts > 0 {
			w.warn(fmt.Sprintf("%s: you and the program both changed %d parts; your changes are kept", c.Path, c.Conflicts))
		}
		if c.Before != c.After {
			w.printf("%s", diff.Diff(c.Path, []byte(c.Before), c.Path+" (new)", []byte(c.After)))
		}
	}
	return nil
}

// confirm asks on a terminal. Otherwise it returns an error that suggests --force. done is the verb for the result.
func confirm(ctx context.Context, s cli.Streams, asJSON bool, question, done string) error {
	if asJSON || !cli.IsTerminal(s.In) || !cli.IsTerminal(s.Out) {
		return cli.Failf(cli.CodeExists, "nothing was %s; show the changes with --dry-run, and apply them with --force", done)
	}
	if !cli.Confirm(ctx, s, s.Out, question) {
		return cli.Failf(cli.CodeExists, "nothing was %s", done)
	}
	return nil
}

// encoded returns a value as JSON.
func encoded(v any) []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // values have only texts, numbers and lists
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// printJSON ends an object, and prints it.
func printJSON(s cli.Streams, b *rawjson.Builder, dryRun bool) error {
	if dryRun {
		b.Name("dryRun").Bool(true)
	}
	_, err := fmt.Fprintf(s.Out, "%s\n", b.End().Bytes())
	return err
}

func (w *wrapper) updateJSON(updates []*scaffold.Update) error {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("updated").Array()
	for _, u := range updates {
		b.Object().Name("name").String(u.Tool.Name).Name("files").Array()
		for _, c := range u.Changes {
			b.Object().Name("path").String(c.Path).Name("conflicts").Int(c.Conflicts).End()
		}
		b.End()
		u.Tool.AppendJSON(&b)
		b.End()
	}
	return printJSON(w.s, b.End(), w.o.DryRun)
}
