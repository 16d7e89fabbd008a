package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"mcp-bash/pkg/bundle"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/npm"
	"mcp-bash/pkg/bundle/plugins"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

func bundleCommand() *cli.Command {
	o := &bundleOptions{}
	c := &cli.Command{
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
		Exits: []cli.Exit{
			{Code: 0, Meaning: "made, or nothing wrong"},
			{Code: 1, Meaning: "the project is at fault, or writing failed"},
			{Code: 3, Meaning: "the server's program for a system is not available"},
		},
		Run: func(s cli.Streams, _ []string) error {
			if o.format == formats[1] {
				if o.manifestOnly || o.manifestVersion != "" {
					return cli.Usagef("--manifest-only and --manifest-version are for --format mcpb: a plugin has several manifests")
				}
				return o.makePlugin(s, plugins.Options{Output: o.output, Archive: true})
			}
			return o.makeBundle(s)
		},
	}
	c.Flags.String(&o.output, "output", "DIR", `where the bundle goes: a directory, this one without it, or - for standard
		output`).Completes(cli.Dirs)
	c.Flags.One(&o.format, "format", "FORMAT", formats, "mcpb (the default), or plugin for coding agents")
	o.common(c)
	c.Flags.Bool(&o.manifestOnly, "manifest-only", "print manifest.json, write nothing")
	c.Flags.One(&o.manifestVersion, "manifest-version", "VERSION", mcpb.Versions, "of the manifest; 0.3 without it")
	c.Flags.Bool(&o.gojq, "include-gojq", "accepted for scripts; the server has it built in")
	return c
}

// formats are the formats of the command bundle, the default first.
var formats = []string{"mcpb", "plugin"}

// A bundleOptions has the options of the commands bundle and plugin.
type bundleOptions struct {
	options
	output, format  string
	validate        bool
	manifestOnly    bool
	manifestVersion string
	gojq            bool
}

// common adds the options that both commands have.
func (o *bundleOptions) common(c *cli.Command) {
	c.Flags.String(&o.Name, "name", "WORD", "its name; else MCPB_NAME, else that of server.meta.json")
	c.Flags.String(&o.Version, "version", "VERSION", "its version; else MCPB_VERSION, VERSION, server.meta.json")
	o.targets(c)
	c.Flags.Bool(&o.validate, "validate", "check everything, write nothing")
	c.Flags.Bool(&o.NoSmoke, "no-smoke", "do not start the server to see that it lists its tools")
	o.options.common(c)
}

func (o *bundleOptions) makeBundle(s cli.Streams) error {
	return o.deliver(s, "Bundle", func(ctx context.Context, p *project.Project, dir string) (*stage.Result, error) {
		dir, err := filepath.Abs(cmp.Or(dir, o.output, "."))
		if err != nil {
			return nil, err
		}
		return bundle.Make(ctx, p, bundle.Options{Options: o.Options, Output: dir, Validate: o.validate,
			ManifestOnly: o.manifestOnly, ManifestVersion: o.manifestVersion})
	})
}

// deliver makes a bundle or a plugin, and reports it.
func (o *bundleOptions) deliver(s cli.Streams, what string,
	produce func(ctx context.Context, p *project.Project, dir string) (*stage.Result, error)) error {
	if err := o.choose(); err != nil {
		return err
	}
	toStdout := o.output == stdin
	if toStdout {
		o.output = ""
		if err := checkStdout(s, "bundle", o.json || o.validate || o.manifestOnly,
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
	if o.gojq {
		fmt.Fprintln(s.Err, "  ⚠ Warning: --include-gojq: already built in")
	}
	var r *stage.Result
	err := o.run(s, toStdout, func(ctx context.Context, p *project.Project, dir string) (file string, err error) {
		if r, err = produce(ctx, p, dir); err != nil {
			return "", err
		}
		return r.Path, nil
	})
	switch {
	case err != nil || toStdout:
		return err
	case o.json:
		_, err = fmt.Fprintf(s.Out, "%s\n", r.AppendJSON(nil))
	case o.manifestOnly:
		_, err = s.Out.Write(r.Manifest)
	case o.validate:
		_, err = cli.Printf(s.Out, "\n✓ Validation passed. %s would be: %s\n", what, filepath.Base(r.Path))
	default:
		next := "mcp-bash marketplace lists it for agents; see docs/PLUGINS.md"
		switch what {
		case "Bundle":
			next = fmt.Sprintf("open it with your client, or mcp-bash publish %s --dry-run", filepath.Base(r.Path))
		case "Package":
			next = npm.Commands(r)
		}
		_, err = cli.Printf(s.Out, "\nCreated: %s (%s)\n\nNext steps: %s\n", r.Path, cli.Size(r.Bytes), next)
	}
	return err
}
