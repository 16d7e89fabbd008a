// Package scaffold creates projects, and tools, prompts, resources, completions, pages and
// tests in them, from embedded templates (cli chapters 5 and 6). The created files work
// without changes.
package scaffold

import (
	"embed"
	"path"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/schemas"
)

// templates has a directory for each kind of item. In the texts, __NAME__ represents the
// name, __TITLE__ the title derived from it, and __NAME_JSON__ and __TITLE_JSON__ both as
// JSON strings. __SCHEMAS__ represents the path to the schemas. In file names, NAME
// represents the name.
//
//go:embed templates
var templates embed.FS

// parts are the files of each template, in the order in which they are written and
// listed (CLI-502, CLI-603).
var parts = map[string][]string{
	"server":           {project.Marker},
	"hello":            {"tool.sh", "tool.meta.json"},
	"readme":           {"README.md"},
	"page":             {"index.html", "ui.meta.json"},
	string(Tool):       {"tool.sh", "tool.meta.json", "README.md"},
	string(Prompt):     {"NAME.txt", "NAME.meta.json", "README.md"},
	string(Resource):   {"NAME.txt", "NAME.meta.json", "README.md"},
	string(Completion): {"completion.sh", "README.md"},
	string(UI):         {"README.md"}, // next to a page
	string(Skill):      {"SKILL.md"},
	string(Release):    {"release.yml"},
	"case":             {"NAME.yaml"},
	"hellocase":        {"NAME.yaml"},
}

// render returns the files of a template. Scripts are executable. schemas is the path of the
// schemas, with slashes, relative to the directory of the files. If it is "", files refer to
// no schemas.
func render(template, name, schemas string) (files []file) {
	title := project.Title(name)
	texts := strings.NewReplacer("__NAME__", name, "__TITLE__", title,
		"__NAME_JSON__", string(rawjson.Quote(name)), "__TITLE_JSON__", string(rawjson.Quote(title)))
	for _, part := range parts[template] {
		text, err := templates.ReadFile(path.Join("templates", template, part))
		if err != nil {
			panic(err) // templates are embedded
		}
		f := file{strings.Replace(part, "NAME", name, 1), withSchema(texts.Replace(string(text)), schemas), modeFile}
		if strings.HasPrefix(f.text, "#!") {
			f.mode = modeScript
		}
		files = append(files, f)
	}
	return files
}

// withSchema inserts the path to the schemas into a text. If the path is "", it removes the
// line that refers to them.
func withSchema(text, schemas string) string {
	const gap = "__SCHEMAS__"
	before, after, found := strings.Cut(text, gap)
	switch {
	case !found:
		return text
	case schemas != "":
		return before + schemas + after
	}
	_, after, _ = strings.Cut(after, "\n")
	return before[:strings.LastIndexByte(before, '\n')+1] + after
}

// schemasDir is the directory in a project with the schemas of its files, for editors.
const schemasDir = ".schemas"

func schemaFiles() (list []file) {
	entries, err := schemas.Files.ReadDir(".")
	if err != nil {
		panic(err) // schemas are embedded
	}
	for _, e := range entries {
		switch e.Name() {
		case schemas.File(schemas.Tokens), schemas.File(schemas.Marketplace): // they are not part of a project
			continue
		}
		text, err := schemas.Files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		list = append(list, file{e.Name(), string(text), modeFile})
	}
	return list
}

// schemasFrom returns the path from a directory to the schemas of a project, or "" if the
// project has no schemas.
func schemasFrom(p *project.Project, dir string) string {
	place := filepath.Join(p.Root, schemasDir)
	way, err := filepath.Rel(dir, place)
	if err != nil || !isDir(place) || !fsys.Within(p.Root, dir) {
		return ""
	}
	return filepath.ToSlash(way)
}
