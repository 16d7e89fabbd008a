package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/market"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
)

func marketplaceCommand() *cli.Command {
	var check, update, asJSON bool
	c := &cli.Command{
		Name:    "marketplace",
		Summary: "List the plugins of a repository, so that people can add the repository to their agents.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "the files for plugins.json of this directory"},
			{Line: "NAME --update", Purpose: "after a change: replace them"},
			{Line: "NAME --check", Purpose: "for CI: are they up to date?"},
		},
		Operands: []cli.Operand{{Name: "[FILE]", Complete: cli.Files}},
		Text: `FILE, plugins.json without it, names the plugins by their folders, relative to its own. From it and from the plugins'
manifests the command makes, in the folder of FILE:

  .claude-plugin/marketplace.json    for Claude Code and Copilot CLI
  .agents/plugins/marketplace.json   for Codex
  .cursor-plugin/marketplace.json    for Cursor
  server.json                        for the MCP registry, if FILE names a bundle and its address

A file with another text is kept, except with --update.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "done, or up to date"},
			{Code: 1, Meaning: "the description or a plugin is at fault, a file exists with another text, or --check found " +
				"differences"},
		},
		Run: func(s cli.Streams, operands []string) error {
			file := market.FileName
			if len(operands) > 0 {
				file = operands[0]
			}
			return makeMarketplace(s, file, check, update, asJSON)
		},
	}
	c.Flags.Bool(&check, "check", "compare the files; write nothing")
	c.Flags.Bool(&update, "update", "replace files that have another text")
	c.Flags.Bool(&asJSON, "json", "print the result, or the error, as JSON and nothing else")
	return c
}

func makeMarketplace(s cli.Streams, file string, check, update, asJSON bool) error {
	switch {
	case file == stdin:
		return cli.Usagef("the paths of the description are relative to its file; a file of that name is ./-")
	case check && update:
		return cli.Usagef("--check and --update exclude each other")
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	d, err := market.Read(file)
	if err != nil {
		return err
	}
	files, err := d.Files(ctx)
	if err != nil {
		return err
	}
	states, err := outdir.Compare(d.Dir, files)
	if err != nil {
		return err
	}
	var old []string // files that are missing or have another text
	var foreign []string
	for i, state := range states {
		if state != outdir.Unchanged {
			old = append(old, files[i].Name)
		}
		if state == outdir.Different {
			foreign = append(foreign, files[i].Name)
		}
	}
	switch {
	case check && len(old) > 0:
		return cli.Failf(cli.CodeInvalid, "not up to date: %s", strings.Join(old, ", ")).
			WithHint("run mcp-bash marketplace --update")
	case !check && !update && len(foreign) > 0:
		return cli.Failf(cli.CodeExists, "%s: another text than %s gives", strings.Join(foreign, ", "),
			cli.Line(filepath.Base(file))).WithHint("compare, then replace it with --update")
	case !check:
		if err := outdir.Write(d.Dir, files, states); err != nil {
			return err
		}
	}
	if asJSON {
		_, err = fmt.Fprintf(s.Out, "%s\n", marketplaceJSON(d, files, states))
		return err
	}
	for i, f := range files {
		cli.Printf(s.Out, "%-9s  %s\n", states[i], f.Name)
	}
	return nil
}

func marketplaceJSON(d *market.Description, files []mcpb.File, states []outdir.State) []byte {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("name").String(d.Name).Name("path").String(d.Dir).Name("plugins").Array()
	for _, e := range d.Entries {
		b.Object().Name("name").String(e.Name()).Name("path").String(e.Path).End()
	}
	b.End().Name("files").Array()
	for i, f := range files {
		b.Object().Name("name").String(f.Name).Name("state").String(string(states[i])).End()
	}
	return b.End().End().Bytes()
}
