package kinds

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// Resources are contents that a client may read (registry section 5).
var Resources = &Kind{
	Key:        "resources",
	File:       "resources.json",
	Logger:     "mcp.resources",
	Noun:       "resource",
	Name:       "Resources registry",
	code:       mcp.CodeInternal,
	message:    "Unable to load resources registry",
	FaultLevel: mcp.Err,
	Plural:     "Resources",
	TTL:        func(d *project.Discovery) time.Duration { return d.ResourcesTTL },
	Trees:      []scan.Tree{{Noun: "Resource", Dir: resourcesDir, Examine: visitResources}},
	required:   []string{"name", "uri"},
	Build:      func(s *item.Input) (item.Candidate, bool) { return buildResource(s, "") },
}

func resourcesDir(p *project.Project) string { return p.Resources }

// resourceMetadata describes the only file of its directory (R-33a).
const resourceMetadata = "resource" + item.MetadataSuffix

// visitResources finds the resources of a directory: every file, and every metadata file
// with a URI and without a file.
func visitResources(v *scan.Visit) {
	for file := range v.Files {
		if isSidecar(v, file) {
			continue
		}
		head, err := v.Head(file)
		if err != nil && folder.Vanished(err) {
			continue
		}
		var sources []item.Source
		if meta := describing(v, file, resourceMetadata, func(string) bool { return true }); meta != nil {
			sources = append(sources, meta.Source)
		}
		if head.Header != nil {
			sources = append(sources, item.NewSource(item.Location{File: v.Label(file), Text: head.Text}, head.Header))
		}
		if sources == nil && isDocumentation(v, file) {
			continue
		}
		s := v.Input(file, sources)
		if isTemplate(s) {
			continue
		}
		if f, ok := buildResource(s, item.Stem(file)); ok {
			v.Add(f)
		}
	}
	for meta := range v.MetadataFiles {
		s := v.Unpaired(meta)
		if s == nil || isTemplate(s) {
			continue
		}
		if uri, _ := s.Text("uri"); uri == "" {
			v.Log(item.Message{Level: mcp.Warning, Topic: item.MissingURI, At: s.Label,
				Text: `describes no file: no other file here has its name, and it has no "uri" or "uriTemplate"; ignored`})
		} else if f, ok := buildResource(s, v.ItemName(meta)); ok {
			v.Add(f)
		}
	}
}

func isTemplate(s *item.Input) bool {
	template, _ := s.Text(URITemplate)
	return template != ""
}

var resourceFields = []string{
	"name", "title", "description", "path", "uri", "mimeType", "provider", "size", "icons", "annotations", "_meta",
	"uriAuto", item.TypeDeclared, "arguments",
}

// ResourceFields are the fields of metadata for resources and resource templates.
var ResourceFields = append(slices.Clone(resourceFields), URITemplate)

// buildResource builds a resource, with its keys in the order of registry section 5.
func buildResource(s *item.Input, name string) (item.Candidate, bool) {
	f := item.Candidate{Path: s.Path}
	if given, ok := s.Text("name"); ok {
		name = given
	}
	if !s.CheckName(name) {
		return item.Candidate{}, false
	}
	f.Name, f.ID = name, name
	quoted := s.OfKind("uri", rawjson.String)
	uri, _ := rawjson.Text(quoted)
	derived := uri == ""
	if derived {
		uri = item.FileURI(s.Content, s.Path)
		quoted = rawjson.Quote(uri)
	}
	s.CheckKeys(ResourceFields)
	w := s.Begin(name)
	w.Copy("title", rawjson.String)
	w.Description()
	if s.Path != "" {
		w.Put("path", rawjson.Quote(s.Path))
	}
	w.Put("uri", quoted)
	given, _ := s.Text("mimeType")
	w.Put("mimeType", rawjson.Quote(cmp.Or(given, typeOf(s, uri))))
	w.Put("provider", rawjson.Quote(provider(s, uri)))
	w.Put("size", s.Pick("size", "a whole number of bytes", isSize))
	w.Put("icons", s.Icons())
	w.Put("annotations", s.Annotations())
	w.Copy("_meta", rawjson.Object)
	if derived {
		w.Put("uriAuto", json.RawMessage("true"))
	}
	if given != "" {
		w.Put(item.TypeDeclared, json.RawMessage("true"))
	}
	f.JSON = w.End(resourceFields)
	return f, true
}

// typeOf returns the default MIME type of a resource, which depends on its name.
func typeOf(s *item.Input, uri string) string {
	name := cmp.Or(s.Path, item.PathOf(uri))
	return cmp.Or(media.ByName(name), media.Text)
}

// provider returns the name of the provider of a resource. The default depends on the
// scheme of the URI.
func provider(s *item.Input, uri string) string {
	if given, _ := s.Text("provider"); given != "" {
		return given
	}
	return item.ProviderOf(uri)
}

func isSize(v json.RawMessage) bool {
	return rawjson.KindOf(v) == rawjson.Number && strings.Trim(string(v), "0123456789") == ""
}
