package main

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/npm"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
)

func npmCommand() *cli.Command {
	o, made := &bundleOptions{}, npm.Options{}
	c := &cli.Command{
		Name: "npm", NotVerb: true,
		Summary: "Make an npm package of a project, so that others start its server with npx.",
		Examples: []cli.Example{
			{Line: "NAME --name @you/my-tools", Purpose: "you-my-tools-1.0.0.tgz, in this directory"},
			{Line: "NAME --name @you/my-tools --standalone --output dist", Purpose: "packages with the programs, too"},
			{Line: "NAME --validate", Purpose: "check everything, write nothing"},
		},
		Operands: []cli.Operand{{Name: "[PROJECT]", Complete: cli.Dirs}},
		Text: `The package contains the files that a bundle of the project would contain, README and licence. npm installs the
server's program from another package, which it chooses by the system. These packages are @mcp-bash/runtime-SYSTEM, or
with --standalone packages next to it, such as @you/my-tools-linux-x64.
Each package is a file for npm publish, and a folder with the same content to look at.
The same project makes the same bytes, wherever and whenever.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "made, or nothing wrong"},
			{Code: 1, Meaning: "the project is at fault, or writing failed"},
			{Code: 3, Meaning: "the server's program for a system is not available"},
		},
		Run: func(s cli.Streams, operands []string) error {
			if len(operands) > 0 {
				o.root = operands[0]
			}
			return o.makeNPM(s, made)
		},
	}
	c.Flags.String(&o.output, "output", "DIR", "where the packages go: a directory, this one without it").
		Completes(cli.Dirs).Letter("o")
	c.Flags.Bool(&made.Standalone, "standalone", "make the packages with the programs, too")
	o.registryName(c)
	o.common(c)
	o.arch = "amd64,arm64"
	return c
}

func (o *bundleOptions) makeNPM(s cli.Streams, made npm.Options) error {
	if o.output == stdin {
		return cli.Usagef("--output takes a directory for the packages, not standard output")
	}
	made.Package = o.Name
	if _, name, isScoped := strings.Cut(o.Name, "/"); isScoped {
		o.Name = name
	}
	return o.deliver(s, "Package", func(ctx context.Context, p *project.Project, _ string) (_ *stage.Result, err error) {
		made.Options, made.Validate = o.Options, o.validate
		made.Instructions = instructions(p, "npm:")
		if made.Output, err = filepath.Abs(cmp.Or(o.output, ".")); err != nil {
			return nil, err
		}
		return npm.Make(ctx, p, made)
	})
}

// instructions returns a function for the section of a package's README that shows the entries for clients. The kind
// begins the value of mcp-bash config --package.
func instructions(p *project.Project, kind string) func(name, version string) (string, error) {
	return func(name, version string) (string, error) {
		published, err := clients.ParsePackage(kind + name + "@" + version)
		if err != nil {
			return "", err
		}
		return published.Instructions(roots.InProject(p))
	}
}
