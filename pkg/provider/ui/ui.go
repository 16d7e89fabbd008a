// Package ui is the provider of ui:// resources, the pages of MCP Apps. ui://SERVER/NAME is an HTML
// file in the page's directory, or the output of a UI template. The provider reads nothing outside
// that directory.
package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/uitemplate"
	"mcp-bash/pkg/text/ascii"
)

// Provider reads pages.
type Provider struct {
	Root  string // the project
	Tools string // tools directory; a tool's page is in its subdirectory ui
	UI    string // directory of pages that belong to no tool
	// Find returns the registry entry of a page, or nil. If Find is nil, the provider derives the
	// directory from the name.
	Find      func(ctx context.Context, name string) (json.RawMessage, error)
	Most      int // maximum bytes of a page
	Templates *uitemplate.Cache
}

const (
	entryFile = "index.html"
	metaFile  = "ui.meta.json"
	maxMeta   = 1 << 20 // bytes of a ui.meta.json
)

// Read returns the HTML of a page.
func (p *Provider) Read(ctx context.Context, uri string, limit int) ([]byte, error) {
	name, err := Name(uri)
	if err != nil {
		return nil, err
	}
	dirs, err := p.pageDirs(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, at := range dirs {
		page, err := p.read(at, limit)
		if err != provider.ErrNotFound {
			return page, err
		}
	}
	return nil, provider.ErrNotFound
}

// A pageDir is a directory that may contain a page. It is opened through base, so no symbolic link leads out of base.
type pageDir struct{ base, dir string }

// pageDirs returns the directories that may contain a page, by precedence.
func (p *Provider) pageDirs(ctx context.Context, name string) ([]pageDir, error) {
	if p.Find != nil {
		entry, err := p.Find(ctx, name)
		if err != nil {
			return nil, err
		}
		if entry != nil {
			path := filepath.FromSlash(rawjson.TextOf(entry, "path"))
			if !filepath.IsAbs(path) {
				path = filepath.Join(p.Root, path)
			}
			for _, base := range []string{p.Tools, p.UI} {
				if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
					return []pageDir{{base, rel}}, nil
				}
			}
		}
	}
	path := filepath.FromSlash(name)
	list := []pageDir{{p.UI, path}}
	if !strings.Contains(name, "/") {
		list = append([]pageDir{{p.Tools, filepath.Join(path, "ui")}}, list...)
	}
	return list, nil
}

// read returns the page in a directory: its entry point, or the result of its template.
func (p *Provider) read(at pageDir, limit int) ([]byte, error) {
	base, err := os.OpenRoot(at.base)
	if err != nil {
		return nil, provider.ErrNotFound
	}
	defer base.Close()
	dir, err := base.OpenRoot(at.dir)
	if err != nil {
		return nil, refusal(err)
	}
	defer dir.Close()
	meta := readMeta(dir)
	entry := cmp.Or(rawjson.TextOf(meta, "entrypoint"), entryFile)
	if !filepath.IsLocal(filepath.FromSlash(entry)) {
		return nil, refused
	}
	page, err := p.readFile(dir, filepath.FromSlash(entry), limit)
	template := rawjson.TextOf(meta, "template")
	if err != provider.ErrNotFound || template == "" {
		return page, err
	}
	return p.render(template, rawjson.Get(meta, "config"), limit)
}

// readMeta returns the metadata of a page, or nil if the file is missing or invalid. The registry reports invalid
// files.
func readMeta(dir *os.Root) json.RawMessage {
	f, err := openPlain(dir, metaFile)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := boundedfile.ReadAll(f, maxMeta)
	if err != nil {
		return nil
	}
	meta, err := rawjson.Check(text)
	if err != nil {
		return nil
	}
	return meta
}

func (p *Provider) readFile(dir *os.Root, name string, limit int) ([]byte, error) {
	f, err := openPlain(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, provider.ErrNotFound
	}
	if err := p.checkSize(info.Size(), limit); err != nil {
		return nil, err
	}
	page, err := io.ReadAll(io.LimitReader(f, int64(min(p.Most, limit))+1))
	if err != nil {
		return nil, provider.ErrNotFound
	}
	return page, p.checkSize(int64(len(page)), limit) // the file may have grown since its size was read
}

// checkSize refuses a page that is too large.
func (p *Provider) checkSize(size int64, limit int) error {
	switch {
	case size > int64(p.Most):
		return &provider.Failure{Status: provider.TooLarge,
			Message: fmt.Sprintf("UI resource too large: %d bytes (max: %d)", size, p.Most)}
	case size > int64(limit):
		return provider.OverLimit(limit)
	}
	return nil
}

func (p *Provider) render(template string, config json.RawMessage, limit int) ([]byte, error) {
	if rawjson.Absent(config) {
		config = json.RawMessage("{}")
	}
	page, err := p.Templates.Render(template, config)
	var unknown uitemplate.UnknownError
	switch {
	case errors.As(err, &unknown):
		return nil, &provider.Failure{Status: provider.NotFound, Log: err.Error()}
	case err != nil:
		return nil, &provider.Failure{Status: provider.Invalid, Message: "UI template " + template + ": " + err.Error()}
	}
	return page, p.checkSize(int64(len(page)), limit)
}

// openPlain opens a regular file of a page. It does not open other kinds of files.
func openPlain(dir *os.Root, name string) (*os.File, error) {
	info, err := dir.Stat(name)
	if err != nil {
		return nil, refusal(err)
	}
	if !info.Mode().IsRegular() {
		return nil, provider.ErrNotFound
	}
	f, err := boundedfile.OpenIn(dir, name)
	if err != nil {
		return nil, provider.ErrNotFound
	}
	return f, nil
}

var refused = &provider.Failure{Status: provider.Denied, Log: "Symlinks not allowed for UI resources"}

// refusal returns the failure for a directory that cannot be opened: denied if the path leads out of the base,
// otherwise not found.
func refusal(err error) *provider.Failure {
	if fsys.Escapes(err) {
		return refused
	}
	return provider.ErrNotFound
}

var errScheme = &provider.Failure{Status: provider.Invalid, Message: "Invalid URI scheme: expected ui://"}

// Name returns the name of the page in a URI: the path, or the authority if there is no path. It may have several
// segments. No segment may be hidden or lead upwards.
func Name(uri string) (string, error) {
	name, ok := ascii.CutPrefixFold(uri, "ui://")
	if !ok {
		return "", errScheme
	}
	if at := strings.IndexAny(name, "?#"); at >= 0 {
		name = name[:at]
	}
	if _, path, found := strings.Cut(name, "/"); found {
		name = path
	}
	if leavesOut(name) {
		return "", provider.ErrDenied
	}
	name, err := url.PathUnescape(name)
	switch {
	case err != nil || name == "":
		return "", provider.ErrNotFound
	case leavesOut(name):
		return "", provider.ErrDenied
	}
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || segment[0] == '.' {
			return "", provider.ErrNotFound
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", provider.ErrDenied // device names on Windows
	}
	return name, nil
}

func leavesOut(name string) bool {
	if strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\\x00") {
		return true
	}
	return slices.Contains(strings.Split(name, "/"), "..")
}
