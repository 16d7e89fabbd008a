package registry

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/media"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// Resources are what a client may read (registry section 5).
var Resources = &Kind{
	Key:      "resources",
	File:     "resources.json",
	Logger:   "mcp.resources",
	Noun:     "resource",
	Name:     "Resources registry",
	code:     mcp.CodeInternal,
	message:  "Unable to load resources registry",
	faults:   mcp.Err,
	crowd:    "Resources",
	ttl:      func(d *project.Discovery) time.Duration { return d.ResourcesTTL },
	trees:    []tree{{noun: "Resource", dir: resourcesDir, examine: findResources}},
	required: []string{"name", "uri"},
	entry:    func(s *subject) (found, bool) { return makeResource(s, "") },
}

func resourcesDir(p *project.Project) string { return p.Resources }

// findResources is R-51: every file is a resource, and so is all metadata with
// a URI that belongs to no file.
func findResources(l *look) {
	for file := range l.files {
		if isCompanion(l, file) {
			continue
		}
		head, _, header, err := l.intro(file)
		if err != nil && vanished(err) {
			continue
		}
		var sources []source
		if meta := l.metadata(file); meta != nil {
			sources = append(sources, meta.source)
		}
		if header != nil {
			sources = append(sources, newSource(writing{file: l.shown(file), text: head}, header))
		}
		if sources == nil && isDocumentation(l, file) {
			continue
		}
		s := l.subject(file, sources)
		if isTemplate(s) {
			continue
		}
		if f, ok := makeResource(s, stem(file)); ok {
			l.add(f)
		}
	}
	for meta := range l.metaFiles {
		s := l.unpaired(meta)
		if s == nil || isTemplate(s) {
			continue
		}
		if uri, _ := s.text("uri"); uri == "" {
			l.say(mcp.Warning, s.shown+": there is no such file beside it, and no \"uri\" or \"uriTemplate\" in it; ignored")
		} else if f, ok := makeResource(s, l.nameOf(meta)); ok {
			l.add(f)
		}
	}
}

// isTemplate: what has a template for URIs is no resource.
func isTemplate(s *subject) bool {
	template, _ := s.text("uriTemplate")
	return template != ""
}

var resourceFields = []string{
	"name", "title", "description", "path", "uri", "mimeType", "provider", "size", "icons", "annotations", "_meta",
	"uriAuto", "arguments",
}

// resourceKeys are what metadata of resources may hold: a template is described
// there as well.
var resourceKeys = append(slices.Clone(resourceFields), "uriTemplate")

// makeResource makes the item, its keys in the order of the table in section 5.
func makeResource(s *subject, name string) (found, bool) {
	f := found{path: s.path}
	if given, ok := s.text("name"); ok {
		name = given
	}
	if !s.checkName(name) {
		return found{}, false
	}
	f.Name, f.id = name, name
	quoted := s.ofKind("uri", rawjson.String)
	uri, _ := rawjson.Text(quoted)
	derived := uri == ""
	if derived {
		uri = fileURI(s.content, s.path)
		quoted = rawjson.Quote(uri)
	}
	s.checkKeys(resourceKeys)
	w := s.write(name)
	w.copy("title", rawjson.String)
	w.description()
	if s.path != "" {
		w.put("path", rawjson.Quote(s.path))
	}
	w.put("uri", quoted)
	w.put("mimeType", rawjson.Quote(mimeType(s, uri)))
	w.put("provider", rawjson.Quote(provider(s, uri)))
	w.put("size", s.pick("size", "a whole number of bytes", isSize))
	w.put("icons", s.icons())
	w.put("annotations", s.annotations())
	w.copy("_meta", rawjson.Object)
	if derived {
		w.put("uriAuto", json.RawMessage("true"))
	}
	f.JSON = w.end(resourceFields)
	return f, true
}

// mimeType is the type of a resource, as somebody said or as its name tells
//
func mimeType(s *subject, uri string) string {
	if given, _ := s.text("mimeType"); given != "" {
		return given
	}
	name := s.path
	if name == "" {
		name = pathOf(uri)
	}
	if known := media.ByName(name); known != "" {
		return known
	}
	return media.Text
}

// provider names who fetches a resource, as somebody said or by the scheme of
// its URI.
func provider(s *subject, uri string) string {
	if given, _ := s.text("provider"); given != "" {
		return given
	}
	return ProviderOf(uri)
}

func isSize(v json.RawMessage) bool {
	return rawjson.KindOf(v) == rawjson.Number && strings.Trim(string(v), "0123456789") == ""
}
