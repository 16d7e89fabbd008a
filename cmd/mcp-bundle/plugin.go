package main

import (
	"cmp"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle"
	"mcp-bash/pkg/bundle/plugins"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

func pluginCommand() *cli.Command {
	o := &options{platform: "all"}
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
			{Code: 3, Meaning: "the server's program for a system could not be had"},
		},
		Run: func(s cli.Streams, operands []string) error {
			if len(operands) > 0 {
				o.root = operands[0]
			}
			return o.makePlugin(s)
		},
	}
	c.Flags.String(&o.Output, "output", "PATH", `where the plugin goes: a folder, or a file that ends in .zip, or - for an
		archive on standard output; the folder NAME-plugin without it`).Completes(cli.Dirs).Letter("o")
	o.common(c)
	return c
}

func (o *options) makePlugin(s cli.Streams) error {
	o.Format = bundle.PluginFolder
	if o.Output == stdin {
		o.Format = bundle.PluginArchive
		return o.makeBundle(s)
	}
	if o.Output == "" {
		p, _, err := open(s, o.root)
		if err != nil {
			return err
		}
		o.Output = pluginFolder(o.Name, p)
	}
	if strings.HasSuffix(o.Output, ".zip") {
		o.Format = bundle.PluginArchive
		o.Output, o.File = filepath.Split(o.Output)
	}
	return o.makeBundle(s)
}

func pluginFolder(name string, p *project.Project) string {
	name = cmp.Or(name, p.Meta.Name)
	if name = plugins.Name(name); name == "" {
		name = "mcp-server"
	}
	return name + "-plugin"
}
