// Package market makes the files that list the plugins of a repository (contract plugins, chapter 5). They are lists
// for agents, and entries for the MCP registry. One description names the plugins.
package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/plugins"
	"mcp-bash/pkg/bundle/publish"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/schemas"
)

// FileName is the usual name of a description.
const FileName = "plugins.json"

// maxFile limits a description and a manifest, in bytes.
const maxFile = 1 << 20

// A Description is a list of plugins, and the folder of its file.
type Description struct {
	plugins.Marketplace
	Dir      string
	registry []registration
}

type registration struct{ plugin, name, bundle, url string }

// Read reads a description and the manifests of its plugins. The error for an invalid file is a [*cli.Error].
func Read(file string) (*Description, error) {
	text, err := boundedfile.Read(file, maxFile)
	if err != nil {
		return nil, cli.Failf(cli.CodeNotFound, "%s: %v", cli.Line(file), fsys.Cause(err)).
			WithHint("write the file; docs/PLUGINS.md has an example")
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	d, err := parse(text, func(folder string) ([]byte, error) {
		return boundedfile.ReadIn(root, path.Join(folder, "plugin.json"), maxFile)
	})
	if err != nil {
		return nil, cli.Failf(cli.CodeInvalid, "%s: %s", cli.Line(file), cli.Line(err.Error()))
	}
	d.Dir = dir
	return d, nil
}

// parse parses a description. manifest returns the manifest of the plugin in a folder.
func parse(text []byte, manifest func(folder string) ([]byte, error)) (*Description, error) {
	doc, err := rawjson.Check(text)
	if err != nil {
		return nil, err
	}
	if faults := schemas.Compile(schemas.Marketplace).Check(doc); len(faults) > 0 { // PL-40
		return nil, errors.New(faults[0].String())
	}
	if len(secrets.Scan(text)) > 0 {
		return nil, errors.New("it contains a secret, which the files would publish")
	}
	owner := rawjson.Get(doc, "owner")
	d := &Description{Marketplace: plugins.Marketplace{
		Name: rawjson.TextOf(doc, "name"), Title: rawjson.TextOf(doc, "title"),
		Description: rawjson.TextOf(doc, "description"),
		Owner:       rawjson.TextOf(owner, "name"), Email: rawjson.TextOf(owner, "email"),
	}}
	seen := map[string]bool{}
	for item := range rawjson.Elements(rawjson.Get(doc, "plugins")) {
		folder := rawjson.TextOf(item, "path")
		clean := path.Clean(folder)
		if !fs.ValidPath(clean) || clean == "." || !filepath.IsLocal(filepath.FromSlash(clean)) {
			return nil, fmt.Errorf("plugins: %q: not a folder below that of the file", folder)
		}
		e := plugins.Entry{Path: clean, Category: rawjson.TextOf(item, "category")}
		text, err := manifest(clean)
		if err == nil {
			e.Manifest, err = parseManifest(text)
		}
		if err != nil {
			return nil, fmt.Errorf("plugins: %s: plugin.json: %w; make the plugin with mcp-bash plugin", clean, fsys.Cause(err))
		}
		name := e.Name()
		if seen[name] {
			return nil, fmt.Errorf("plugins: two plugins have the name %q", name)
		}
		seen[name] = true
		d.Entries = append(d.Entries, e)
		if r := rawjson.Get(item, "registry"); r != nil {
			d.registry = append(d.registry, registration{name, rawjson.TextOf(r, "name"), rawjson.TextOf(r, "bundle"),
				rawjson.TextOf(r, "url")})
		}
	}
	return d, nil
}

func parseManifest(text []byte) (json.RawMessage, error) {
	doc, err := rawjson.Check(text)
	if name := rawjson.TextOf(doc, "name"); err == nil && (name == "" || plugins.Name(name) != name) {
		err = fmt.Errorf("no name that all agents accept: %q", name)
	}
	return rawjson.Normal(doc), err
}

// Files returns the files for agents, and the entries of the registry.
func (d *Description) Files(ctx context.Context) ([]mcpb.File, error) {
	files := d.Marketplace.Files()
	for _, r := range d.registry {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		file := r.bundle
		if !filepath.IsAbs(file) {
			file = filepath.Join(d.Dir, filepath.FromSlash(file))
		}
		b, faults, err := publish.OpenBundle(file)
		if err != nil {
			return nil, cli.Failf(cli.CodeNotFound, "%s: %v", cli.Line(r.bundle), fsys.Cause(err)).
				WithHint("make the bundle with mcp-bash bundle")
		}
		if len(faults) > 0 {
			return nil, cli.Failf(cli.CodeInvalid, "%s: %s", cli.Line(r.bundle), cli.Line(faults[0].String()))
		}
		entry, wrong := publish.NewEntry(r.name, []*publish.Product{b}, publish.Addresses{publish.MCPB: r.url})
		if err := entry.CheckOptions(false); err != nil {
			var usage *cli.Error
			if errors.As(err, &usage) { // the values come from a file, not from options
				return nil, cli.Failf(cli.CodeInvalid, "registry of %s: %s", r.plugin, usage.Error())
			}
			return nil, err
		}
		if wrong = append(wrong, entry.Faults()...); len(wrong) > 0 {
			return nil, cli.Failf(cli.CodeInvalid, "%s: %s", cli.Line(r.bundle), wrong[0])
		}
		name := "server.json"
		if len(d.registry) > 1 {
			name = r.plugin + ".server.json"
		}
		files = append(files, mcpb.Bytes(name, false, entry.JSON()))
	}
	return files, nil
}
