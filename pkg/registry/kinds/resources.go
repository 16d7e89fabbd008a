package kinds

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/text/urimatch"
	"mcp-bash/pkg/wire/mcp"
)

// Resources are contents that a client may read (registry section 5).
var Resources = &Kind{
	Key:        "resources",
	File:       "resources.json",
	Logger:     "mcp.resources",
	Noun:       "resource",
	Name:       "Resources registry",
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

// visitResources finds the resources of a directory: every file, and every metadata file with a URI and without a file.
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
	byName := media.ByName(cmp.Or(s.Path, item.PathOf(uri)))
	w.Put("mimeType", rawjson.Quote(cmp.Or(given, byName, media.Text)))
	provider, _ := s.Text("provider")
	w.Put("provider", rawjson.Quote(cmp.Or(provider, item.ProviderOf(uri))))
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

func isSize(v json.RawMessage) bool {
	return rawjson.KindOf(v) == rawjson.Number && strings.Trim(string(v), "0123456789") == ""
}

// Templates are resource templates (registry section 6).
var Templates = &Kind{
	Key:        "resourceTemplates",
	File:       "resource-templates.json",
	Logger:     "mcp.resources.templates",
	Noun:       "template",
	Name:       "Resource templates registry",
	message:    "Unable to load resource templates registry",
	FaultLevel: mcp.Err,
	Plural:     "Resource templates",
	TTL:        func(d *project.Discovery) time.Duration { return d.TemplatesTTL },
	Trees:      []scan.Tree{{Noun: "Resource", Dir: resourcesDir, Examine: visitTemplates}},
	Build:      declaredTemplate,
	Overlays:   true,
	combine:    combineTemplates,
	After:      Resources,
}

// URITemplate is the member of metadata that makes an item a template.
const URITemplate = "uriTemplate"

// visitTemplates finds the templates of a directory: every metadata file with a URI template. The metadata of a
// resource reserves the name of the resource.
func visitTemplates(v *scan.Visit) {
	for meta := range v.MetadataFiles {
		at := item.Place{File: v.Label(meta.Name)}
		warn := func(topic item.Topic, text, logged string) {
			v.Log(item.Message{Level: mcp.Warning, Topic: topic, At: at, Text: text, Logged: logged})
		}
		s := v.Input(meta.Name, []item.Source{meta.Source})
		name, _ := s.Text("name")
		uri, _ := s.Text("uri")
		template := templateOf(s)
		switch {
		case template == "":
			if uri != "" && name != "" {
				v.Add(item.Candidate{Item: item.Item{Name: name}, Path: s.Path, Claim: true})
			}
		case uri != "":
			warn(item.BothURIs, "uri and uriTemplate are mutually exclusive, skipping", "")
		case name == "":
			const text = "skipping template without name"
			warn(item.MissingName, text, fmt.Sprintf("Auto-discovery %s: %s", at, text))
		case !urimatch.HasVariable(template):
			text := fmt.Sprintf("'%s' uriTemplate has no {variable}, skipping", name)
			if strings.ContainsAny(template, "{}") {
				text = fmt.Sprintf("'%s' uriTemplate has an unmatched or empty brace: write {variable}; skipping", name)
			}
			warn(item.MissingVariable, text, fmt.Sprintf("Auto-discovery %s: %s", at, text))
		default:
			if f, ok := buildTemplate(s, name, template); ok {
				v.Add(f)
			}
		}
	}
}

// declaredTemplate builds a template from a declared entry. It leaves out an invalid entry.
func declaredTemplate(s *item.Input) (item.Candidate, bool) {
	name, _ := s.Text("name")
	uri, _ := s.Text("uri")
	template := templateOf(s)
	fault := ""
	switch {
	case name == "":
		fault = "Manual template missing required 'name' field"
	case uri != "" && template != "":
		fault = fmt.Sprintf("Manual template '%s' has both uri and uriTemplate (mutually exclusive)", name)
	case template == "":
		fault = "Manual template missing required 'uriTemplate' field"
	case !urimatch.HasVariable(template):
		fault = fmt.Sprintf("Template '%s' uriTemplate must contain at least one {variable}", name)
	default:
		s.Path = ""
		return buildTemplate(s, name, template)
	}
	return item.Candidate{}, s.LeaveOut(fault)
}

// buildTemplate builds a template. It drops unknown fields.
func buildTemplate(s *item.Input, name, template string) (item.Candidate, bool) {
	if !s.CheckName(name) {
		return item.Candidate{}, false
	}
	s.KeepUnknown = false
	s.CheckKeys(ResourceFields)
	w := s.Begin(name)
	w.Put(URITemplate, rawjson.Quote(template))
	w.Text("title")
	w.Text("description")
	w.Text("mimeType")
	w.Put("icons", s.Icons())
	w.Put("annotations", s.Annotations())
	w.Copy("_meta", rawjson.Object)
	return item.Candidate{Item: item.Item{Name: name, JSON: w.End(nil)}, ID: name, Path: s.Path}, true
}

// templateOf returns the URI template of an item without line breaks, or "".
func templateOf(s *item.Input) string {
	template, _ := s.Text(URITemplate)
	return lineBreaks.Replace(template)
}

var lineBreaks = strings.NewReplacer("\r", "", "\n", "")

// combineTemplates returns the templates without those that have the name of a resource, listed or not. A declared
// template replaces a discovered one of the same name.
func combineTemplates(a *Assembly) []item.Candidate {
	taken := make(map[string]bool)
	for _, f := range a.Found {
		if f.Claim {
			taken[f.Name] = true
		}
	}
	for i := range a.After {
		taken[a.After[i].Name] = true
	}
	var items []item.Candidate
	written := make(map[string]bool)
	if a.Declared != nil {
		for _, f := range a.Declared.Found {
			switch {
			case taken[f.Name]:
				a.log(item.Message{Level: mcp.Warning, Topic: item.Duplicate,
					Text: fmt.Sprintf("Manual template name conflicts with existing resource '%s', skipping", f.Name)})
			case written[f.Name]:
				a.log(item.Message{Level: mcp.Warning, Topic: item.Duplicate,
					Text: fmt.Sprintf("Duplicate template name in manual registration: %s (keeping first)", f.Name)})
			default:
				written[f.Name] = true
				items = append(items, f)
			}
		}
	}
	listed := make(map[string]bool)
	slices.SortStableFunc(a.Found, byName)
	for _, f := range a.Found {
		at := a.at(f)
		drop := func(text string) {
			a.log(item.Message{Level: mcp.Warning, Topic: item.Duplicate, At: at, Text: text,
				Logged: fmt.Sprintf("Auto-discovery %s: %s", at, text)})
		}
		switch {
		case f.Claim:
		case taken[f.Name]:
			drop(fmt.Sprintf("template name conflicts with existing resource '%s', skipping", f.Name))
		case listed[f.Name]:
			drop(fmt.Sprintf("Duplicate template name in auto-discovery: %s (keeping first)", f.Name))
		case written[f.Name]:
			listed[f.Name] = true
			a.log(item.Message{Level: mcp.Info,
				Text: fmt.Sprintf("Manual template overrides auto-discovered template '%s'", f.Name)})
		default:
			listed[f.Name] = true
			items = append(items, f)
		}
	}
	slices.SortStableFunc(items, byName)
	return items
}
