// Package schemas embeds JSON Schemas (draft 2020-12) of the files that people write in a
// project, for editors and for validate. They refer to each other by file name, so a folder
// with all of them needs no network.
package schemas

import (
	"embed"
	"encoding/json"
	"path"
	"strings"
	"sync"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
)

// Files are the schemas, NAME.schema.json for each kind of file, and their shared
// definitions.
//
//go:embed *.schema.json
var Files embed.FS

// Audit is the schema of a line of an audit record. The server writes these lines, and nobody edits them.
//
//go:embed audit.json
var Audit []byte

// Names of the schemas.
const (
	Tool       = "tool"
	Resource   = "resource"
	Template   = "template"
	Prompt     = "prompt"
	Completion = "completion" // an entry of register.json
	UI         = "ui"
	Server     = "server"
	Register   = "register"
	Tokens     = "tokens"
	Roots      = "roots"
	Recipe     = "recipe"
	Case       = "case" // a test of a tool

	Requirements = "requirements"

	// Marketplace describes the plugins of a repository, which is not part of a project.
	Marketplace = "marketplace"
)

// File returns the name of a schema's file.
func File(name string) string { return name + ".schema.json" }

// Fields returns the names of the fields that a schema describes, or those of an object in it.
func Fields(name string, in ...string) (fields []string) {
	text, err := Files.ReadFile(File(name))
	if err != nil {
		panic(err) // the name must be one of the constants
	}
	described := rawjson.Get(text, "properties")
	for _, object := range in {
		described = rawjson.Path(described, object, "properties")
	}
	for field := range rawjson.All(described) {
		fields = append(fields, field)
	}
	return fields
}

var compiled sync.Map // from names to what Compile returns

// Compile returns the compiled schema of a name, which must be one of the constants.
func Compile(name string) *schema.Schema {
	if s, ok := compiled.Load(name); ok {
		return s.(*schema.Schema)
	}
	s, err := schema.Compile(bundle(name))
	if err != nil {
		panic(err) // the schemas are embedded and tested
	}
	compiled.Store(name, s)
	return s
}

// bundle returns a schema with the definitions of other files that it refers to in its $defs.
func bundle(name string) json.RawMessage {
	root := map[string]any{}
	defs := map[string]any{}
	inline(name, root, defs)
	root["$defs"] = defs
	text, err := json.Marshal(root)
	if err != nil {
		panic(err)
	}
	return text
}

// inline reads the schema of a name into root, and the definitions that it refers to into defs.
func inline(name string, root, defs map[string]any) {
	text, err := Files.ReadFile(File(name))
	if err != nil {
		panic(err)
	}
	if err := json.Unmarshal(text, &root); err != nil {
		panic(err)
	}
	if own, ok := root["$defs"].(map[string]any); ok {
		for key, def := range own {
			defs[key] = def
		}
		delete(root, "$defs")
	}
	resolve(root, defs)
	for _, def := range defs {
		resolve(def, defs)
	}
}

// resolve replaces references to other files with references to defs, and adds missing
// definitions to defs.
func resolve(part any, defs map[string]any) {
	switch part := part.(type) {
	case map[string]any:
		if ref, ok := part["$ref"].(string); ok && !strings.HasPrefix(ref, "#") {
			file, fragment, _ := strings.Cut(ref, "#")
			name := strings.TrimSuffix(file, File(""))
			key := path.Base(fragment)
			if fragment == "" {
				key = name
			}
			if _, there := defs[key]; !there {
				other := map[string]any{}
				if fragment == "" {
					defs[key] = other
				}
				inline(name, other, defs)
			}
			part["$ref"] = "#/$defs/" + key
		}
		for key, value := range part {
			if key != "enum" && key != "const" && key != "examples" {
				resolve(value, defs)
			}
		}
	case []any:
		for _, value := range part {
			resolve(value, defs)
		}
	}
}
