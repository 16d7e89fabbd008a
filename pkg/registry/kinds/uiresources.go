package kinds

import (
	"cmp"
	"encoding/json"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// UIResources are the pages of MCP Apps (registry section 9). Clients see them in the list
// of resources.
var UIResources = &Kind{
	Key:        "ui",
	File:       "ui-resources.json",
	Logger:     "mcp.ui",
	Noun:       "UI resource",
	Name:       "UI registry",
	message:    "Unable to load resources registry",
	FaultLevel: mcp.Err,
	TTL:        func(d *project.Discovery) time.Duration { return d.UITTL },
	Trees: []scan.Tree{
		{Noun: "Tool", Dir: toolsDir, Skip: isInPage, Examine: visitToolPage},
		{Noun: "UI", Dir: func(p *project.Project) string { return p.UI }, Skip: isBelowPage, Examine: visitPage},
	},
}

const pageType = "text/html;profile=mcp-app"

// isToolPage reports whether a directory is the subdirectory for the page of a tool.
func isToolPage(dir string) bool {
	parent, name := path.Split(dir)
	return name == uiDir && parent != ""
}

func isInPage(dir string) bool { return isToolPage(path.Dir(dir)) }

func visitToolPage(v *scan.Visit) {
	if isToolPage(v.Path()) {
		addPage(v, path.Base(path.Dir(v.Path())))
	}
}

// isBelowPage reports whether a directory is below the directory of a page. Pages are
// directories at the first level of ui/.
func isBelowPage(dir string) bool { return strings.Contains(dir, "/") }

func visitPage(v *scan.Visit) {
	if v.Depth == 1 {
		addPage(v, v.Path())
	}
}

// addPage builds the item of a directory if the directory contains a page. The keys are in
// the order of R-92.
func addPage(v *scan.Visit, name string) {
	if folder.Unusable(name) != "" || !v.HasFile(pageFile) && !v.HasFile(PageMetadata) {
		return
	}
	var sources []item.Source
	if v.HasFile(PageMetadata) {
		if meta := v.MetadataFile(PageMetadata); meta.Usable {
			sources = append(sources, meta.Source)
		}
	}
	s := v.Input("", sources)
	if !s.CheckName(name) {
		return
	}
	var meta item.Fields
	if given := s.OfKind("meta", rawjson.Object); given != nil {
		where := item.Location{File: sources[0].File, Part: "meta", Text: sources[0].Text}
		meta = item.Fields{Sources: []item.Source{item.NewSource(where, given)}, Dir: v}
	}
	entrypoint, _ := s.Text("entrypoint")
	entrypoint = cmp.Or(entrypoint, pageFile)
	w := s.Begin(name)
	w.Put("uri", rawjson.Quote(item.PageURI(v.Project.Meta.Name, name)))
	w.Put("path", rawjson.Quote(folder.Label(v.Project.Root, v.AbsPath())))
	w.Put("entrypoint", rawjson.Quote(entrypoint))
	w.Put("hasHtml", strconv.AppendBool(nil, holds(v, entrypoint)))
	w.PutOrNull("template", s.OfKind("template", rawjson.String))
	if w.Copy("description", rawjson.String) == nil {
		w.Put("description", rawjson.Quote("UI resource for "+name))
	}
	w.Put("mimeType", rawjson.Quote(pageType))
	w.Put("csp", orElse(meta.OfKind("csp", rawjson.Object), "{}"))
	w.Put("permissions", orElse(meta.OfKind("permissions", rawjson.Object), "{}"))
	w.Put("prefersBorder", orElse(meta.OfKind("prefersBorder", rawjson.Bool), "true"))
	w.Copy("title", rawjson.String)
	w.Put("domain", meta.OfKind("domain", rawjson.String))
	v.Add(item.Candidate{Item: item.Item{Name: name, JSON: w.End(nil)}, ID: name, Path: v.Path()})
}

// holds reports whether a path leads to a file in or below the directory. It follows
// links.
func holds(v *scan.Visit, file string) bool {
	if !strings.Contains(file, "/") {
		return v.HasFile(file)
	}
	dir, err := filepath.EvalSymlinks(v.AbsPath())
	n := folder.Observe(filepath.Join(v.AbsPath(), filepath.FromSlash(file)))
	v.Observed(n)
	rel, errRel := filepath.Rel(dir, n.Resolved)
	return err == nil && errRel == nil && filepath.IsLocal(rel) && n.Stamp.IsFile()
}

func orElse(value json.RawMessage, def string) json.RawMessage {
	if value == nil {
		return json.RawMessage(def)
	}
	return value
}

// The subdirectory for the web page of a tool, and its files. The directory contains a page if one of these files
// exists.
const (
	uiDir        = "ui"
	pageFile     = "index.html"
	PageMetadata = "ui.meta.json"
)

var bothVisible = json.RawMessage(`["model","app"]`)

// toolMeta returns the _meta of a tool, or nil. It adds a link to the web page of the tool if _meta contains no link.
func toolMeta(s *item.Input) json.RawMessage {
	meta := s.OfKind("_meta", rawjson.Object)
	ui := rawjson.Get(meta, "ui")
	flat := rawjson.Get(meta, "ui/resourceUri")
	hasFlat := flat != nil
	link, visibility := rawjson.Get(ui, "resourceUri"), rawjson.Get(ui, "visibility")
	if item.IsEmptyText(link) && !item.IsEmptyText(flat) {
		link = flat
	} else if item.IsEmptyText(link) {
		uri := pageURI(s)
		if uri == "" && !hasFlat {
			return meta
		}
		if link = nil; uri != "" {
			link = rawjson.Quote(uri)
			if rawjson.Absent(visibility) {
				visibility = bothVisible
			}
		}
	} else if !hasFlat {
		return meta
	}
	return relinked(meta, link, visibility)
}

// relinked returns _meta with another link, and without the old form of the link at the top
// level.
func relinked(meta, link, visibility json.RawMessage) json.RawMessage {
	meta = rawjson.With(meta, "ui/resourceUri", nil)
	if link == nil {
		return meta
	}
	ui := rawjson.With(rawjson.Get(meta, "ui"), "resourceUri", link)
	if visibility != nil {
		ui = rawjson.With(ui, "visibility", visibility)
	}
	return rawjson.With(meta, "ui", ui)
}

// pageURI returns the URI of the web page of a tool, or "".
func pageURI(s *item.Input) string {
	dir := path.Dir(s.Path)
	if dir == "." {
		return ""
	}
	for _, name := range []string{pageFile, PageMetadata} {
		if s.HasFileIn(uiDir, name) {
			return item.PageURI(s.Project.Meta.Name, path.Base(dir))
		}
	}
	return ""
}
