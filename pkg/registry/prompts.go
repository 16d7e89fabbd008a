package registry

import (
	"encoding/json"
	"path/filepath"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// Prompts are the texts a client may ask for (registry section 7).
var Prompts = &Kind{
	Key:      "prompts",
	File:     "prompts.json",
	Logger:   "mcp.prompts",
	Noun:     "prompt",
	Name:     "Prompts registry",
	code:     mcp.CodeInternal,
	message:  "Unable to load prompts registry",
	faults:   mcp.Err,
	crowd:    "Prompts",
	ttl:      func(d *project.Discovery) time.Duration { return d.PromptsTTL },
	trees:    []tree{{noun: "Prompt", dir: func(p *project.Project) string { return p.Prompts }, examine: findPrompts}},
	required: []string{"name", "path"},
	entry:    writtenPrompt,
	combine: func(a *assembly) []found {
		a.found = a.unclaimed()
		return a.standard()
	},
}

// findPrompts is R-71: every text is a prompt, unless metadata names another
// file in its place, and so is metadata that names one.
func findPrompts(l *look) {
	for meta := range l.metaFiles {
		s := l.subject(meta.name, []source{meta.source})
		if !redirectPrompt(s) {
			continue
		}
		meta.moved = true
		if f, ok := makePrompt(s, l.nameOf(meta)); ok {
			f.claim = true
			l.add(f)
		}
	}
	for file := range l.files {
		if isCompanion(l, file) {
			continue
		}
		meta := l.metadata(file)
		var sources []source
		switch {
		case meta == nil && isDocumentation(l, file), meta != nil && meta.moved:
			continue
		case meta != nil:
			sources = []source{meta.source}
		}
		// Pictures that a prompt uses may lie beside it, even under its name.
		if own := meta != nil && meta.name == file+metaSuffix; !own && !l.isText(file) {
			continue
		}
		if f, ok := makePrompt(l.subject(file, sources), stem(file)); ok {
			l.add(f)
		}
	}
	for meta := range l.metaFiles {
		if !meta.paired && !meta.moved {
			l.say(mcp.Warning, l.shown(meta.name)+": there is no such file beside it, and no \"path\" in it that leads to one; ignored")
		}
	}
}

// redirectPrompt takes the file that metadata names in the place of its own, and
// reports whether it did.
func redirectPrompt(s *subject) bool {
	named, _ := s.text("path")
	if named == "" {
		return false
	}
	path, ok := locate(s, named, append([]string{s.content, s.project.Root}, s.iconDirs...))
	if !ok {
		s.complain(&s.sources[0], s.sources[0].last("path"), "path", "the path of a file in "+labelOf(s.project.Root, s.content)+"/")
		return false
	}
	s.path = path
	return true
}

// locate finds the file that a path means, in the first of some directories
// where it leads to one of the content directory, and returns where it lies
// there. Links are followed, and count as what they lead to.
func locate(s *subject, named string, dirs []string) (path string, ok bool) {
	physical, err := filepath.EvalSymlinks(s.content)
	if err != nil {
		return "", false
	}
	if filepath.IsAbs(named) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		n := noteOf(filepath.Join(dir, filepath.FromSlash(named)))
		s.noted(n)
		if rel, err := filepath.Rel(physical, n.physical); err == nil && n.stamp.isFile() && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// writtenPrompt makes an item of a handwritten entry. Where its path leads
// nowhere it is kept: reading it says so.
func writtenPrompt(s *subject) (found, bool) {
	if path, ok := locate(s, s.path, []string{s.content, s.project.Root}); ok {
		s.path = path
	}
	return makePrompt(s, "")
}

var promptFields = []string{
	"name", "title", "description", "path", "arguments", "role", "metadata", "format", "elicit", "icons", "_meta",
}

// makePrompt makes the item, its keys in the order of the table in section 7.
func makePrompt(s *subject, name string) (found, bool) {
	if given, ok := s.text("name"); ok {
		name = given
	}
	if !s.checkName(name) {
		return found{}, false
	}
	s.checkKeys(promptFields)
	w := s.write(name)
	w.copy("title", rawjson.String)
	w.description()
	w.put("path", rawjson.Quote(s.path))
	w.put("arguments", s.arguments())
	role, _ := s.text("role")
	if role == "" {
		role = "user"
	}
	w.put("role", rawjson.Quote(role))
	w.value("metadata", s.pick("metadata", "", func(json.RawMessage) bool { return true }))
	if format, _ := s.text("format"); format == "messages" {
		w.put("format", rawjson.Quote(format))
	}
	w.whenTrue("elicit")
	w.put("icons", s.icons())
	w.copy("_meta", rawjson.Object)
	return found{Item: Item{Name: name, JSON: w.end(promptFields)}, id: name, path: s.path}, true
}
