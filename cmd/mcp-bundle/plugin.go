package main

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/plugins"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

func pluginCommand() *cli.Command {
	o := &bundleOptions{}
	c := &cli.Command{
		Name:    "plugin",
		Summary: "Make a plugin of a project: one folder that coding agents install, with its server and its skills.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "the folder NAME-plugin, in this directory"},
			{Line: "NAME --output plugins/demo"},
			{Line: "NAME --output demo.zip --platform linux --arch amd64"},
			{Line: "NAME --validate", Purpose: "check everything, write nothing"},
		},
		Operands: []cli.Operand{{Name: "[PROJECT]", Complete: cli.Dirs}},
		Text: `Claude Code, Codex, Gemini CLI, Copilot CLI, Qwen Code and Cursor install the same folder. It contains the files
that a bundle of the project would contain, and a manifest for each agent. It also contains the project's skills, icon,
README and licence.
An existing folder is replaced only if this command made it and nobody has changed it.
The same project makes the same bytes, wherever and whenever.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "made, or nothing wrong"},
			{Code: 1, Meaning: "the project is at fault, the folder is not ours, or writing failed"},
			{Code: 3, Meaning: "the server's program for a system is not available"},
		},
		Run: func(s cli.Streams, operands []string) error {
			if len(operands) > 0 {
				o.root = operands[0]
			}
			made := plugins.Options{Output: o.output}
			if made.Archive = o.output == stdin || strings.HasSuffix(o.output, ".zip"); made.Archive {
				made.Output, made.File = filepath.Split(o.output)
			}
			return o.makePlugin(s, made)
		},
	}
	c.Flags.String(&o.output, "output", "PATH", `where the plugin goes: a folder, or a file that ends in .zip, or - for an
		archive on standard output; the folder NAME-plugin without it`).Completes(cli.Dirs).Letter("o")
	o.common(c)
	return c
}

func (o *bundleOptions) makePlugin(s cli.Streams, made plugins.Options) error {
	return o.deliver(s, "Plugin", func(ctx context.Context, p *project.Project, dir string) (_ *stage.Result, err error) {
		made.Options, made.Validate = o.Options, o.validate
		switch {
		case dir != "":
			made.Output, made.File = dir, ""
		case made.Output == "" && !made.Archive:
			made.Output = cmp.Or(plugins.Name(cmp.Or(o.Name, p.Meta.Name)), "mcp-server") + "-plugin"
		}
		if made.Output, err = filepath.Abs(cmp.Or(made.Output, ".")); err != nil {
			return nil, err
		}
		return plugins.Make(ctx, p, made)
	})
}
