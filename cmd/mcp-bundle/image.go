package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/image"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

// An imageOptions has the options of the command image.
type imageOptions struct {
	options
	image image.Options
}

func imageCommand() *cli.Command {
	o := &imageOptions{image: image.Options{Format: image.OCI}}
	c := &cli.Command{
		Name:    "image",
		Summary: "Make a container image of a project, without a container engine and without a registry.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "an OCI archive in this directory"},
			{Line: "NAME ~/demo -o - --format docker | docker load"},
			{Line: "NAME -o demo.tar --tag registry.example/team/demo --platform linux/amd64,linux/arm64"},
			{Line: "NAME --format context -o build && podman build build", Purpose: "add programs that Debian lacks"},
			{Line: "NAME --json | jq -r .digest"},
		},
		Operands: []cli.Operand{{Name: "[PROJECT]", Complete: cli.Dirs}},
		Text: `The image contains the server and the files of the project that a bundle would contain. It also contains
Bash, coreutils and other basic packages of Debian, and the packages for the programs in server.d/requirements.json.
Packages are downloaded from a mirror of Debian. Their signatures and checksums are always checked. The cache keeps
packages for later runs.

The server runs as user 65532 and writes only to /tmp, so the root directory can be read-only. Without arguments it
serves standard input and output. For HTTP, pass "serve --http 0.0.0.0:8000" and a way to authenticate clients.
The same project, packages and server give the same digest. --snapshot fixes the packages.

--format context writes a Containerfile and the files that it copies, for docker build, podman build and buildah. The
engine installs the packages. If the project has a Containerfile, that one is kept. It gets a first stage, mcp-bash,
with the server and the project.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "made"}, {Code: 1, Meaning: "the project is at fault, or writing failed"},
			{Code: 3, Meaning: "a Debian package, or the server's program for a platform, is not available"},
		},
		Run: func(s cli.Streams, operands []string) error {
			if len(operands) > 0 {
				o.root = operands[0]
			}
			return o.make(s)
		},
	}
	c.Flags.String(&o.image.Output, "output", "FILE|DIR", `where the image goes: a file ending in .tar, a new directory,
		or - for standard output; NAME-VERSION.tar or NAME-VERSION-context without it`).Completes(cli.Files).Letter("o")
	c.Flags.One(&o.image.Format, "format", "FORMAT", []string{image.OCI, image.Docker, image.Context},
		"oci, docker or context; docker is for one platform, and context is a Containerfile with its files")
	c.Flags.String(&o.platform, "platform", "LIST", `linux/amd64, linux/arm64 or both, with a comma; without it,
		both for oci and this machine's for docker`).
		Completes(cli.Words("linux/amd64", "linux/arm64", "linux/amd64,linux/arm64"))
	c.Flags.String(&o.image.Tag, "tag", "NAME",
		"the image's name for container engines, such as example.com/team/demo:1.0.0")
	c.Flags.Strings(&o.image.Packages, "package", "NAME", "a further Debian package; can be given several times")
	c.Flags.String(&o.image.Base, "base", "IMAGE", `the base of a context; debian:stable-slim by its present digest without
		it`)
	c.Flags.String(&o.image.Mirror, "mirror", "URL", "a directory with debian and debian-security; "+
		image.DefaultMirror+" without it")
	c.Flags.String(&o.image.Snapshot, "snapshot", "TIME", "the packages of a time, such as 20261101T000000Z, from "+
		"snapshot.debian.org")
	c.Flags.String(&o.image.Keyring, "keyring", "FILE", "the public keys of the mirror, instead of Debian's").
		Completes(cli.Files)
	o.registryName(c)
	c.Flags.String(&o.Version, "version", "VERSION", "the image's version; else that of a bundle")
	c.Flags.Bool(&o.Offline, "offline", "download nothing; use the cache")
	o.common(c)
	return c
}

// imagePlatforms returns the systems of a list such as linux/amd64,linux/arm64.
func imagePlatforms(list, format string) ([]runtimes.Target, error) {
	targets := []runtimes.Target{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}}
	name := func(t runtimes.Target) string { return t.OS + "/" + t.Arch }
	if list == "" && format == image.Docker {
		return []runtimes.Target{{OS: "linux", Arch: runtime.GOARCH}}, nil
	}
	if list == "" {
		return targets, nil
	}
	asked := strings.Split(list, ",")
	for _, one := range asked {
		if !slices.ContainsFunc(targets, func(t runtimes.Target) bool { return name(t) == one }) {
			return nil, cli.Usagef("--platform: unknown platform %q; use linux/amd64, linux/arm64 or both with a comma", one)
		}
	}
	targets = slices.DeleteFunc(targets, func(t runtimes.Target) bool { return !slices.Contains(asked, name(t)) })
	if format == image.Docker && len(targets) > 1 {
		return nil, cli.Usagef("--format docker is for one platform; choose it with --platform, or use --format oci")
	}
	return targets, nil
}

func (o *imageOptions) make(s cli.Streams) (err error) {
	i := &o.image
	if o.Targets, err = imagePlatforms(o.platform, i.Format); err != nil {
		return err
	}
	toStdout := i.Output == stdin
	switch {
	case i.Mirror != "" && !strings.HasPrefix(i.Mirror, "https://") && !strings.HasPrefix(i.Mirror, "http://"):
		return cli.Usagef("--mirror: not a URL that begins with https:// or http://")
	case i.Format == image.Context && (i.Mirror != "" || i.Snapshot != "" || i.Keyring != ""):
		return cli.Usagef("--mirror, --snapshot and --keyring are not used by --format context: the engine installs packages")
	case i.Format != image.Context && i.Base != "":
		return cli.Usagef("--base is for --format context; other images have no base")
	case i.Keyring == stdin:
		return cli.Usagef("--keyring takes a file, not standard input; a file of that name is ./-")
	case i.Format == image.Docker && !toStdout && i.Output != "" && !strings.HasSuffix(i.Output, ".tar"):
		return cli.Usagef("--format docker makes an archive; name a file that ends in .tar")
	case toStdout:
		if err := checkStdout(s, "image", o.json, "--json"); err != nil {
			return err
		}
	}
	o.AllTargets, o.Out = o.platform != "", s.Err
	if o.json || !cli.IsTerminal(s.Err) && !o.Verbose {
		o.Out = io.Discard
	}
	var r *image.Result
	err = o.run(s, toStdout, func(ctx context.Context, p *project.Project, dir string) (file string, err error) {
		i.Options = o.Options
		if toStdout {
			i.Output = filepath.Join(dir, "image.tar")
		}
		if r, err = image.Make(ctx, p, *i); err != nil {
			return "", err
		}
		return r.Path, nil
	})
	switch {
	case err != nil || toStdout:
		return err
	case o.json:
		_, err = fmt.Fprintf(s.Out, "%s\n", r.AppendJSON(nil))
		return err
	}
	shown := r.Path
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, shown); err == nil && filepath.IsLocal(rel) {
			shown = rel
		}
	}
	if i.Format == image.Context {
		_, err = cli.Printf(s.Out, "%s (%s)\nNext steps: podman build -t %s %s\n", shown, cli.Size(r.Bytes), r.Tag, shown)
		return err
	}
	_, err = cli.Printf(s.Out, "%s\n%s (%s), %s\n", r.Digest, shown, cli.Size(r.Bytes), r.Tag)
	return err
}
