package scaffold

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// templates holds a directory for each kind of thing. In the texts __NAME__ stands
// for its name, __TITLE__ for the title made of it, and __NAME_JSON__ and
// __TITLE_JSON__ for the two as JSON strings; in file names NAME does.
//
//go:embed templates
var templates embed.FS

// A file is one to be written.
type file struct {
	path string // with slashes, below some directory
	text string
	mode fs.FileMode
}

// Modes of what is written, whatever the umask (CLI-502, CLI-603).
const (
	modeDir    fs.FileMode = 0o755
	modeScript fs.FileMode = 0o755
	modeFile   fs.FileMode = 0o644
)

// parts are the files of each template, in the order in which they are written and
// listed (CLI-502, CLI-603).
var parts = map[string][]string{
	"server":           {project.Marker},
	"hello":            {"tool.sh", "tool.meta.json"},
	"readme":           {"README.md"},
	"page":             {"index.html", "ui.meta.json"},
	string(Tool):       {"tool.sh", "tool.meta.json", "README.md", "smoke.sh"},
	string(Prompt):     {"NAME.txt", "NAME.meta.json", "README.md"},
	string(Resource):   {"NAME.txt", "NAME.meta.json", "README.md"},
	string(Completion): {"completion.sh", "README.md"},
	string(UI):         {"README.md"}, // beside a page
	string(Test):       {"run.sh", "README.md"},
}

// render returns the files of a template. Scripts are executable.
func render(template, name string) (files []file) {
	title := project.Title(name)
	texts := strings.NewReplacer("__NAME__", name, "__TITLE__", title,
		"__NAME_JSON__", string(rawjson.Quote(name)), "__TITLE_JSON__", string(rawjson.Quote(title)))
	for _, part := range parts[template] {
		text, err := templates.ReadFile(path.Join("templates", template, part))
		if err != nil {
			panic(err) // they are a part of the program
		}
		f := file{strings.Replace(part, "NAME", name, 1), texts.Replace(string(text)), modeFile}
		if strings.HasSuffix(part, ".sh") {
			f.mode = modeScript
		}
		files = append(files, f)
	}
	return files
}
