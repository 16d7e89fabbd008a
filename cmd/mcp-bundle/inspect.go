package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/product"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/lock"
	"mcp-bash/pkg/text/merge"
)

type inspectOptions struct{ json bool }

func validateCommand() *cli.Command {
	o := &inspectOptions{}
	c := &cli.Command{
		Name: "validate", NotVerb: true,
		Summary: "Check a bundle, a directory to be packed, or a manifest.json, as clients do.",
		Examples: []cli.Example{
			{Line: "NAME demo-1.0.0.mcpb"}, {Line: "NAME demo-1.0.0.mcpb --json | jq '.errors[]'"},
		},
		Operands: []cli.Operand{{Name: "FILE", Complete: cli.Files}},
		Text:     "FILE may be -, standard input.",
		Exits:    []cli.Exit{{Code: 0, Meaning: "nothing wrong"}, {Code: 1, Meaning: "errors were found"}},
		Run:      func(s cli.Streams, operands []string) error { return o.validate(s, operands[0]) },
	}
	c.Flags.Bool(&o.json, "json", "print the findings as JSON and nothing else")
	return c
}

func (o *inspectOptions) validate(s cli.Streams, operand string) error {
	file, remove, err := inputFile(s, operand)
	if err != nil {
		return err
	}
	defer remove()
	report, err := inspectFile(file)
	if err != nil {
		return err
	}
	if o.json {
		var b rawjson.Builder
		b.Object().Name("ok").Bool(len(report.Faults) == 0).Name("errors").Array()
		for _, f := range report.Faults {
			b.Object().Name("path").String(f.Path).Name("message").String(f.Reason).End()
		}
		fmt.Fprintf(s.Out, "%s\n", b.End().End().Bytes())
	} else {
		for _, f := range report.Faults {
			cli.Explain(s.Out, "  ✗ %s\n", f.String())
		}
		if len(report.Faults) == 0 {
			cli.Printf(s.Out, "  ✓ %s is valid\n", filepath.Base(file))
		}
	}
	if len(report.Faults) > 0 {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

func inspectFile(file string) (*mcpb.Report, error) {
	info, err := os.Stat(file)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return nil, cli.Failf(cli.CodeNotFound, "no such file: %s", cli.Line(file))
	}
	open := os.Open
	if !info.IsDir() {
		open = boundedfile.Open
	}
	f, err := open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	report, err := mcpb.CheckFile(f)
	if err != nil {
		return nil, unreadable(file, err)
	}
	return report, nil
}

func inspectCommand() *cli.Command {
	o, format := &inspectOptions{}, ""
	c := &cli.Command{
		Name: "inspect", NotVerb: true,
		Summary: "Show what a bundle, plugin, npm package, wheel, image or project offers, and what each part may do.",
		Examples: []cli.Example{
			{Line: "NAME demo-1.0.0.mcpb"},
			{Line: "NAME demo-1.0.0.mcpb --json | jq .manifest"},
			{Line: "NAME demo.tar --format docker", Purpose: "the command that starts the image with these permissions"},
			{Line: "NAME . --format claude-settings > .claude/settings.json"},
		},
		Operands: []cli.Operand{{Name: "PRODUCT", Complete: cli.Files}},
		Text: `PRODUCT is a file or a folder, or - for standard input. Nothing in it runs. The table comes from the files, and the
command fails if the lock in a product does not match them.

--format prints the permissions for programs that enforce them. These are a permission profile of ToolHive, a docker run
command for the image, and rules for the settings.json of Claude Code. Standard error has the rest.`,
		Exits: []cli.Exit{{Code: 0, Meaning: "shown"}, {Code: 1, Meaning: "it cannot be read, or does not match its lock"}},
		Run: func(s cli.Streams, operands []string) error {
			if format != "" && o.json {
				return cli.Usagef("--json and --format exclude each other")
			}
			return o.inspect(s, operands[0], format)
		},
	}
	c.Flags.One(&format, "format", "FORMAT", product.Formats, "print the permissions for ToolHive, Docker or Claude Code")
	c.Flags.Bool(&o.json, "json", "print it as JSON and nothing else")
	return c
}

func (o *inspectOptions) inspect(s cli.Streams, operand, format string) error {
	file, remove, err := inputFile(s, operand)
	if err != nil {
		return err
	}
	defer remove()
	ctx, stop := cli.UntilSignal()
	defer stop()
	p, pinned, err := opened(ctx, s, file)
	if err != nil {
		return err
	}
	defer p.Close()
	if format != "" {
		text, notes := product.Permissions(pinned, format, project.OSEnv()["HOME"])
		for _, note := range notes {
			s.Notice("inspect: " + note)
		}
		_, err = s.Out.Write([]byte(text))
		return err
	}
	report := &mcpb.Report{SHA256: p.SHA256}
	if p.Kind == product.Bundle {
		if report, err = inspectFile(file); err != nil {
			return err
		}
	}
	about, _ := p.About() // an invalid document is one of the faults
	rows := p.Rows(pinned)
	if o.json {
		_, err = fmt.Fprintf(s.Out, "%s\n", inspectJSON(operand, p, report, about, rows))
		return err
	}
	printProduct(s, p, report, about)
	if p.Dir == "" {
		cli.Printf(s.Out, "\nIt contains no project, so nothing is known about what it may do.\n")
	} else {
		printRows(s, rows)
	}
	for _, f := range report.Faults {
		cli.Printf(s.Err, "  ✗ %s\n", f.String())
	}
	return nil
}

func printProduct(s cli.Streams, p *product.Product, report *mcpb.Report, about product.About) {
	platforms, _ := rawjson.Strings(rawjson.Path(report.Manifest, "compatibility", "platforms"))
	var asks []string
	for _, m := range rawjson.Members(p.Settings()) {
		asks = append(asks, m.Name)
	}
	total, signed := int64(0), ""
	for _, f := range p.Files {
		total += f.Size
	}
	if report.Archive != nil && report.Archive.Signed {
		signed = "yes; the signature was not checked"
	}
	for _, row := range [][2]string{
		{"name", cmp.Or(about.Name, about.Title)}, {"version", about.Version}, {"description", about.Description},
		{"author", rawjson.TextOf(rawjson.Get(report.Manifest, "author"), "name")}, {"kind", string(p.Kind)},
		{"platforms", strings.Join(platforms, " ")}, {"asks for", strings.Join(asks, " ")},
		{"files", fmt.Sprintf("%d, %s", len(p.Files), cli.Size(total))}, {"signed", signed}, {"sha256", report.SHA256},
	} {
		if row[1] != "" {
			cli.Printf(s.Out, "%-12s %s\n", row[0], row[1])
		}
	}
}

// printRows prints a table of items with their rights. It is not cut at the edge of the terminal.
func printRows(s cli.Streams, rows []product.Row) {
	width := 12
	for _, r := range rows {
		width = max(width, cli.Columns(cli.Line(r.Item)))
	}
	cli.Printf(s.Out, "\n")
	for _, r := range rows {
		cli.Printf(s.Out, "%s %s\n", cli.Pad(cli.Line(r.Item), width), r.Text())
	}
}

func inspectJSON(operand string, p *product.Product, report *mcpb.Report, about product.About,
	rows []product.Row) []byte {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("path").String(operand).Name("kind").String(string(p.Kind)).
		Optional("name", about.Name).Optional("version", about.Version).Optional("description", about.Description).
		Optional("sha256", report.SHA256)
	if report.Archive != nil {
		b.Name("signed").Bool(report.Archive.Signed)
	}
	if p.Kind == product.Bundle {
		b.Name("valid").Bool(len(report.Faults) == 0).Name("manifest").Raw(report.Manifest)
	}
	b.Name("items").Array()
	for _, r := range rows {
		b.Object().Name("item").String(r.Item).Optional("name", r.Name).Optional("description", r.Description).
			Name("confined").Bool(!r.Free)
		for _, right := range r.Rights() {
			b.Name(right.Verb).Strings(right.Objects)
		}
		b.End()
	}
	b.End().Name("files").Array()
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		f := p.Files[name]
		b.Object().Name("name").String(name).Name("bytes").Int(int(f.Size)).Name("executable").Bool(f.Exec).
			Name("sha256").String(f.SHA256).End()
	}
	return b.End().End().Bytes()
}

func unpackCommand() *cli.Command {
	o := &inspectOptions{}
	c := &cli.Command{
		Name: "unpack", NotVerb: true,
		Summary:  "Unpack a bundle, with its execute bits; nothing is overwritten.",
		Examples: []cli.Example{{Line: "NAME demo-1.0.0.mcpb demo"}},
		Operands: []cli.Operand{{Name: "FILE", Complete: cli.Files}, {Name: "[DIR]", Complete: cli.Dirs}},
		Text:     "FILE may be -, standard input; DIR is needed then.",
		Exits: []cli.Exit{
			{Code: 0, Meaning: "unpacked"}, {Code: 1, Meaning: "not a bundle, or something is in the way"},
		},
		Run: func(s cli.Streams, operands []string) error { return o.unpack(s, operands) },
	}
	c.Flags.Bool(&o.json, "json", "print the result as JSON and nothing else")
	return c
}

func (o *inspectOptions) unpack(s cli.Streams, operands []string) error {
	dir := strings.TrimSuffix(filepath.Base(operands[0]), ".mcpb")
	if len(operands) > 1 {
		dir = operands[1]
	} else if operands[0] == stdin {
		return cli.Usagef("DIR is missing: a bundle on standard input has no name")
	}
	file, remove, err := inputFile(s, operands[0])
	if err != nil {
		return err
	}
	defer remove()
	f, err := boundedfile.Open(file)
	if err != nil {
		return unreadable(file, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	a, err := mcpb.Read(f, info.Size())
	if err != nil {
		return unreadable(file, err)
	}
	for _, f := range a.Faults() {
		cli.Printf(s.Err, "  ⚠ %s\n", f.String())
	}
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return cli.Failf(cli.CodeExists, "%s is not empty; name another directory", cli.Line(dir))
	}
	if err := a.Unpack(dir); err != nil {
		return err
	}
	if o.json {
		var b rawjson.Builder
		_, err = fmt.Fprintf(s.Out, "%s\n", b.Object().Name("ok").Bool(true).Name("path").String(dir).
			Name("files").Int(len(a.Entries)).End().Bytes())
		return err
	}
	_, err = cli.Printf(s.Out, "Unpacked %d files into %s\n", len(a.Entries), dir)
	return err
}

// maxStdin limits a bundle on standard input, in bytes.
const maxStdin = 2 << 30

const stdin = "-"

// inputFile returns the file that an operand names: for "-" a copy of standard input, until remove is called.
func inputFile(s cli.Streams, operand string) (file string, remove func(), err error) {
	if operand != stdin {
		return operand, func() {}, nil
	}
	in := bufio.NewReader(s.In)
	name := "stdin.mcpb"
	if head, _ := in.Peek(1); string(head) == "{" {
		name = "stdin.json" // standard input has only a manifest
	}
	return project.Spool(project.OSEnv(), in, name, maxStdin)
}

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

// incomparable returns an error with the exit code for a product that cannot be compared.
func incomparable(err error) error {
	if e, ok := errors.AsType[*cli.Error](err); ok {
		e.Exit = cli.ExitPolicy
	}
	return err
}

// rightsText returns the rights of each item, as lines.
func rightsText(rows []product.Row) (text string) {
	for _, r := range rows {
		text += r.Item + ": " + r.Text() + "\n"
	}
	return text
}

// settingsText returns the settings that a product asks its user for, as lines.
func settingsText(p *product.Product) string {
	if v := p.Settings(); v != nil {
		return string(rawjson.AppendIndent(nil, v, 0))
	}
	return ""
}

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
