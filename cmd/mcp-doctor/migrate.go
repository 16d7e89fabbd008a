package main

import (
	"errors"
	"fmt"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

func migrateCommand() *cli.Command {
	root, asJSON, ndjson := "", false, false
	c := &cli.Command{
		Name:    "migrate",
		Summary: "Show what changes for a project of the Bash edition (1.x), with file, line and remedy.",
		Examples: []cli.Example{
			{Line: "NAME"},
			{Line: "NAME --json | jq -e '.attention==0'"},
			{Line: "mcp-bash explain migrate.variable_dropped", Purpose: "why it matters, and what to do"},
		},
		Text: `The command reads the project. It starts no script and changes no file. ⚠ and ✗ need attention; • is a
note about a difference that may not matter. It does not repeat the checks of validate.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "nothing needs attention; notes are allowed"},
			{Code: 1, Meaning: "something needs attention, or no project"},
			{Code: 128, Meaning: "and above: ended by a signal"},
		},
		Run: func(s cli.Streams, _ []string) error { return migrate(s, root, asJSON, ndjson) },
	}
	c.Flags.ProjectRoot(&root)
	c.Flags.Bool(&asJSON, "json", "one JSON object, errors included")
	c.Flags.Bool(&ndjson, "ndjson", "a JSON object for each finding, as it is found")
	return c
}

func migrate(s cli.Streams, root string, asJSON, ndjson bool) error {
	p, err := project.Find(root, s.Notice)
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	var found func(*finding.Finding)
	if ndjson {
		found = func(f *finding.Finding) { fmt.Fprintf(s.Out, "%s\n", f.AppendJSON(nil)) }
	}
	m, err := validate.Migrate(ctx, p, found)
	var ended cli.ExitCode
	if errors.As(err, &ended) {
		return ended
	} else if err != nil {
		return err
	}
	switch {
	case asJSON:
		fmt.Fprintf(s.Out, "%s\n", appendMigration(nil, m))
	case !ndjson:
		printMigration(s, m)
	}
	if m.Attention > 0 {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// appendMigration appends the result for programs (CLI-1032).
func appendMigration(dst []byte, m *validate.Migration) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("projectRoot").String(m.Root).Name("attention").Int(m.Attention).Name("notes").Int(m.Notes).
		Name("findings").Array()
	for i := range m.Findings {
		b.Append(m.Findings[i].AppendJSON)
	}
	return b.End().End().Bytes()
}

func printMigration(s cli.Streams, m *validate.Migration) {
	cli.Explain(s.Out, "What changes for the project at %s:\n\n", m.Root)
	for i := range m.Findings {
		m.Findings[i].Print(s.Out)
	}
	if len(m.Findings) > 0 {
		fmt.Fprintln(s.Out)
	}
	if m.Attention == 0 {
		cli.Explain(s.Out, "Nothing needs attention (notes: %d). Next: mcp-bash validate\n", m.Notes)
	} else {
		cli.Explain(s.Out, "%d difference(s) need attention (notes: %d).\n", m.Attention, m.Notes)
	}
}
