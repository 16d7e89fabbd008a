package schemas

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// every are all schemas.
var every = []string{
	Tool, Resource, Template, Prompt, Completion, UI, Server, Register, Tokens, Recipe, Case, Marketplace, Roots,
	Requirements,
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

// others matches the descriptions of members that our programs do not read.
var others = regexp.MustCompile(`(?i)\b(ignored?s?|ignores it|not stored|passed on|kept in the registry|always shell)\b`)

// described calls do with the members that a schema describes, and with the descriptions on the way to them. It does
// not look into the description of JSON Schema, which package schema reads.
func described(node any, way string, do func(name, way string)) {
	switch node := node.(type) {
	case map[string]any:
		if text, ok := node["description"].(string); ok {
			way += " " + text
		}
		properties, _ := node["properties"].(map[string]any)
		for name, property := range properties {
			own := way
			if p, ok := property.(map[string]any); ok {
				text, _ := p["description"].(string)
				own += " " + text
			}
			do(name, own)
			described(property, way, do)
		}
		for key, value := range node {
			if key != "properties" && key != "jsonSchema" && key != "enum" && key != "const" && key != "not" {
				described(value, way, do)
			}
		}
	case []any:
		for _, value := range node {
			described(value, way, do)
		}
	}
}

// Each member that a schema describes is in the code of the programs, or its description names another reader. So
// everything that people declare has an effect.
func TestMembersAreRead(t *testing.T) {
	var code strings.Builder
	for _, dir := range []string{"../pkg", "../cmd"} {
		err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			code.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text := code.String()
	for _, name := range append([]string{"definitions"}, every...) {
		file, err := Files.ReadFile(File(name))
		if err != nil {
			t.Fatal(err)
		}
		var node any
		if err := json.Unmarshal(file, &node); err != nil {
			t.Fatal(err)
		}
		var unread []string
		described(node, "", func(member, way string) {
			read := strings.Contains(text, `"`+member+`"`) || strings.Contains(text, `:"`+member+`,`)
			if !read && !others.MatchString(way) {
				unread = append(unread, member)
			}
		})
		slices.Sort(unread)
		if unread = slices.Compact(unread); len(unread) > 0 {
			t.Errorf("%s: no program reads %q", File(name), unread)
		}
	}
}
