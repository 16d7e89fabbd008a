package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// Templates are the resource templates a client may fill in (registry section
// 6).
var Templates = &Kind{
	Key:     "resourceTemplates",
	File:    "resource-templates.json",
	Logger:  "mcp.resources.templates",
	Noun:    "template",
	Name:    "Resource templates registry",
	code:    mcp.CodeInternal,
	message: "Unable to load resource templates registry",
	faults:  mcp.Err,
	crowd:   "Resource templates",
	ttl:     func(d *project.Discovery) time.Duration { return d.TemplatesTTL },
	trees:   []tree{{noun: "Resource", dir: resourcesDir, examine: findTemplates}},
	entry:   writtenTemplate,
	lays:    true,
	combine: combineTemplates,
	after:   Resources,
}

// findTemplates is R-61. Metadata of resources claims its name.
func findTemplates(l *look) {
	for meta := range l.metaFiles {
		file := l.shown(meta.name)
		warn := func(text string) { l.say(mcp.Warning, text) }
		s := l.subject(meta.name, []source{meta.source})
		name, _ := s.text("name")
		uri, _ := s.text("uri")
		template := templateOf(s)
		switch {
		case template == "":
			if uri != "" && name != "" {
				l.add(found{Item: Item{Name: name}, path: s.path, claim: true})
			}
		case uri != "":
			warn(file + ": uri and uriTemplate are mutually exclusive, skipping")
		case name == "":
			warn("Auto-discovery " + file + ": skipping template without name")
		case !hasVariable(template):
			warn(fmt.Sprintf("Auto-discovery %s: '%s' uriTemplate has no {variable}, skipping", file, name))
		default:
			if f, ok := makeTemplate(s, name, template); ok {
				l.add(f)
			}
		}
	}
}

// writtenTemplate makes an item of a handwritten entry, or leaves it out
//
func writtenTemplate(s *subject) (found, bool) {
	name, _ := s.text("name")
	uri, _ := s.text("uri")
	template := templateOf(s)
	fault := ""
	switch {
	case name == "":
		fault = "Manual template missing required 'name' field"
	case uri != "" && template != "":
		fault = fmt.Sprintf("Manual template '%s' has both uri and uriTemplate (mutually exclusive)", name)
	case template == "":
		fault = "Manual template missing required 'uriTemplate' field"
	case !hasVariable(template):
		fault = fmt.Sprintf("Template '%s' uriTemplate must contain at least one {variable}", name)
	default:
		s.path = ""
		return makeTemplate(s, name, template)
	}
	return found{}, s.drop(fault)
}

// makeTemplate makes the item. Nothing but these fields is kept.
func makeTemplate(s *subject, name, template string) (found, bool) {
	if !s.checkName(name) {
		return found{}, false
	}
	s.extras = false
	s.checkKeys(resourceKeys)
	w := s.write(name)
	w.put("uriTemplate", rawjson.Quote(template))
	w.text("title")
	w.text("description")
	w.text("mimeType")
	w.put("icons", s.icons())
	w.put("annotations", s.annotations())
	w.copy("_meta", rawjson.Object)
	return found{Item: Item{Name: name, JSON: w.end(nil)}, id: name, path: s.path}, true
}

// templateOf returns the template of a subject in one line, "" for none.
func templateOf(s *subject) string {
	template, _ := s.text("uriTemplate")
	return lineBreaks.Replace(template)
}

var lineBreaks = strings.NewReplacer("\r", "", "\n", "")

// hasVariable: one pair of braces at least with something in it, and none that
// has lost its partner (R-62, RES-163).
func hasVariable(template string) bool {
	some := false
	for {
		before, rest, found := strings.Cut(template, "{")
		if strings.Contains(before, "}") {
			return false
		}
		if !found {
			return some
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || strings.Contains(name, "{") {
			return false
		}
		some = some || strings.TrimSpace(name) != ""
		template = after
	}
}

// combineTemplates: no template has the name of a resource, whether that is
// listed or only declared; handwritten ones are laid over those found (R-61,
//
func combineTemplates(a *assembly) []found {
	taken := make(map[string]bool)
	for _, f := range a.found {
		if f.claim {
			taken[f.Name] = true
		}
	}
	for i := range a.after {
		taken[a.after[i].Name] = true
	}
	warn := func(level mcp.Level, format string, args ...any) {
		a.say(message{level, fmt.Sprintf(format, args...)})
	}
	var items []found
	written := make(map[string]bool)
	if a.declared != nil {
		for _, f := range a.declared.found {
			switch {
			case taken[f.Name]:
				warn(mcp.Warning, "Manual template name conflicts with existing resource '%s', skipping", f.Name)
			case written[f.Name]:
				warn(mcp.Warning, "Duplicate template name in manual registration: %s (keeping first)", f.Name)
			default:
				written[f.Name] = true
				items = append(items, f)
			}
		}
	}
	listed := make(map[string]bool)
	slices.SortStableFunc(a.found, byName)
	for _, f := range a.found {
		where := a.kind.shown(a.p, f)
		switch {
		case f.claim:
		case taken[f.Name]:
			warn(mcp.Warning, "Auto-discovery %s: template name conflicts with existing resource '%s', skipping", where, f.Name)
		case listed[f.Name]:
			warn(mcp.Warning, "Auto-discovery %s: Duplicate template name in auto-discovery: %s (keeping first)", where, f.Name)
		case written[f.Name]:
			listed[f.Name] = true
			warn(mcp.Info, "Manual template overrides auto-discovered template '%s'", f.Name)
		default:
			listed[f.Name] = true
			items = append(items, f)
		}
	}
	slices.SortStableFunc(items, byName)
	return items
}
