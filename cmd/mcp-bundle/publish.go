package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/market"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/bundle/publish"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/ascii"
)

type publishOptions struct {
	token, url, image, serverName string
	emit, dryRun, verbose, json   bool
}

func publishCommand() *cli.Command {
	o := &publishOptions{}
	c := &cli.Command{
		Name:    "publish",
		Summary: "Announce a server in the MCP registry: its bundle, npm package, wheels and container image.",
		Examples: []cli.Example{
			{Line: "NAME demo-1.0.0.mcpb --dry-run", Purpose: "check it; no network, no token"},
			{Line: "NAME demo-1.0.0.mcpb --url " +
				"https://github.com/you/demo-mcp/releases/download/v1.0.0/demo-1.0.0.mcpb" +
				" --server-name io.github.you/demo --emit", Purpose: "print server.json"},
			{Line: "NAME dist --image ghcr.io/you/demo:1.0.0 --url URL", Purpose: "all products in a folder"},
		},
		Operands: []cli.Operand{{Name: "[PRODUCT...]", Complete: cli.Files}},
		Text: `The registry stores where the products are. Publish them first: packages with npm and twine, the image in its
registry, the bundle in a release. PRODUCT is a bundle (.mcpb), a package of npm (.tgz), a wheel (.whl), or an OCI image
(.tar, or its folder). It can be a folder of these, or - for a bundle on standard input. Each product must name the
server and have the same version.

In a workflow of GitHub with "id-token: write" the command logs in by itself, for names below io.github.OWNER.
Elsewhere the token comes from MCP_REGISTRY_TOKEN, or with --token - from standard input, where no list of processes
shows it.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "announced, or nothing wrong"},
			{Code: 1, Meaning: "a product is at fault, or the registry refused it"},
		},
		Run: func(s cli.Streams, operands []string) error { return o.publish(s, operands) },
	}
	c.Flags.Bool(&o.dryRun, "dry-run", "check the products, show the request, and stop")
	c.Flags.String(&o.token, "token", "TOKEN", "of the registry; - reads standard input; else MCP_REGISTRY_TOKEN")
	c.Flags.String(&o.url, "url", "URL", "the address of the bundle: https, a release on GitHub or GitLab")
	c.Flags.String(&o.image, "image", "NAME", "the name of the image in its registry, such as ghcr.io/you/demo:1.0.0")
	c.Flags.String(&o.serverName, "server-name", "WORD",
		"the server's name in the registry, such as io.github.you/demo; else that of the products")
	c.Flags.Bool(&o.emit, "emit", "print server.json and stop")
	c.Flags.Bool(&o.verbose, "verbose", "print more")
	c.Flags.Bool(&o.json, "json", "print the result, or the error, as JSON and nothing else")
	return c
}

func (o *publishOptions) publish(s cli.Streams, operands []string) error {
	out := s.Out
	if o.json || o.emit {
		out = io.Discard
	}
	api := os.Getenv("MCP_REGISTRY_API")
	switch {
	case len(operands) == 0:
		return cli.Usagef("bundle path required: mcp-bash publish <bundle.mcpb>")
	case api != "" && api != "bundles":
		return cli.Usagef("MCP_REGISTRY_API can be \"bundles\" only; the address of the registry is MCP_REGISTRY_URL")
	case slices.Contains(operands, stdin) && o.token == stdin:
		return cli.Usagef("BUNDLE and --token cannot both be standard input")
	}
	fmt.Fprintln(out, "Validating bundle...")
	products, remove, err := o.open(s, operands)
	if err != nil {
		return err
	}
	defer remove()
	for _, p := range products {
		if o.verbose {
			cli.Printf(out, "  ✓ Manifest validated: %s v%s\n", p.Name, p.Version)
		}
	}
	r := &publish.Registry{Base: cmp.Or(os.Getenv("MCP_REGISTRY_URL"), publish.Official), Pause: publish.Pause}
	if api != "" {
		if len(products) > 1 || products[0].Kind != publish.MCPB {
			return cli.Usagef("MCP_REGISTRY_API=bundles is for one bundle")
		}
		return o.submit(s, out, r, products, nil)
	}
	addresses := publish.Addresses{publish.MCPB: o.url, publish.OCI: o.image}
	entry, faults := publish.NewEntry(o.serverName, products, addresses)
	if err := o.report(s, append(faults, entry.Faults()...)); err != nil {
		return err
	}
	if err := entry.CheckOptions(publish.IsOfficial(r.Base)); err != nil {
		if !o.dryRun || o.url != "" || o.image != "" || o.serverName != "" {
			return err
		}
		entry = nil // only the products are checked
	}
	if o.emit && entry != nil {
		_, err := s.Out.Write(entry.JSON())
		return err
	}
	return o.submit(s, out, r, products, entry)
}

// submit sends the request, or prints it with --dry-run. The entry is nil for a request of the Bash edition.
func (o *publishOptions) submit(s cli.Streams, out io.Writer, r *publish.Registry, products []*publish.Product,
	entry *publish.Entry) error {
	fmt.Fprintln(out, "  ✓ Bundle structure valid")
	workflow := publish.Workflow{URL: os.Getenv("ACTIONS_ID_TOKEN_REQUEST_URL"),
		Token: os.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN")}
	logsIn := entry != nil && o.token == "" && os.Getenv("MCP_REGISTRY_TOKEN") == "" && workflow.URL != ""
	if owner := os.Getenv("GITHUB_REPOSITORY_OWNER"); logsIn && owner != "" {
		if err := publish.CheckOwner(entry.Name, owner); err != nil {
			return err
		}
	}
	if o.dryRun {
		return o.show(s, out, r, products, entry)
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	var err error
	if logsIn {
		err = r.Login(ctx, workflow)
	} else if r.Token, err = o.readToken(s); err != nil {
		return err
	}
	switch {
	case err != nil:
	case entry == nil:
		err = r.Upload(ctx, products[0])
	default:
		err = r.Announce(ctx, entry.JSON())
	}
	if err != nil {
		var e *cli.Error
		if errors.As(err, &e) && e.Code != cli.CodeUsage {
			cli.Printf(s.Err, "  ✗ %s\n", cli.MessageOf(err))
			e.Printed = true
		}
		return failed(s, err)
	}
	cli.Printf(out, "  ✓ Bundle submitted successfully\n\n✓ Published to MCP Registry!\n  %s\n", r.Base)
	return o.published(s, products, "publish", nil)
}

// show prints the request, without its token.
func (o *publishOptions) show(s cli.Streams, out io.Writer, r *publish.Registry, products []*publish.Product,
	entry *publish.Entry) error {
	var request *rawjson.Builder
	if entry != nil {
		address, err := r.AnnounceURL()
		if err != nil {
			return err
		}
		request = new(rawjson.Builder)
		request.Object().Name("method").String("POST").Name("url").String(address).
			Name("body").Raw(rawjson.Normal(entry.JSON())).End()
		cli.Printf(out, "\nPOST %s\n", address)
		out.Write(entry.JSON())
	}
	fmt.Fprintln(out, "\n✓ Dry run complete. Bundle is ready for publishing.")
	return o.published(s, products, "dry-run", request)
}

// open opens and checks the products, and reports their problems.
func (o *publishOptions) open(s cli.Streams, operands []string) (all []*publish.Product, remove func(), err error) {
	var files, faults []string
	remove = func() {}
	for _, operand := range operands {
		if operand != stdin {
			found, err := publish.Find(operand)
			if err != nil {
				return nil, nil, err
			}
			files = append(files, found...)
			continue
		}
		file, spooled, err := inputFile(s, operand)
		if err != nil {
			return nil, nil, err
		}
		files, remove = append(files, file), spooled
	}
	for _, file := range files {
		p, found := productFaults(file)
		if faults = append(faults, found...); p != nil {
			all = append(all, p)
		}
	}
	if len(all) == 0 && len(faults) == 0 {
		faults = []string{"no bundle, package or image in " + operands[0]}
	}
	if err := o.report(s, faults); err != nil {
		remove()
		return nil, nil, err
	}
	return all, remove, nil
}

func (o *publishOptions) report(s cli.Streams, faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	for _, fault := range faults {
		cli.Printf(s.Err, "  ✗ %s\n", fault)
	}
	fmt.Fprintln(s.Err, "\n✗ Bundle validation failed.")
	return &cli.Error{Code: cli.CodeInvalid, Printed: true, Cause: errors.New(strings.Join(faults, "; "))}
}

// productFaults opens a product. It returns nil for a file that is part of another product.
func productFaults(file string) (p *publish.Product, faults []string) {
	info, err := os.Stat(file)
	switch ending := filepath.Ext(file); {
	case err != nil || !info.Mode().IsRegular() && !info.IsDir():
		return nil, []string{"Bundle file not found: " + file}
	case ending == ".mcpb":
		return bundleFaults(file)
	case !info.IsDir() && !slices.Contains(publish.Endings, ending):
		return nil, []string{"Invalid file extension (expected " + strings.Join(publish.Endings, ", ") + "): " + file}
	}
	if p, err = publish.Open(project.OSEnv(), file); err != nil {
		return nil, []string{file + ": " + err.Error()}
	}
	return p, nil
}

func bundleFaults(file string) (b *publish.Product, faults []string) {
	b, found, err := publish.OpenBundle(file)
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

// maxToken limits a token on standard input, in bytes.
const maxToken = 1 << 16

// readToken returns the token, which is never printed.
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

func (o *publishOptions) published(s cli.Streams, products []*publish.Product, action string,
	request *rawjson.Builder) error {
	if !o.json {
		return nil
	}
	p := products[0]
	var j rawjson.Builder
	j.Object().Name("ok").Bool(true).Name("action").String(action).Name("path").String(p.File).
		Name("name").String(p.Name).Name("version").String(p.Version).Optional("sha256", p.SHA256)
	if request != nil {
		j.Name("request").Raw(request.Bytes())
	}
	_, err := fmt.Fprintf(s.Out, "%s\n", j.End().Bytes())
	return err
}

func marketplaceCommand() *cli.Command {
	var check, update, asJSON bool
	c := &cli.Command{
		Name:    "marketplace",
		Summary: "List the plugins of a repository, so that people can add the repository to their agents.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "the files for plugins.json of this directory"},
			{Line: "NAME --update", Purpose: "after a change: replace them"},
			{Line: "NAME --check", Purpose: "for CI: are they up to date?"},
		},
		Operands: []cli.Operand{{Name: "[FILE]", Complete: cli.Files}},
		Text: `FILE, plugins.json without it, names the plugins by their folders, relative to its own. From it and from the plugins'
manifests the command makes, in the folder of FILE:

  .claude-plugin/marketplace.json    for Claude Code and Copilot CLI
  .agents/plugins/marketplace.json   for Codex
  .cursor-plugin/marketplace.json    for Cursor
  server.json                        for the MCP registry, if FILE names a bundle and its address

A file with another text is kept, except with --update.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "done, or up to date"},
			{Code: 1, Meaning: "the description or a plugin is at fault, a file exists with another text, or --check found " +
				"differences"},
		},
		Run: func(s cli.Streams, operands []string) error {
			file := market.FileName
			if len(operands) > 0 {
				file = operands[0]
			}
			return makeMarketplace(s, file, check, update, asJSON)
		},
	}
	c.Flags.Bool(&check, "check", "compare the files; write nothing")
	c.Flags.Bool(&update, "update", "replace files that have another text")
	c.Flags.Bool(&asJSON, "json", "print the result, or the error, as JSON and nothing else")
	return c
}

func makeMarketplace(s cli.Streams, file string, check, update, asJSON bool) error {
	switch {
	case file == stdin:
		return cli.Usagef("the paths of the description are relative to its file; a file of that name is ./-")
	case check && update:
		return cli.Usagef("--check and --update exclude each other")
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	d, err := market.Read(file)
	if err != nil {
		return err
	}
	files, err := d.Files(ctx)
	if err != nil {
		return err
	}
	states, err := outdir.Compare(d.Dir, files)
	if err != nil {
		return err
	}
	var old []string // missing or different files
	var foreign []string
	for i, state := range states {
		if state != outdir.Unchanged {
			old = append(old, files[i].Name)
		}
		if state == outdir.Different {
			foreign = append(foreign, files[i].Name)
		}
	}
	switch {
	case check && len(old) > 0:
		return cli.Failf(cli.CodeInvalid, "not up to date: %s", strings.Join(old, ", ")).
			WithHint("run mcp-bash marketplace --update")
	case !check && !update && len(foreign) > 0:
		return cli.Failf(cli.CodeExists, "%s: another text than %s gives", strings.Join(foreign, ", "),
			cli.Line(filepath.Base(file))).WithHint("compare, then replace it with --update")
	case !check:
		if err := outdir.Write(d.Dir, files, states); err != nil {
			return err
		}
	}
	if asJSON {
		_, err = fmt.Fprintf(s.Out, "%s\n", marketplaceJSON(d, files, states))
		return err
	}
	for i, f := range files {
		cli.Printf(s.Out, "%-9s  %s\n", states[i], f.Name)
	}
	return nil
}

func marketplaceJSON(d *market.Description, files []mcpb.File, states []outdir.State) []byte {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("name").String(d.Name).Name("path").String(d.Dir).Name("plugins").Array()
	for _, e := range d.Entries {
		b.Object().Name("name").String(e.Name()).Name("path").String(e.Path).End()
	}
	b.End().Name("files").Array()
	for i, f := range files {
		b.Object().Name("name").String(f.Name).Name("state").String(string(states[i])).End()
	}
	return b.End().End().Bytes()
}
