package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/deploy"
	"mcp-bash/pkg/bundle/image"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/shell"
)

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

// imagePlatforms returns the systems of a list such as linux/amd64,linux/arm64, in this order.
func imagePlatforms(list, format string) (targets []runtimes.Target, err error) {
	if list == "" && format == image.Docker {
		return []runtimes.Target{{OS: "linux", Arch: runtime.GOARCH}}, nil
	}
	asked := strings.Split(cmp.Or(list, "linux/amd64,linux/arm64"), ",")
	for _, t := range []runtimes.Target{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}} {
		if isAsked := func(name string) bool { return name == t.OS+"/"+t.Arch }; slices.ContainsFunc(asked, isAsked) {
			asked, targets = slices.DeleteFunc(asked, isAsked), append(targets, t)
		}
	}
	if len(asked) > 0 {
		return nil, cli.Usagef("--platform: unknown platform %q; use linux/amd64, linux/arm64 or both with a comma", asked[0])
	}
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
	err = o.run(s, toStdout, func(ctx context.Context, p *stage.Stage) (file string, err error) {
		if toStdout {
			i.Output = filepath.Join(p.Output, "image.tar")
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
	shown := fromHere(r.Path)
	if i.Format == image.Context {
		_, err = cli.Printf(s.Out, "%s (%s)\nNext steps: podman build -t %s %s\n", shown, cli.Size(r.Bytes), r.Tag,
			shell.Quote(shown))
		return err
	}
	_, err = cli.Printf(s.Out, "%s\n%s (%s), %s\n", r.Digest, shown, cli.Size(r.Bytes), r.Tag)
	return err
}

func manifestCommand() *cli.Command {
	o := &manifestOptions{}
	c := &cli.Command{
		Name:    "manifest",
		Summary: "Make the files that deploy a project as an HTTP server, for Kubernetes and other engines.",
		Examples: []cli.Example{
			{Line: "NAME --image registry.example.com/team/demo:1.0.0 --host mcp.example.com > demo.yaml"},
			{Line: "NAME --replicas 3 --namespace tools --output deploy"},
			{Line: "NAME --format systemd --output units"},
			{Line: "NAME --json | jq -r '.decide[]'", Purpose: "list the open decisions"},
		},
		Operands: []cli.Operand{{Name: "[PROJECT]", Complete: cli.Dirs}},
		Text: `The formats: kubernetes (Deployment, Service, HorizontalPodAutoscaler, PodDisruptionBudget, NetworkPolicy), toolhive
(MCPServer), docker-catalog (for Docker's MCP gateway), systemd (a service and its socket).

Comments with DECIDE mark what depends on your systems. Secrets are never part of the files: they refer to a Secret, or
to a file. The same project and options make the same text.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "made"}, {Code: 1, Meaning: "a name cannot be used, or writing failed"},
		},
		Run: func(s cli.Streams, operands []string) error {
			if len(operands) > 0 {
				o.root = operands[0]
			}
			return o.run(s)
		},
	}
	c.Flags.One(&o.Format, "format", "FORMAT", deploy.Formats(), "kubernetes without it")
	c.Flags.String(&o.Name, "name", "NAME", "the deployment's name; else the server's")
	c.Flags.String(&o.Image, "image", "ADDRESS", `the image, such as registry.example.com/team/demo:1.0.0; else
		NAME:VERSION`)
	c.Flags.String(&o.Namespace, "namespace", "NAME", "the namespace; without it, that of kubectl")
	c.Flags.String(&o.Host, "host", "NAME", "the server's public name, such as mcp.example.com")
	c.Flags.Positive(&o.Replicas, "replicas", "N", "the minimum number of replicas; 2 without it, and 1 for no autoscaler")
	c.Flags.String(&o.TokenSecret, "token-secret", "NAME", `the Secret with the files tokens.json and state-key; NAME-http
		without it`)
	c.Flags.String(&o.output, "output", "DIR", "write the files there; without it, to standard output").Completes(cli.Dirs)
	c.Flags.ProjectRoot(&o.root)
	c.Flags.Bool(&o.json, "json", "print the result, or the error, as JSON and nothing else")
	return c
}

type manifestOptions struct {
	deploy.Options
	root, output string
	json         bool
}

func (o *manifestOptions) run(s cli.Streams) error {
	p, err := project.Find(o.root, s.Notice)
	if err != nil {
		return err
	}
	r, err := deploy.Make(p, o.Options)
	if err != nil {
		return err
	}
	if o.output != "" {
		if err := writeFiles(o.output, r.Files); err != nil {
			return err
		}
	}
	switch {
	case o.json:
		_, err = fmt.Fprintf(s.Out, "%s\n", r.AppendJSON(nil))
	case o.output != "":
		for _, f := range r.Files {
			_, err = cli.Printf(s.Out, "Wrote %s\n", filepath.Join(o.output, f.Name))
		}
		for _, text := range r.Decisions() {
			_, err = cli.Printf(s.Out, "  decide %s\n", text)
		}
	default:
		var b strings.Builder
		for _, f := range r.Files {
			if len(r.Files) > 1 {
				fmt.Fprintf(&b, "# %s\n", f.Name)
			}
			b.WriteString(f.Text)
		}
		_, err = s.Out.Write([]byte(b.String()))
	}
	return err
}

// writeFiles writes new files to a folder. If a file exists with another text, it keeps the file and returns an error.
func writeFiles(dir string, made []deploy.File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var files []mcpb.File
	for _, f := range made {
		files = append(files, mcpb.Bytes(f.Name, false, []byte(f.Text)))
	}
	states, err := outdir.Compare(dir, files)
	if err != nil {
		return err
	}
	if at := slices.Index(states, outdir.Different); at >= 0 {
		return cli.Failf(cli.CodeExists, "%s exists, with another text", cli.Line(filepath.Join(dir, files[at].Name))).
			WithHint("move it away, or choose another folder with --output")
	}
	return outdir.Write(dir, files, states)
}
