package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mcp-bash/pkg/bundle"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
)

type options struct {
	bundle.Options
	root            string
	platform, arch  string
	gojq, json      bool
	flags           *cli.Flags
	token, url      string
	serverName      string
	emit            bool
	upgrade, verify bool
	dryRun, verbose bool
	output, format  string
}

func bundleCommand() *cli.Command {
	o := &options{platform: "all"}
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
			{Code: 3, Meaning: "the server's program for a system could not be had"},
		},
		Run: func(s cli.Streams, _ []string) error {
			if o.Format = bundle.Format(o.format); o.Format == bundle.PluginArchive &&
				(o.ManifestOnly || o.ManifestVersion != "") {
				return cli.Usagef("--manifest-only and --manifest-version are for --format mcpb: a plugin has several manifests")
			}
			return o.makeBundle(s)
		},
	}
	c.Flags.String(&o.Output, "output", "DIR", `where the bundle goes: a directory, this one without it, or - for standard
		output`).Completes(cli.Dirs)
	c.Flags.One(&o.format, "format", "FORMAT", []string{string(bundle.Bundle), string(bundle.PluginArchive)},
		"mcpb (the default), or plugin for coding agents")
	o.common(c)
	c.Flags.Bool(&o.ManifestOnly, "manifest-only", "print manifest.json, write nothing")
	c.Flags.One(&o.ManifestVersion, "manifest-version", "VERSION", mcpb.Versions, "of the manifest; 0.3 without it")
	c.Flags.Bool(&o.gojq, "include-gojq", "accepted for scripts; the server has it built in")
	return c
}

// common adds the options of bundle and plugin.
func (o *options) common(c *cli.Command) {
	c.Flags.String(&o.Name, "name", "WORD", "its name; else MCPB_NAME, else that of server.meta.json")
	c.Flags.String(&o.Version, "version", "VERSION", "its version; else MCPB_VERSION, VERSION, server.meta.json")
	o.targets(c)
	c.Flags.Bool(&o.Validate, "validate", "check everything, write nothing")
	c.Flags.Bool(&o.Strict, "strict", "warnings are errors")
	c.Flags.Bool(&o.NoExec, "no-exec-config", "never run mcpb.conf as a shell script")
	c.Flags.Bool(&o.NoSmoke, "no-smoke", "do not start the server to see that it lists its tools")
	c.Flags.Bool(&o.Verbose, "verbose", "say more")
	c.Flags.ProjectRoot(&o.root)
	c.Flags.Bool(&o.json, "json", "print the result, or the error, as JSON and nothing else")
}

// targets adds the options that choose systems.
func (o *options) targets(c *cli.Command) {
	o.flags = &c.Flags
	c.Flags.One(&o.platform, "platform", "PLATFORM", append([]string{"all"}, runtimes.Platforms...),
		"darwin, linux, win32 or all")
	c.Flags.String(&o.arch, "arch", "LIST", "amd64, arm64 or both, with a comma; usual ones without it").
		Completes(cli.Words("amd64", "arm64", "amd64,arm64"))
	c.Flags.String(&o.RuntimeDir, "runtime-dir", "DIR", `where the server's programs are: DIR/linux-amd64/mcp-bash and so on;
		else MCPBASH_RUNTIME_DIR`).Completes(cli.Dirs)
	c.Flags.Bool(&o.Offline, "offline", "download nothing")
}

func (o *options) chosen() ([]runtimes.Target, error) {
	var arches []string
	if o.arch != "" {
		var err error
		if arches, err = runtimes.ParseArches(o.arch); err != nil {
			return nil, cli.Usagef("--arch: %v", err)
		}
	}
	return runtimes.Select(o.platform, arches), nil
}

// chose reports whether systems were asked for; all of them must be there then.
func (o *options) chose() bool { return o.flags.Given("platform") || o.flags.Given("arch") }

func (o *options) makeBundle(s cli.Streams) error {
	targets, err := o.chosen()
	if err != nil {
		return err
	}
	toStdout := o.Output == stdin
	switch {
	case !toStdout:
	case o.json || o.Validate || o.ManifestOnly:
		return cli.Usagef("--output - writes the bundle to standard output, and excludes --json, --validate and " +
			"--manifest-only")
	case cli.IsTerminal(s.Out):
		return cli.Usagef("--output -: standard output is a terminal; redirect it")
	}
	p, home, err := open(s, o.root)
	if err != nil {
		return err
	}
	if toStdout {
		dir, err := project.MakeWorkDir(p.Env)
		if err != nil {
			return err
		}
		defer dir.Remove()
		o.Output = dir.Path
	}
	o.Output = cmp.Or(o.Output, ".")
	if o.Output, err = filepath.Abs(o.Output); err != nil {
		return err
	}
	o.Targets, o.AllTargets = targets, o.chose()
	o.Home, o.Tree, o.Out, o.Err = home, tree.Embedded(), s.Out, s.Err
	switch {
	case o.json || o.ManifestOnly:
		o.Out = io.Discard
	case toStdout:
		o.Out = s.Err
	}
	o.Bar = cli.NewBar(s)
	if o.gojq {
		fmt.Fprintln(s.Err, "  ⚠ Warning: --include-gojq: already built in")
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	result, err := bundle.Make(ctx, p, o.Options)
	o.Bar.End()
	if err != nil {
		return failed(s, err)
	}
	switch {
	case toStdout:
		return printFile(s, result.Path)
	case o.json:
		fmt.Fprintf(s.Out, "%s\n", result.AppendJSON(nil))
	case o.ManifestOnly:
		_, err = s.Out.Write(result.Manifest)
	case o.Validate:
		what := "Bundle"
		if o.Format != "" && o.Format != bundle.Bundle {
			what = "Plugin"
		}
		cli.Printf(s.Out, "\n✓ Validation passed. %s would be: %s\n", what, filepath.Base(result.Path))
	default:
		cli.Printf(s.Out, "\nCreated: %s (%s)\n\n", result.Path, cli.Size(result.Bytes))
		if o.Format != "" && o.Format != bundle.Bundle {
			cli.Printf(s.Out, "Next steps: mcp-bash marketplace lists it for agents; see docs/PLUGINS.md\n")
			return nil
		}
		cli.Printf(s.Out, "Next steps: open it with your client, or mcp-bash publish %s --dry-run\n",
			filepath.Base(result.Path))
	}
	return err
}

func printFile(s cli.Streams, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(s.Out, f)
	return err
}

// open opens the project, and finds the installation tree around this program.
func open(s cli.Streams, named string) (*project.Project, string, error) {
	p, err := project.Find(named, s.Notice)
	if err != nil {
		return nil, "", err
	}
	return p, project.InstalledHome(p.Env), nil
}

// failed is the error of a command for one of the packages below.
func failed(s cli.Streams, err error) error {
	var ended cli.ExitCode
	var failure *bundle.Failure
	switch {
	case errors.As(err, &ended):
		return ended
	case !errors.As(err, &failure):
		return err
	}
	e := &cli.Error{Code: cli.CodeInvalid, Printed: true, Cause: failure}
	headline := "Bundle validation failed."
	switch failure.About {
	case bundle.ErrConfiguration:
		headline = "Bundle configuration failed."
	case bundle.ErrPackages:
		e.Code, e.Exit, headline = cli.CodeDepends, cli.ExitPolicy, "The Debian packages could not be had."
	case bundle.ErrRuntime:
		e.Code, e.Exit, headline = cli.CodeDepends, cli.ExitPolicy, "The server's program is missing."
	}
	cli.Printf(s.Err, "\n✗ %s\n", headline)
	return e
}
