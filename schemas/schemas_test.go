package schemas

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// every are all schemas.
var every = []string{
	Tool, Resource, Template, Prompt, Completion, UI, Server, Register, Tokens, Recipe, Case, Marketplace,
}

// Each file is a schema with a title and a description, and without references to a network.
func TestFiles(t *testing.T) {
	names, err := fs.Glob(Files, "*.schema.json")
	if err != nil || len(names) != len(every)+1 {
		t.Errorf("%v, %v", names, err)
	}
	for _, name := range every {
		Compile(name)
		text, err := Files.ReadFile(File(name))
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Schema      string `json:"$schema"`
			Title       string
			Description string
			Properties  map[string]json.RawMessage
		}
		if err := json.Unmarshal(text, &s); err != nil || s.Title == "" || s.Description == "" ||
			s.Schema != "https://json-schema.org/draft/2020-12/schema" || s.Properties["$schema"] == nil {
			t.Errorf("%s: %+v %v", name, s, err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if _, ref, ok := strings.Cut(line, `"$ref": "`); ok && strings.Contains(ref, "://") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// The files of the examples are valid.
func TestExamples(t *testing.T) {
	seen := map[string]int{}
	root := os.DirFS(filepath.Join("..", "examples"))
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := ""
		switch base := d.Name(); {
		case base == "server.meta.json":
			name = Server
		case base == "register.json":
			name = Register
		case base == "ui.meta.json":
			name = UI
		case !strings.HasSuffix(base, ".meta.json"):
			return nil
		case strings.Contains(path, "/tools/"):
			name = Tool
		case strings.Contains(path, "/prompts/"):
			name = Prompt
		case strings.Contains(path, "/resources/"):
			name = Resource
		default:
			t.Errorf("%s: of no kind", path)
			return nil
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		if name == Resource && strings.Contains(string(text), `"uriTemplate"`) {
			name = Template
		}
		seen[name]++
		for _, v := range Compile(name).Check(text) {
			t.Errorf("%s: %s", path, v)
		}
		return nil
	})
	if err != nil || len(seen) < 6 {
		t.Errorf("%v, %v", seen, err)
	}
}
