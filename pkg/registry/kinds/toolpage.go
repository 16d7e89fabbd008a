package kinds

import (
	"encoding/json"
	"path"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/item"
)

// The subdirectory for the web page of a tool, and its files. The directory contains a page
// if one of these files exists.
const (
	uiDir        = "ui"
	pageFile     = "index.html"
	PageMetadata = "ui.meta.json"
)

var bothVisible = json.RawMessage(`["model","app"]`)

// toolMeta returns the _meta of a tool, or nil. It adds a link to the web page of the tool if
// _meta contains no link.
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
