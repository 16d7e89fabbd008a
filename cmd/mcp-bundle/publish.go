package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/publish"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/ascii"
)

// A publishOptions has the options of the command publish.
type publishOptions struct {
	token, url, serverName      string
	emit, dryRun, verbose, json bool
}

func publishCommand() *cli.Command {
	o := &publishOptions{}
	c := &cli.Command{
		Name:    "publish",
		Summary: "Announce a bundle in the MCP registry: its address and its hash.",
		Examples: []cli.Example{
			{Line: "NAME demo-1.0.0.mcpb --dry-run", Purpose: "check it; no network, no token"},
			{Line: "NAME demo-1.0.0.mcpb --url " +
				"https://github.com/you/demo-mcp/releases/download/v1.0.0/demo-1.0.0.mcpb" +
				" --server-name io.github.you/demo --emit", Purpose: "print server.json"},
		},
		Operands: []cli.Operand{{Name: "[BUNDLE]", Complete: cli.Files}},
		Text: `The registry stores where a bundle is, not the bundle: put it on the web first, as a release of your repository.
BUNDLE may be -, standard input.
The token comes from MCP_REGISTRY_TOKEN, or with --token - from standard input, where no list of processes shows it.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "announced, or nothing wrong"},
			{Code: 1, Meaning: "the bundle is at fault, or the registry refused it"},
		},
		Run: func(s cli.Streams, operands []string) error { return o.publish(s, operands) },
	}
	c.Flags.Bool(&o.dryRun, "dry-run", "check the bundle and stop")
	c.Flags.String(&o.token, "token", "TOKEN", "of the registry; - reads standard input; else MCP_REGISTRY_TOKEN")
	c.Flags.String(&o.url, "url", "URL", "the address of the bundle: https, a release on GitHub or GitLab")
	c.Flags.String(&o.serverName, "server-name", "WORD",
		"the server's name in the registry, such as io.github.you/demo")
	c.Flags.Bool(&o.emit, "emit", "print server.json and stop")
	c.Flags.Bool(&o.verbose, "verbose", "print more")
	c.Flags.Bool(&o.json, "json", "print the result, or the error, as JSON and nothing else")
	return c
}

func (o *publishOptions) publish(s cli.Streams, operands []string) error {
	if len(operands) == 0 {
		return cli.Usagef("bundle path required: mcp-bash publish <bundle.mcpb>")
	}
	out := s.Out
	if o.json || o.emit {
		out = io.Discard
	}
	fmt.Fprintln(out, "Validating bundle...")
	if operands[0] == stdin && o.token == stdin {
		return cli.Usagef("BUNDLE and --token cannot both be standard input")
	}
	file, remove, err := inputFile(s, operands[0])
	if err != nil {
		return err
	}
	defer remove()
	b, err := o.openBundle(s, file)
	if err != nil {
		return err
	}
	if o.verbose {
		cli.Printf(out, "  ✓ Manifest validated: %s v%s\n", b.Name, b.Version)
	}
	fmt.Fprintln(out, "  ✓ Bundle structure valid")
	if o.dryRun {
		fmt.Fprintln(out, "\n✓ Dry run complete. Bundle is ready for publishing.")
		return o.published(s, b, "dry-run")
	}
	upload := os.Getenv("MCP_REGISTRY_API") == "bundles"
	var entry []byte
	if !upload {
		if o.url == "" || o.serverName == "" {
			return cli.Usagef("--url and --server-name are needed: " +
				"the registry stores where a bundle is, and what it is called there")
		}
		if entry, err = b.Entry(o.url, o.serverName); err != nil {
			return err
		}
		if o.emit {
			_, err := s.Out.Write(entry)
			return err
		}
	}
	token, err := o.readToken(s)
	if err != nil {
		return err
	}
	registry := &publish.Registry{Base: os.Getenv("MCP_REGISTRY_URL"), Token: token, Pause: publish.Pause}
	registry.Base = cmp.Or(registry.Base, publish.Official)
	ctx, stop := cli.UntilSignal()
	defer stop()
	if upload {
		err = registry.Upload(ctx, b)
	} else {
		err = registry.Announce(ctx, entry)
	}
	if err != nil {
		var ended cli.ExitCode
		var e *cli.Error
		if errors.As(err, &ended) {
			return ended
		}
		if errors.As(err, &e) && e.Code != cli.CodeUsage {
			cli.Printf(s.Err, "  ✗ %s\n", cli.MessageOf(e))
			e.Printed = true
		}
		return err
	}
	cli.Printf(out, "  ✓ Bundle submitted successfully\n\n✓ Published to MCP Registry!\n  %s\n",
		registry.Base)
	return o.published(s, b, "publish")
}

// openBundle checks the bundle, and reports its problems (CLI-1503).
func (o *publishOptions) openBundle(s cli.Streams, file string) (*publish.Bundle, error) {
	b, faults := bundleFaults(file)
	if len(faults) == 0 {
		return b, nil
	}
	for _, fault := range faults {
		cli.Printf(s.Err, "  ✗ %s\n", fault)
	}
	fmt.Fprintln(s.Err, "\n✗ Bundle validation failed.")
	return nil, &cli.Error{Code: cli.CodeInvalid, Printed: true, Cause: errors.New(strings.Join(faults, "; "))}
}

func bundleFaults(file string) (b *publish.Bundle, faults []string) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil, []string{"Bundle file not found: " + file}
	}
	if filepath.Ext(file) != ".mcpb" {
		return nil, []string{"Invalid file extension (expected .mcpb): " + file}
	}
	b, found, err := publish.Open(file)
	switch {
	case errors.Is(err, mcpb.ErrNotZIP):
		return nil, []string{"Invalid archive format (not a valid ZIP): " + file}
	case err != nil:
		return nil, []string{err.Error()}
	case b.Manifest == nil:
		faults = append(faults, "Bundle missing manifest.json")
	}
	for _, f := range found {
		faults = append(faults, f.String())
	}
	for _, name := range []string{"name", "version", "description"} {
		if rawjson.TextOf(b.Manifest, name) == "" {
			faults = append(faults, "Manifest missing required field: "+name)
		}
	}
	return b, faults
}

// maxToken is how long a token on standard input may be, in bytes.
const maxToken = 1 << 16

// readToken returns the token, which is never shown.
func (o *publishOptions) readToken(s cli.Streams) (string, error) {
	token := os.Getenv("MCP_REGISTRY_TOKEN")
	switch {
	case o.token == "-":
		text, err := io.ReadAll(io.LimitReader(s.In, maxToken+1))
		switch {
		case err != nil:
			return "", err
		case len(text) > maxToken:
			return "", cli.Failf(cli.CodeInvalid, "the token is longer than %d bytes", maxToken)
		}
		token = ascii.TrimLine(string(text))
	case o.token != "":
		token = o.token
	}
	if token == "" {
		cli.Printf(s.Err, "\n✗ API token required for publishing.\n\nLog in with the registry's own program "+
			"(mcp-publisher login github), then set MCP_REGISTRY_TOKEN or use --token.\n")
		return "", &cli.Error{Code: cli.CodePolicy, Printed: true, Cause: errors.New("API token required for publishing")}
	}
	return token, publish.CheckToken(token)
}

func (o *publishOptions) published(s cli.Streams, b *publish.Bundle, action string) error {
	if !o.json {
		return nil
	}
	var j rawjson.Builder
	_, err := fmt.Fprintf(s.Out, "%s\n",
		j.Object().Name("ok").Bool(true).Name("action").String(action).Name("path").String(b.File).
			Name("name").String(b.Name).Name("version").String(b.Version).Name("sha256").String(b.SHA256).End().Bytes())
	return err
}
