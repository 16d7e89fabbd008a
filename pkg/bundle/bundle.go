// Package bundle makes an MCP bundle of a project: one file that a client installs (cli chapter 14).
//
// Package stage copies and checks the content. This package adds pictures and the manifest. It packs the files under a
// temporary name, reads them back, and replaces a bundle of the same name. An error before that leaves the existing
// bundle unchanged.
package bundle

import (
	"context"
	"encoding/json"
	"path/filepath"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/project"
)

// Options are the options of a bundle.
type Options struct {
	stage.Options        // Output is a directory
	ManifestOnly    bool // write nothing, and return the manifest
	ManifestVersion string
}

// A maker makes a bundle from a stage.
type maker struct {
	*stage.Stage
	icon        string
	icons       []json.RawMessage
	screenshots []string
}

// Make makes the bundle of a project. The error can be a [*stage.Failure] or the context's.
func Make(ctx context.Context, p *project.Project, o Options) (*stage.Result, error) {
	s, err := stage.Open(ctx, p, o.Options)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	b := &maker{Stage: s}
	b.NameAuthor()
	if err := b.addPictures(); err != nil {
		return nil, err
	}
	var manifest []byte
	err = b.Prepare(ctx, func() error {
		manifest = b.manifest(o.ManifestVersion)
		b.check(manifest)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := b.Result(filepath.Join(b.Output, b.ID.FileName(".mcpb")))
	r.Manifest = manifest
	if o.ManifestOnly || o.Validate {
		return r, nil
	}
	b.Line("Bundling project...")
	b.Done("Generated manifest.json")
	b.ShowResult(r)
	files := append([]mcpb.File{mcpb.Bytes(mcpb.ManifestName, false, manifest)}, b.Content.Files()...)
	return r, b.WriteArchive(ctx, r, files)
}

// check checks whether clients accept the manifest (CLI-1434).
func (b *maker) check(manifest []byte) {
	doc, err := mcpb.ParseManifest(manifest)
	if err != nil {
		b.Fault("manifest: %v", err)
		return
	}
	for _, f := range mcpb.CheckManifest(doc) {
		b.Fault("manifest: %s", f)
	}
	for _, f := range mcpb.CheckFiles(doc, &b.Content.Names, b.Content.IsExec) {
		b.Fault("manifest: %s", f)
	}
	if !mcpb.IsName(b.ID.Name) {
		b.Warn("name %q: letters, digits, dot, dash and underscore are sure to work, 100 at most", b.ID.Name)
	}
}
