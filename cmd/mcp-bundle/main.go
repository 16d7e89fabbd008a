// Mcp-bundle ships projects: as a bundle, or as a project that contains its own server.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
)

func main() { os.Exit(cli.Run("mcp-bundle", run)) }

func run(s cli.Streams, args []string) int { return command().MainOf(s, args) }

func command() *cli.Command {
	return &cli.Command{
		Name: "mcp-bundle", NotVerb: true,
		Summary: "Make what others install: bundles, plugins, packages and container images of a project, or a project " +
			"with its own server.",
		Examples: []cli.Example{
			{Line: "NAME bundle", Purpose: "one file that clients install"},
			{Line: "NAME inspect demo-1.0.0.mcpb", Purpose: "show its contents"},
			{Line: "NAME plugin", Purpose: "a folder that coding agents install"},
			{Line: "NAME npm", Purpose: "a package that npx starts"},
			{Line: "NAME image", Purpose: "a container image"},
			{Line: "NAME vendor", Purpose: "put the server into the project"},
		},
		Exits: []cli.Exit{
			{Code: 0, Meaning: "done"},
			{Code: 1, Meaning: "it failed, or a check found errors"},
			{Code: 3, Meaning: "a program or a package for a system is not available"},
		},
		Commands: []*cli.Command{
			bundleCommand(), validateCommand(), inspectCommand(), diffCommand(), unpackCommand(),
			publishCommand(), vendorCommand(), imageCommand(), manifestCommand(), pluginCommand(),
			marketplaceCommand(), npmCommand(), wheelCommand(),
		},
	}
}

// options are the options of commands that make a product with the server's programs.
type options struct {
	stage.Options
	root           string
	platform, arch string
	json           bool
	flags          *cli.Flags
}

// common adds the options of bundle, plugin and image.
func (o *options) common(c *cli.Command) {
	o.runtimes(c)
	c.Flags.Bool(&o.Strict, "strict", "warnings are errors")
	c.Flags.Bool(&o.NoExec, "no-exec-config", "never run mcpb.conf as a shell script")
	c.Flags.Bool(&o.Verbose, "verbose", "say more")
	c.Flags.ProjectRoot(&o.root)
	c.Flags.Bool(&o.json, "json", "print the result, or the error, as JSON and nothing else")
}

func (o *options) runtimes(c *cli.Command) {
	c.Flags.String(&o.RuntimeDir, "runtime-dir", "DIR", `where the server's programs are: DIR/linux-amd64/mcp-bash and so on;
		else MCPBASH_RUNTIME_DIR`).Completes(cli.Dirs)
}

// registryName adds the option that names the server in the MCP registry to which a product belongs.
func (o *options) registryName(c *cli.Command) {
	c.Flags.String(&o.RegistryName, "server-name", "NAME", `the server's name in the MCP registry, such as
		io.github.you/demo; else "mcpName" in server.meta.json`)
}

// targets adds the options that choose systems.
func (o *options) targets(c *cli.Command) {
	o.platform, o.flags = "all", &c.Flags
	c.Flags.One(&o.platform, "platform", "PLATFORM", append([]string{"all"}, runtimes.Platforms...),
		"darwin, linux, win32 or all")
	c.Flags.String(&o.arch, "arch", "LIST", "amd64, arm64 or both, with a comma; usual ones without it").
		Completes(cli.Words("amd64", "arm64", "amd64,arm64"))
	c.Flags.Bool(&o.Offline, "offline", "download nothing")
}

// choose sets the systems. If the user named them, a missing program for one of them is an error.
func (o *options) choose() error {
	var arches []string
	for arch := range strings.SplitSeq(o.arch, ",") {
		if arch = strings.TrimSpace(arch); arch == "amd64" || arch == "arm64" {
			arches = append(arches, arch)
		} else if o.arch != "" {
			return cli.Usagef("--arch: unknown architecture %q; there are amd64, arm64", arch)
		}
	}
	o.Targets = runtimes.Select(o.platform, arches)
	o.AllTargets = o.flags.Given("platform") || o.flags.Given("arch")
	return nil
}

// checkStdout returns an error if a product cannot go to standard output. excludes are options that also write there.
func checkStdout(s cli.Streams, product string, used bool, excludes string) error {
	switch {
	case used:
		return cli.Usagef("--output - writes the %s to standard output, and excludes %s", product, excludes)
	case cli.IsTerminal(s.Out):
		return cli.Usagef("--output -: standard output is a terminal; redirect it")
	}
	return nil
}

// run makes a product of the project, in a temporary directory if the product goes to standard output. make returns the
// path of the product.
func (o *options) run(s cli.Streams, toStdout bool,
	make func(ctx context.Context, p *stage.Stage) (file string, err error)) error {
	p, err := project.Find(o.root, s.Notice)
	if err != nil {
		return err
	}
	o.Home, o.Tree, o.Err, o.Bar = project.InstalledHome(p.Env), tree.Embedded(), s.Err, cli.NewBar(s)
	ctx, stop := cli.UntilSignal()
	defer stop()
	file := ""
	staged, err := stage.Open(ctx, p, o.Options)
	if err == nil {
		defer staged.Close()
		if toStdout {
			staged.Output = staged.WorkDir("out")
		}
		file, err = make(ctx, staged)
	}
	o.Bar.End()
	if err != nil {
		return failed(s, err)
	}
	if toStdout {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(s.Out, f)
		return err
	}
	return nil
}

// fromHere returns a path relative to the current directory if it is below that.
func fromHere(file string) string {
	here, err := os.Getwd()
	if err != nil {
		return file
	}
	return filepath.FromSlash(folder.Label(here, file))
}

// failed returns the error of a command for an error of the packages that make products.
func failed(s cli.Streams, err error) error {
	var ended cli.ExitCode
	var failure *stage.Failure
	switch {
	case errors.As(err, &ended):
		return ended
	case !errors.As(err, &failure):
		return err
	}
	e := &cli.Error{Code: cli.CodeInvalid, Printed: true, Cause: failure}
	headline := "Bundle validation failed."
	switch failure.About {
	case stage.ErrConfiguration:
		headline = "Bundle configuration failed."
	case stage.ErrPackages:
		e.Code, e.Exit, headline = cli.CodeDepends, cli.ExitPolicy, "The Debian packages are not available."
	case stage.ErrRuntime:
		e.Code, e.Exit, headline = cli.CodeDepends, cli.ExitPolicy, "The server's program is missing."
	}
	cli.Printf(s.Err, "\n✗ %s\n", headline)
	return e
}
