package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/npm"
	"mcp-bash/pkg/bundle/plugins"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/bundle/wheel"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/text/shell"
)

type maker struct {
	noun string // for people
	make func(ctx context.Context, p *stage.Stage) ([]*stage.Result, error)
	next func(made []*stage.Result) string // the next steps
}

// one returns a product that is one file or folder.
func one(r *stage.Result, err error) ([]*stage.Result, error) { return []*stage.Result{r}, err }

// A productOptions has the options of the commands that make products for clients and package managers.
type productOptions struct {
	options
	manifestOnly bool
}

// command completes the description of a command for products. choose returns the maker for the options.
func (o *productOptions) command(c *cli.Command, output string, choose func() (maker, error)) *cli.Command {
	c.Operands = []cli.Operand{{Name: "[PROJECT]", Complete: cli.Dirs}}
	c.Exits = []cli.Exit{
		{Code: 0, Meaning: "made, or nothing wrong"},
		{Code: 1, Meaning: "the project is at fault, or writing failed"},
		{Code: 3, Meaning: "the server's program for a system is not available"},
	}
	c.Run = func(s cli.Streams, operands []string) error {
		if len(operands) > 0 {
			o.root = operands[0]
		}
		m, err := choose()
		if err != nil {
			return err
		}
		return o.deliver(s, m)
	}
	c.Flags.String(&o.Output, "output", "PATH", output).Completes(cli.Dirs).Letter("o")
	c.Flags.String(&o.Name, "name", "WORD", "its name; else MCPB_NAME, else that of server.meta.json")
	c.Flags.String(&o.Version, "version", "VERSION", "its version; else MCPB_VERSION, VERSION, server.meta.json")
	o.targets(c)
	c.Flags.Bool(&o.Validate, "validate", "check everything, write nothing")
	c.Flags.Bool(&o.NoSmoke, "no-smoke", "do not start the server to see that it lists its tools")
	o.common(c)
	return c
}

// deliver makes a product and prints the result.
func (o *productOptions) deliver(s cli.Streams, m maker) error {
	if err := o.choose(); err != nil {
		return err
	}
	toStdout := o.Output == stdin
	if toStdout {
		o.Output = ""
		if err := checkStdout(s, "bundle", o.json || o.Validate || o.manifestOnly,
			"--json, --validate and --manifest-only"); err != nil {
			return err
		}
	}
	switch o.Out = s.Out; {
	case o.json || o.manifestOnly:
		o.Out = io.Discard
	case toStdout:
		o.Out = s.Err
	}
	var made []*stage.Result
	err := o.run(s, toStdout, func(ctx context.Context, p *stage.Stage) (file string, err error) {
		if made, err = m.make(ctx, p); err != nil {
			return "", err
		}
		return made[0].Path, nil
	})
	if err != nil || toStdout {
		return err
	}
	for _, r := range made {
		switch {
		case o.json:
			_, err = fmt.Fprintf(s.Out, "%s\n", r.AppendJSON(nil))
		case o.manifestOnly:
			_, err = s.Out.Write(r.Manifest)
		case o.Validate:
			_, err = cli.Printf(s.Out, "\n✓ Validation passed. %s would be: %s\n", m.noun, filepath.Base(r.Path))
		default:
			_, err = cli.Printf(s.Out, "\nCreated: %s (%s)\n", r.Path, cli.Size(r.Bytes))
		}
	}
	if err == nil && !o.json && !o.manifestOnly && !o.Validate {
		_, err = cli.Printf(s.Out, "\nNext steps: %s\n", m.next(made))
	}
	return err
}

// formats are the formats of the command bundle, the default first.
var formats = []string{"mcpb", "plugin"}

func bundleCommand() *cli.Command {
	o, format, manifestVersion, gojq := &productOptions{}, "", "", false
	c := o.command(&cli.Command{
		Name: "bundle",
		Summary: "Make one file of a project that MCP clients install: its scripts, its server, no need of " +
			"anything else but Bash.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "one .mcpb file, in this directory"},
			{Line: "NAME --output dist --platform linux --arch amd64"},
			{Line: "NAME --validate", Purpose: "check everything, write nothing"},
			{Line: "NAME --json | jq -r .path"},
			{Line: "NAME --format plugin", Purpose: "a plugin for coding agents, as one .zip file"},
		},
		Text: `A bundle contains tools, resources, prompts, completions, server.d, lib, providers, ui, config, VERSION, and the
directories and files that MCPB_INCLUDE in mcpb.conf names. It leaves out .git, logs, files with secrets, and the
files that .mcpbignore names, with the syntax of .gitignore.
The same project makes the same bytes, wherever and whenever.

The server's programs for other systems come from --runtime-dir, the installation, its sources (built with Go) or a
release (MCPBASH_RELEASE_BASE_URL).`,
	}, "where the bundle goes: a directory, this one without it, or - for standard output", func() (maker, error) {
		if format == formats[1] {
			if o.manifestOnly || manifestVersion != "" {
				return maker{}, cli.Usagef("--manifest-only and --manifest-version are for --format mcpb: a plugin has several " +
					"manifests")
			}
			return o.plugin(true), nil
		}
		return maker{"Bundle", func(ctx context.Context, p *stage.Stage) ([]*stage.Result, error) {
			if gojq {
				fmt.Fprintln(o.Err, "  ⚠ Warning: --include-gojq: already built in")
			}
			return one(bundle.Make(ctx, p, o.manifestOnly, manifestVersion))
		}, func(made []*stage.Result) string {
			return "open it with your client, or mcp-bash publish " + shell.Quote(fromHere(made[0].Path)) + " --dry-run"
		}}, nil
	})
	c.Flags.One(&format, "format", "FORMAT", formats, "mcpb (the default), or plugin for coding agents")
	c.Flags.Bool(&o.manifestOnly, "manifest-only", "print manifest.json, write nothing")
	c.Flags.One(&manifestVersion, "manifest-version", "VERSION", mcpb.Versions, "of the manifest; 0.3 without it")
	c.Flags.Bool(&gojq, "include-gojq", "accepted for scripts; the server has it built in")
	return c
}

func pluginCommand() *cli.Command {
	o := &productOptions{}
	return o.command(&cli.Command{
		Name:    "plugin",
		Summary: "Make a plugin of a project: one folder that coding agents install, with its server and its skills.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "the folder NAME-plugin, in this directory"},
			{Line: "NAME --output plugins/demo"},
			{Line: "NAME --output demo.zip --platform linux --arch amd64"},
			{Line: "NAME --validate", Purpose: "check everything, write nothing"},
		},
		Text: `Claude Code, Codex, Gemini CLI, Copilot CLI, Qwen Code and Cursor install the same folder. It contains the files
that a bundle of the project would contain, and a manifest for each agent. It also contains the project's skills, icon,
README and licence.
An existing folder is replaced only if this command made it and nobody has changed it.
The same project makes the same bytes, wherever and whenever.`,
	}, `where the plugin goes: a folder, or a file that ends in .zip, or - for an archive on standard output; the folder
		NAME-plugin without it`, func() (maker, error) {
		return o.plugin(o.Output == stdin || strings.HasSuffix(o.Output, ".zip")), nil
	})
}

func (o *productOptions) plugin(isArchive bool) maker {
	return maker{"Plugin", func(ctx context.Context, p *stage.Stage) ([]*stage.Result, error) {
		if o.Output == "" && !isArchive {
			name := plugins.Name(cmp.Or(o.Name, p.Project.Meta.Name))
			p.Output = filepath.Join(p.Output, cmp.Or(name, "mcp-server")+"-plugin")
		}
		return one(plugins.Make(ctx, p, isArchive))
	}, func([]*stage.Result) string { return "mcp-bash marketplace lists it for agents; see docs/PLUGINS.md" }}
}

func npmCommand() *cli.Command {
	o, standalone := &productOptions{}, false
	c := o.command(&cli.Command{
		Name: "npm", NotVerb: true,
		Summary: "Make an npm package of a project, so that others start its server with npx.",
		Examples: []cli.Example{
			{Line: "NAME --name @you/my-tools", Purpose: "you-my-tools-1.0.0.tgz, in this directory"},
			{Line: "NAME --name @you/my-tools --standalone --output dist", Purpose: "packages with the programs, too"},
			{Line: "NAME --validate", Purpose: "check everything, write nothing"},
		},
		Text: `The package contains the files that a bundle of the project would contain, README and licence. npm installs the
server's program from another package, which it chooses by the system. These packages are @mcp-bash/runtime-SYSTEM, or
with --standalone packages next to it, such as @you/my-tools-linux-x64.
Each package is a file for npm publish, and a folder with the same content to look at.
The same project makes the same bytes, wherever and whenever.`,
	}, "where the packages go: a directory, this one without it", func() (maker, error) {
		full := o.Name
		if _, name, isScoped := strings.Cut(full, "/"); isScoped {
			o.Name = name
		}
		o.Apart = !standalone
		return maker{"Package", func(ctx context.Context, p *stage.Stage) ([]*stage.Result, error) {
			p.Instructions = instructions(p.Project, "npm:")
			return one(npm.Make(ctx, p, npm.Options{Name: full, Standalone: standalone}))
		}, func(made []*stage.Result) string {
			if dir := fromHere(filepath.Dir(made[0].Path)); dir != "." { // npm takes dir/file for a repository
				return "cd " + shell.Quote(dir) + " && " + npm.Commands(made[0])
			}
			return npm.Commands(made[0])
		}}, o.inDirectory()
	})
	c.Flags.Bool(&standalone, "standalone", "make the packages with the programs, too")
	o.registryName(c)
	o.arch = "amd64,arm64"
	return c
}

func wheelCommand() *cli.Command {
	o := &productOptions{}
	c := o.command(&cli.Command{
		Name:    "wheel",
		Summary: "Make Python wheels of a project, with which uvx, pipx and pip start its server.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "a wheel for each system, in this directory"},
			{Line: "NAME --output dist --platform linux --arch amd64"},
			{Line: "NAME --validate", Purpose: "check everything, write nothing"},
		},
		Text: `The command of a wheel is the server's program. It serves the project next to it and needs no Python to run.
The same project makes the same bytes, wherever and whenever.`,
	}, "where the wheels go: a directory, this one without it", func() (maker, error) {
		return maker{"Wheel", func(ctx context.Context, p *stage.Stage) ([]*stage.Result, error) {
			p.Instructions = instructions(p.Project, "pypi:")
			return wheel.Make(ctx, p)
		}, func(made []*stage.Result) string {
			command := "twine upload"
			for _, r := range made {
				command += " " + shell.Quote(fromHere(r.Path))
			}
			return command
		}}, o.inDirectory()
	})
	o.registryName(c)
	return c
}

// inDirectory returns an error if several files should go to standard output.
func (o *productOptions) inDirectory() error {
	if o.Output == stdin {
		return cli.Usagef("--output takes a directory for the packages, not standard output")
	}
	return nil
}

// instructions returns a function for the section of a package's README with the entries for clients. kind is the
// prefix in the value of mcp-bash config --package.
func instructions(p *project.Project, kind string) func(name, version string) (string, error) {
	return func(name, version string) (string, error) {
		published, err := clients.ParsePackage(kind + name + "@" + version)
		if err != nil {
			return "", err
		}
		return published.Instructions(roots.InProject(p))
	}
}
