package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/deploy"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

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

// writeFiles writes new files to a folder. It keeps a file with another text, and returns an error.
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
