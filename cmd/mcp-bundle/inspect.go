package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// An inspectOptions has the option of commands that read a bundle.
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
		return nil, cli.Failf(cli.CodeInvalid, "%s: %s", cli.Line(file), cli.Line(err.Error()))
	}
	return report, nil
}

func inspectCommand() *cli.Command {
	o := &inspectOptions{}
	c := &cli.Command{
		Name: "inspect", NotVerb: true,
		Summary: "Show what is in a bundle.",
		Examples: []cli.Example{
			{Line: "NAME demo-1.0.0.mcpb"}, {Line: "NAME demo-1.0.0.mcpb --json | jq -r '.files[].name'"},
		},
		Operands: []cli.Operand{{Name: "FILE", Complete: cli.Files}},
		Text:     "FILE may be -, standard input.",
		Exits:    []cli.Exit{{Code: 0, Meaning: "shown"}, {Code: 1, Meaning: "not a bundle"}},
		Run:      func(s cli.Streams, operands []string) error { return o.inspect(s, operands[0]) },
	}
	c.Flags.Bool(&o.json, "json", "print it as JSON and nothing else")
	return c
}

func (o *inspectOptions) inspect(s cli.Streams, operand string) error {
	file, remove, err := inputFile(s, operand)
	if err != nil {
		return err
	}
	defer remove()
	report, err := inspectFile(file)
	if err != nil {
		return err
	}
	if report.Archive == nil {
		return cli.Failf(cli.CodeInvalid, "not a bundle: %s", cli.Line(file))
	}
	m := report.Manifest
	platforms, _ := rawjson.Strings(rawjson.Path(m, "compatibility", "platforms"))
	var tools []string
	for v := range rawjson.Elements(rawjson.Get(m, "tools")) {
		tools = append(tools, rawjson.TextOf(v, "name"))
	}
	if o.json {
		var b rawjson.Builder
		b.Object().Name("ok").Bool(true).Name("path").String(operand).Name("sha256").String(report.SHA256).
			Name("signed").Bool(report.Archive.Signed).Name("valid").Bool(len(report.Faults) == 0).
			Name("manifest").Raw(m).Name("files").Array()
		for _, e := range report.Archive.Entries {
			b.Object().Name("name").String(e.Name).Name("bytes").Int(int(e.Size)).Name("executable").Bool(e.Exec).End()
		}
		_, err := fmt.Fprintf(s.Out, "%s\n", b.End().End().Bytes())
		return err
	}
	signed := "no"
	if report.Archive.Signed {
		signed = "yes; the signature was not checked"
	}
	total := int64(0)
	for _, e := range report.Archive.Entries {
		total += e.Size
	}
	for _, row := range [][2]string{
		{"name", rawjson.TextOf(m, "name")}, {"version", rawjson.TextOf(m, "version")},
		{"description", rawjson.TextOf(m, "description")}, {"author", rawjson.TextOf(rawjson.Get(m, "author"), "name")},
		{"platforms", strings.Join(platforms, " ")}, {"tools", strings.Join(tools, " ")},
		{"starts", rawjson.TextOf(rawjson.Path(m, "server", "mcp_config"), "command")},
		{"files", fmt.Sprintf("%d, %s", len(report.Archive.Entries), cli.Size(total))}, {"signed", signed},
		{"sha256", report.SHA256},
	} {
		cli.Printf(s.Out, "%-12s %s\n", row[0], row[1])
	}
	for _, f := range report.Faults {
		cli.Printf(s.Err, "  ✗ %s\n", f.String())
	}
	return nil
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
	if errors.Is(err, boundedfile.ErrNotRegular) {
		return cli.Failf(cli.CodeInvalid, "%s: %s", file, err.Error())
	}
	if err != nil {
		return cli.Failf(cli.CodeNotFound, "no such file: %s", cli.Line(file))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	a, err := mcpb.Read(f, info.Size())
	if err != nil {
		return cli.Failf(cli.CodeInvalid, "%s: %s", cli.Line(file), cli.Line(err.Error()))
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

// maxStdin is how large a bundle on standard input may be, in bytes.
const maxStdin = 2 << 30

// stdin is the operand that names standard input.
const stdin = "-"

// inputFile returns the file that an operand names: for "-" a copy of standard input, until remove is
// called (CLI-118).
func inputFile(s cli.Streams, operand string) (file string, remove func(), err error) {
	if operand != stdin {
		return operand, func() {}, nil
	}
	in := bufio.NewReader(s.In)
	name := "stdin.mcpb"
	if head, _ := in.Peek(1); string(head) == "{" {
		name = "stdin.json" // a manifest by itself
	}
	return project.Spool(project.OSEnv(), in, name, maxStdin)
}
