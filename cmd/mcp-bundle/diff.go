package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"mcp-bash/pkg/bundle/product"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/lock"
	"mcp-bash/pkg/text/merge"
)

func diffCommand() *cli.Command {
	o := &inspectOptions{}
	c := &cli.Command{
		Name: "diff", NotVerb: true,
		Summary: "Show what changed between two versions of a bundle, plugin, npm package, wheel, image or project.",
		Examples: []cli.Example{
			{Line: "NAME demo-1.0.0.mcpb .", Purpose: "compare the project with its last bundle"},
			{Line: "NAME demo-1.0.0.mcpb . --json | jq -r '.changes[].member'"},
		},
		Operands: []cli.Operand{{Name: "A", Complete: cli.Files}, {Name: "B", Complete: cli.Files}},
		Text: `A and B are files or folders, and one of them may be -, standard input. Nothing in them runs. If their kinds differ,
only their projects are compared. If the lock in a product does not match its files, the command fails.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "nothing differs"}, {Code: 1, Meaning: "something differs"},
			{Code: 3, Meaning: "one cannot be read, or does not match its lock"},
		},
		Run: func(s cli.Streams, operands []string) error { return o.diff(s, operands[0], operands[1]) },
	}
	c.Flags.Bool(&o.json, "json", "print the changes as JSON and nothing else")
	return c
}

// opened returns a product and its lock.
func opened(ctx context.Context, s cli.Streams, operand string) (*product.Product, *lock.Lock, error) {
	file, remove, err := inputFile(s, operand)
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	env := project.OSEnv()
	p, err := product.Open(env, file)
	if err != nil {
		return nil, nil, unreadable(file, err)
	}
	pinned, err := p.Lock(ctx, env)
	if mismatch, ok := errors.AsType[*product.MismatchError](err); ok {
		lock.Print(s.Err, mismatch.Changes)
	}
	if err != nil {
		p.Close()
		return nil, nil, unreadable(file, err)
	}
	return p, pinned, nil
}

func unreadable(file string, err error) error {
	e := cli.Failf(cli.CodeInvalid, "%s: %s", cli.Line(file), cli.Line(err.Error()))
	if errors.Is(err, fs.ErrNotExist) {
		e = cli.Failf(cli.CodeNotFound, "no such file: %s", cli.Line(file))
	}
	return e
}

func (o *inspectOptions) diff(s cli.Streams, before, after string) error {
	if before == stdin && after == stdin {
		return cli.Usagef("only one of A and B can be standard input")
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	a, lockA, err := opened(ctx, s, before)
	if err != nil {
		return incomparable(err)
	}
	defer a.Close()
	b, lockB, err := opened(ctx, s, after)
	if err != nil {
		return incomparable(err)
	}
	defer b.Close()
	d := difference{changes: lock.Compare(lockA, lockB), files: product.CompareFiles(a, b),
		rights: merge.Changed(rightsText(a.Rows(lockA)), rightsText(b.Rows(lockB)))}
	if a.Kind == b.Kind {
		d.settings = merge.Changed(settingsText(a), settingsText(b))
	}
	if o.json {
		_, err = fmt.Fprintf(s.Out, "%s\n", d.json(a, b))
	} else {
		d.print(s, a, b)
	}
	if err == nil && !d.isEmpty() {
		err = cli.ExitCode(cli.ExitFailed)
	}
	return err
}

// incomparable returns an error with the exit code of a side that cannot be compared.
func incomparable(err error) error {
	if e, ok := errors.AsType[*cli.Error](err); ok {
		e.Exit = cli.ExitPolicy
	}
	return err
}

// rightsText returns what each item may do, as lines.
func rightsText(rows []product.Row) (text string) {
	for _, r := range rows {
		text += r.Item + ": " + r.Text() + "\n"
	}
	return text
}

// settingsText returns what a product asks the person who installs it, as lines.
func settingsText(p *product.Product) string {
	if v := p.Settings(); v != nil {
		return string(rawjson.AppendIndent(nil, v, 0))
	}
	return ""
}

// A difference is what differs between two products.
type difference struct {
	changes          []lock.Change
	rights, settings []string // lines that begin with "- " or "+ "
	files            []product.FileChange
}

func (d *difference) isEmpty() bool { return len(d.changes)+len(d.settings)+len(d.files) == 0 }

func (d *difference) print(s cli.Streams, a, b *product.Product) {
	if a.Kind != b.Kind {
		cli.Printf(s.Out, "Compared the projects of a %s and a %s.\n", string(a.Kind), string(b.Kind))
	}
	section := func(title string, lines []string) {
		for i, line := range lines {
			if i == 0 {
				cli.Printf(s.Out, "# %s\n", title)
			}
			cli.Printf(s.Out, "  %s\n", line)
		}
	}
	section("rights", d.rights)
	for _, concern := range lock.Concerns {
		var some []lock.Change
		for _, c := range d.changes {
			if c.Concern == concern {
				some = append(some, c)
			}
		}
		if len(some) > 0 {
			cli.Printf(s.Out, "# %s\n", string(concern))
			lock.Print(s.Out, some)
		}
	}
	section("settings", d.settings)
	var files []string
	for _, f := range d.files {
		what := "changed"
		switch {
		case f.Before == product.File{}:
			what = "added"
		case f.After == product.File{}:
			what = "removed"
		case f.Before.SHA256 == f.After.SHA256:
			what = "execute bit changed"
		}
		files = append(files, f.Name+": "+what)
	}
	section("files", files)
}

func (d *difference) json(a, b *product.Product) []byte {
	var w rawjson.Builder
	w.Object().Name("ok").Bool(true).Name("same").Bool(d.isEmpty()).
		Name("kinds").Strings([]string{string(a.Kind), string(b.Kind)}).Name("changes").Array()
	for i := range d.changes {
		c := &d.changes[i]
		w.Object().Name("item").String(c.Item()).Name("member").String(c.Member).Name("concern").String(string(c.Concern))
		w.OptionalRaw("before", c.Before)
		w.OptionalRaw("after", c.After)
		w.End()
	}
	w.End().Name("rights").Strings(d.rights).Name("settings").Strings(d.settings).Name("files").Array()
	for _, f := range d.files {
		w.Object().Name("name").String(f.Name).Name("before").String(f.Before.SHA256).
			Name("after").String(f.After.SHA256).End()
	}
	return w.End().End().Bytes()
}
