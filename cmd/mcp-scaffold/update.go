package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"

	"mcp-bash/pkg/cli"
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
			if err := w.o.confirm(ctx, w.s, "Write this?", "written"); err != nil {
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
		return printJSON(w.s, updateResult(updates), w.o.DryRun)
	}
	return nil
}

// again makes a tool as it was made before: of its script, its recipe, its target, or else of the program's help.
func (w *wrapper) again(ctx context.Context, old *scaffold.Wrapped, s wrap.Selection) (*wrap.Tool, error) {
	if old.Script != "" {
		return scaffold.AdoptAgain(ctx, w.p, old)
	}
	same, o := *w, *w.o
	same.o = &o
	o.Selection, o.name, o.noRecipe = s, old.Name, o.noRecipe || old.Recipe == ""
	if isTarget(old) {
		o.directory = filepath.Dir(w.resolved(old.Recipe))
	} else {
		o.recipe = old.Recipe
	}
	tools, err := same.tools(ctx, old.Command)
	if err != nil {
		return nil, err
	}
	return tools[0], nil
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

// updateResult returns the updates for programs.
func updateResult(updates []*scaffold.Update) any {
	list := []json.RawMessage{}
	for _, u := range updates {
		list = append(list, toolObject(u.Tool, struct {
			Name  string            `json:"name"`
			Files []scaffold.Change `json:"files"`
		}{u.Tool.Name, u.Changes}))
	}
	return map[string]any{"updated": list}
}
