package registry

import (
	"encoding/json"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// UIResources are the pages of MCP Apps (registry section 9). A client is
// offered them among the resources.
var UIResources = &Kind{
	Key:     "ui",
	File:    "ui-resources.json",
	Logger:  "mcp.ui",
	Noun:    "UI resource",
	Name:    "UI registry",
	code:    mcp.CodeInternal,
	message: "Unable to load resources registry",
	faults:  mcp.Err,
	ttl:     func(d *project.Discovery) time.Duration { return d.UITTL },
	trees: []tree{
		{noun: "Tool", dir: toolsDir, passes: isInPage, examine: findToolPage},
		{noun: "UI", dir: func(p *project.Project) string { return p.UI }, passes: isBelowPage, examine: findPage},
	},
}

const pageType = "text/html;profile=mcp-app"

// isToolPage: a directory ui/ in the directory of a tool holds its page.
func isToolPage(dir string) bool {
	parent, name := path.Split(dir)
	return name == uiDir && parent != ""
}

func isInPage(dir string) bool { return isToolPage(path.Dir(dir)) }

func findToolPage(l *look) {
	if isToolPage(l.path()) {
		addPage(l, path.Base(path.Dir(l.path())))
	}
}

// isBelowPage: pages in ui/ lie side by side.
func isBelowPage(dir string) bool { return strings.Contains(dir, "/") }

func findPage(l *look) {
	if l.depth == 1 {
		addPage(l, l.path())
	}
}

// addPage makes the item of a directory that holds a page, its keys in the
// order of R-92.
func addPage(l *look, name string) {
	if oddity(name) != "" || !l.hasFile(pageFile) && !l.hasFile(pageMeta) {
		return
	}
	var sources []source
	if l.hasFile(pageMeta) {
		if meta := l.metaFile(pageMeta); meta.usable {
			sources = append(sources, meta.source)
		}
	}
	s := l.subject("", sources)
	if !s.checkName(name) {
		return
	}
	var meta fields
	if given := s.ofKind("meta", rawjson.Object); given != nil {
		meta = fields{sources: []source{newSource(writing{sources[0].file, "meta", sources[0].text}, given)}, place: l}
	}
	entrypoint, _ := s.text("entrypoint")
	if entrypoint == "" {
		entrypoint = pageFile
	}
	w := s.write(name)
	w.put("uri", rawjson.Quote(uiURI(l.p.Meta.Name, name)))
	w.put("path", rawjson.Quote(labelOf(l.p.Root, l.absolute())))
	w.put("entrypoint", rawjson.Quote(entrypoint))
	w.put("hasHtml", strconv.AppendBool(nil, holds(l, entrypoint)))
	w.value("template", s.ofKind("template", rawjson.String))
	if w.copy("description", rawjson.String) == nil {
		w.put("description", rawjson.Quote("UI resource for "+name))
	}
	w.put("mimeType", rawjson.Quote(pageType))
	w.put("csp", orElse(meta.ofKind("csp", rawjson.Object), "{}"))
	w.put("permissions", orElse(meta.ofKind("permissions", rawjson.Object), "{}"))
	w.put("prefersBorder", orElse(meta.ofKind("prefersBorder", rawjson.Bool), "true"))
	w.copy("title", rawjson.String)
	w.put("domain", meta.ofKind("domain", rawjson.String))
	l.add(found{Item: Item{Name: name, JSON: w.end(nil)}, id: name, path: l.path()})
}

// holds reports whether a path leads to a file in the directory or below,
// links resolved.
func holds(l *look, file string) bool {
	if !strings.Contains(file, "/") {
		return l.hasFile(file)
	}
	dir, err := filepath.EvalSymlinks(l.absolute())
	n := noteOf(filepath.Join(l.absolute(), filepath.FromSlash(file)))
	l.noted(n)
	rel, errRel := filepath.Rel(dir, n.physical)
	return err == nil && errRel == nil && filepath.IsLocal(rel) && n.stamp.isFile()
}

func orElse(value json.RawMessage, def string) json.RawMessage {
	if value == nil {
		return json.RawMessage(def)
	}
	return value
}
