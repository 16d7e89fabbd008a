package scaffold

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold/recipe"
)

// WriteRecipe writes a recipe into recipes/ of the project, for a person or an agent to complete (WRAP-16). It returns
// the path of the file. An existing file is replaced only with force.
func WriteRecipe(ctx context.Context, p *project.Project, r *recipe.Recipe, force bool) (name string, err error) {
	name = path.Join("recipes", r.FileName())
	if schemas := schemasFrom(p, filepath.Join(p.Root, "recipes")); schemas != "" {
		r.Schema = schemas + "/recipe.schema.json"
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return "", err
	}
	if _, err := recipe.Parse(text.Bytes()); err != nil { // such as a program with an unusual name
		return "", cli.Failf(cli.CodeInvalid, "no recipe can be drafted: %v", err)
	}
	at, err := openPlace(ctx, p.Root)
	if err != nil {
		return "", err
	}
	defer func() { at.close(err) }()
	info, err := at.look(name)
	if err != nil {
		return "", err
	}
	if info != nil && !force {
		return "", taken(at.abs(name), "file")
	}
	return name, at.put(file{name, text.String(), modeFile})
}
