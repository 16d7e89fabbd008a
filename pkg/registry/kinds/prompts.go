package kinds

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// Prompts are texts for clients (registry section 7).
var Prompts = &Kind{
	Key:        "prompts",
	File:       "prompts.json",
	Logger:     "mcp.prompts",
	Noun:       "prompt",
	Name:       "Prompts registry",
	message:    "Unable to load prompts registry",
	FaultLevel: mcp.Err,
	Plural:     "Prompts",
	TTL:        func(d *project.Discovery) time.Duration { return d.PromptsTTL },
	Trees:      []scan.Tree{{Noun: "Prompt", Dir: promptsDir, Examine: visitPrompts}},
	required:   []string{"name", "path"},
	Build:      declaredPrompt,
	combine: func(a *Assembly) []item.Candidate {
		a.Found = a.unclaimed()
		return a.standard()
	},
}

func promptsDir(p *project.Project) string { return p.Prompts }

// promptMetadata describes the only text of its directory (R-33a).
const promptMetadata = "prompt" + item.MetadataSuffix

// visitPrompts finds the prompts of a directory: every text file, and every metadata file whose "path" names another
// file.
func visitPrompts(v *scan.Visit) {
	for meta := range v.MetadataFiles {
		s := v.Input(meta.Name, []item.Source{meta.Source})
		if !redirectPrompt(s) {
			continue
		}
		meta.Moved = true
		if f, ok := buildPrompt(s, v.ItemName(meta)); ok {
			f.Claim = true
			v.Add(f)
		}
	}
	for file := range v.Files {
		if isSidecar(v, file) {
			continue
		}
		meta := describing(v, file, promptMetadata, v.IsText)
		var sources []item.Source
		switch {
		case meta == nil && isDocumentation(v, file), meta != nil && meta.Moved:
			continue
		case meta != nil:
			sources = []item.Source{meta.Source}
		}
		// The directory may also contain pictures of a prompt, even with the same name.
		if own := meta != nil && meta.Name == file+item.MetadataSuffix; !own && !v.IsText(file) {
			continue
		}
		if f, ok := buildPrompt(v.Input(file, sources), item.Stem(file)); ok {
			v.Add(f)
		}
	}
	for meta := range v.MetadataFiles {
		if !meta.Paired && !meta.Moved {
			v.Log(item.Message{Level: mcp.Warning, Topic: item.MissingText, At: item.Place{File: v.Label(meta.Name)},
				Text: `describes no file: no other file here has its name, and it has no "path" to another file; ignored`})
		}
	}
}

// redirectPrompt sets the path of the prompt to the file that "path" of its metadata names,
// and reports whether there is such a file.
func redirectPrompt(s *item.Input) bool {
	named, _ := s.Text("path")
	if named == "" {
		return false
	}
	path, ok := locate(s, named, append([]string{s.Content, s.Project.Root}, s.IconDirs...))
	if !ok {
		must := "the path of a file in " + folder.Label(s.Project.Root, s.Content) + "/"
		s.Complain(&s.Sources[0], s.Sources[0].Last("path"), "path", must)
		return false
	}
	s.Path = path
	return true
}

// locate returns the path of a file relative to the content directory. named is relative to
// one of the directories. locate follows links.
func locate(s *item.Input, named string, dirs []string) (path string, ok bool) {
	physical, err := filepath.EvalSymlinks(s.Content)
	if err != nil {
		return "", false
	}
	if filepath.IsAbs(named) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		n := folder.Observe(filepath.Join(dir, filepath.FromSlash(named)))
		s.Observed(n)
		if rel, err := filepath.Rel(physical, n.Resolved); err == nil && n.Stamp.IsFile() && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// declaredPrompt builds a prompt from a declared entry. It keeps an entry whose file does
// not exist: reading the prompt reports that.
func declaredPrompt(s *item.Input) (item.Candidate, bool) {
	if path, ok := locate(s, s.Path, []string{s.Content, s.Project.Root}); ok {
		s.Path = path
	}
	return buildPrompt(s, "")
}

var PromptFields = []string{
	"name", "title", "description", "path", "arguments", "role", "metadata", "format", "elicit", "icons", "_meta",
}

// buildPrompt builds a prompt, with its keys in the order of registry section 7.
func buildPrompt(s *item.Input, name string) (item.Candidate, bool) {
	if given, ok := s.Text("name"); ok {
		name = given
	}
	if !s.CheckName(name) {
		return item.Candidate{}, false
	}
	s.CheckKeys(PromptFields)
	w := s.Begin(name)
	w.Copy("title", rawjson.String)
	w.Description()
	w.Put("path", rawjson.Quote(s.Path))
	w.Put("arguments", s.Arguments())
	role, _ := s.Text("role")
	role = cmp.Or(role, "user")
	w.Put("role", rawjson.Quote(role))
	w.PutOrNull("metadata", s.Pick("metadata", "", func(json.RawMessage) bool { return true }))
	if format, _ := s.Text("format"); format == "messages" {
		w.Put("format", rawjson.Quote(format))
	}
	w.CopyTrue("elicit")
	w.Put("icons", s.Icons())
	w.Copy("_meta", rawjson.Object)
	return item.Candidate{Item: item.Item{Name: name, JSON: w.End(PromptFields)}, ID: name, Path: s.Path}, true
}
