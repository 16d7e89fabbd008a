package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
)

func imageCommand() *cli.Command {
	o := &bundle.ImageOptions{Format: bundle.Formats[0]}
	var root, platform string
	var asJSON bool
	c := &cli.Command{
		Name:    "image",
		Summary: "Make a container image of a project, without a container engine and without a registry.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "an OCI archive in this directory"},
			{Line: "NAME ~/demo -o - --format docker | docker load"},
			{Line: "NAME -o demo.tar --tag registry.example/team/demo --platform linux/amd64,linux/arm64"},
			{Line: "NAME --json | jq -r .digest"},
		},
		Operands: []cli.Operand{{Name: "[PROJECT]", Complete: cli.Dirs}},
		Text: `The image contains the server and the files of the project that a bundle would contain. It also contains
Bash, coreutils and other basic packages of Debian, and the packages for the programs in server.d/requirements.json.
Packages are downloaded from a mirror of Debian. Their signatures and checksums are always checked. The cache keeps
packages for later runs.

The server runs as user 65532 and writes only to /tmp, so the root directory can be read-only. Without arguments it
serves standard input and output. For HTTP, pass "serve --http 0.0.0.0:8000" and a way to authenticate clients.
The same project, packages and server give the same digest. --snapshot fixes the packages.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "made"}, {Code: 1, Meaning: "the project is at fault, or writing failed"},
			{Code: 3, Meaning: "a Debian package, or the server's program for a platform, could not be had"},
		},
		Run: func(s cli.Streams, operands []string) error {
			if len(operands) > 0 {
				root = operands[0]
			}
			return makeImage(s, o, root, platform, asJSON)
		},
	}
	c.Flags.String(&o.Output, "output", "FILE|DIR", `where the image goes: a file ending in .tar, a new directory, or -
		for standard output; NAME-VERSION.tar without it`).Completes(cli.Files).Letter("o")
	c.Flags.One(&o.Format, "format", "FORMAT", bundle.Formats, "oci or docker; docker is for one platform")
	c.Flags.String(&platform, "platform", "LIST", `linux/amd64, linux/arm64 or both, with a comma; without it, both
		for oci and this machine's for docker`).Completes(cli.Words("linux/amd64", "linux/arm64", "linux/amd64,linux/arm64"))
	c.Flags.String(&o.Tag, "tag", "NAME", "the image's name for container engines, such as example.com/team/demo:1.0.0")
	c.Flags.Strings(&o.Packages, "package", "NAME", "a further Debian package; can be given several times")
	c.Flags.String(&o.Mirror, "mirror", "URL", "a directory with debian and debian-security; "+
		bundle.DefaultMirror+" without it")
	c.Flags.String(&o.Snapshot, "snapshot", "TIME", "the packages of a time, such as 20261101T000000Z, from "+
		"snapshot.debian.org")
	c.Flags.String(&o.Keyring, "keyring", "FILE", "the public keys of the mirror, instead of Debian's").
		Completes(cli.Files)
	c.Flags.String(&o.RegistryName, "server-name", "NAME", "the server's name in the MCP registry, such as "+
		"io.github.you/demo")
	c.Flags.String(&o.Version, "version", "VERSION", "the image's version; else that of a bundle")
	c.Flags.String(&o.RuntimeDir, "runtime-dir", "DIR", `where the server's programs are: DIR/linux-amd64/mcp-bash and so on;
		else MCPBASH_RUNTIME_DIR`).Completes(cli.Dirs)
	c.Flags.Bool(&o.Offline, "offline", "download nothing; use the cache")
	c.Flags.Bool(&o.Strict, "strict", "warnings are errors")
	c.Flags.Bool(&o.NoExec, "no-exec-config", "never run mcpb.conf as a shell script")
	c.Flags.Bool(&o.Verbose, "verbose", "say more")
	c.Flags.ProjectRoot(&root)
	c.Flags.Bool(&asJSON, "json", "print the result, or the error, as JSON and nothing else")
	return c
}

// imagePlatforms returns the systems of a list such as linux/amd64,linux/arm64.
func imagePlatforms(list, format string) ([]runtimes.Target, error) {
	both := []runtimes.Target{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}}
	if list == "" {
		if format == "docker" {
			return []runtimes.Target{{OS: "linux", Arch: runtime.GOARCH}}, nil
		}
		return both, nil
	}
	var targets []runtimes.Target
	for name := range strings.SplitSeq(list, ",") {
		target := slices.IndexFunc(both, func(t runtimes.Target) bool { return t.OS+"/"+t.Arch == name })
		if target < 0 {
			return nil, cli.Usagef("--platform: unknown platform %q; use linux/amd64, linux/arm64 or both with a comma", name)
		}
		if !slices.Contains(targets, both[target]) {
			targets = append(targets, both[target])
		}
	}
	if format == "docker" && len(targets) > 1 {
		return nil, cli.Usagef("--format docker is for one platform; choose it with --platform, or use --format oci")
	}
	slices.SortFunc(targets, func(a, b runtimes.Target) int { return strings.Compare(a.Arch, b.Arch) })
	return targets, nil
}

func makeImage(s cli.Streams, o *bundle.ImageOptions, root, platform string, asJSON bool) error {
	targets, err := imagePlatforms(platform, o.Format)
	if err != nil {
		return err
	}
	toStdout := o.Output == stdin
	switch {
	case o.Mirror != "" && !strings.HasPrefix(o.Mirror, "https://") && !strings.HasPrefix(o.Mirror, "http://"):
		return cli.Usagef("--mirror: not a URL that begins with https:// or http://")
	case o.Keyring == stdin:
		return cli.Usagef("--keyring takes a file, not standard input; a file of that name is ./-")
	case o.Format == "docker" && !toStdout && o.Output != "" && !strings.HasSuffix(o.Output, ".tar"):
		return cli.Usagef("--format docker makes an archive; name a file that ends in .tar")
	case !toStdout:
	case asJSON:
		return cli.Usagef("--output - writes the image to standard output, and excludes --json")
	case cli.IsTerminal(s.Out):
		return cli.Usagef("--output -: standard output is a terminal; redirect it")
	}
	p, home, err := open(s, root)
	if err != nil {
		return err
	}
	o.Targets, o.AllTargets = targets, platform != ""
	o.Home, o.Tree, o.Out, o.Err = home, tree.Embedded(), s.Err, s.Err
	if asJSON || !cli.IsTerminal(s.Err) && !o.Verbose {
		o.Out = io.Discard
	}
	if toStdout {
		dir, err := project.MakeWorkDir(p.Env)
		if err != nil {
			return err
		}
		defer dir.Remove()
		o.Output = filepath.Join(dir.Path, "image.tar")
	}
	o.Bar = cli.NewBar(s)
	ctx, stop := cli.UntilSignal()
	defer stop()
	result, err := bundle.MakeImage(ctx, p, *o)
	o.Bar.End()
	if err != nil {
		return failed(s, err)
	}
	switch {
	case toStdout:
		return printFile(s, result.Path)
	case asJSON:
		fmt.Fprintf(s.Out, "%s\n", result.AppendJSON(nil))
		return nil
	}
	shown := result.Path
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, shown); err == nil && filepath.IsLocal(rel) {
			shown = rel
		}
	}
	_, err = cli.Printf(s.Out, "%s\n%s (%s), %s\n", result.Digest, shown, cli.Size(result.Bytes), result.Tag)
	return err
}
