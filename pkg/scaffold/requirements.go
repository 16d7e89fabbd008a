package scaffold

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/jsonedit"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold/wrap"
)

// maxRequirements limits the size of a JSON file in server.d.
const maxRequirements = 1 << 20

// require adds the programs that tools need to server.d/requirements.json, where doctor and
// validate look for them (CLI-1109, WRAP-38).
func require(ctx context.Context, p *project.Project, tools []*wrap.Tool) (err error) {
	return editJSON(ctx, p, "requirements.json", func(doc *jsonedit.Document) (changed bool) {
		for _, tool := range tools {
			for _, name := range tool.Requires() {
				if !named(doc.Elements("dependencies"), name) {
					var b rawjson.Builder
					doc.Append("dependencies", b.Object().Name("name").String(name).End().Bytes())
					changed = true
				}
			}
		}
		return changed
	})
}

// The settings that let variables of the server's environment reach tools (T-61).
const (
	envMode = "MCPBASH_TOOL_ENV_MODE"
	envList = "MCPBASH_TOOL_ENV_ALLOWLIST"
)

// permit lets variables of the server's environment reach tools.
func permit(ctx context.Context, p *project.Project, names []string) error {
	return editJSON(ctx, p, filepath.Base(project.Marker), func(doc *jsonedit.Document) bool {
		return setPermitted(doc, func(have []string) []string {
			all := slices.Concat(have, names)
			slices.Sort(all)
			return slices.Compact(all)
		})
	})
}

// permittedIn returns the variables that "env" of server.meta.json lists. If all are permitted, the list has no effect.
func permittedIn(env json.RawMessage) []string {
	if rawjson.TextOf(env, envMode) == "inherit" {
		return nil
	}
	return strings.FieldsFunc(rawjson.TextOf(env, envList), func(r rune) bool { return r == ',' || r == ' ' })
}

// setPermitted changes the list of variables. Without one, the settings go.
func setPermitted(doc *jsonedit.Document, change func(have []string) []string) (changed bool) {
	env := doc.Member("env")
	have := permittedIn(env)
	before := len(have)
	list := change(have)
	if rawjson.TextOf(env, envMode) == "inherit" || len(list) == before {
		return false
	}
	var b rawjson.Builder
	b.Object()
	mode := "allowlist"
	if len(list) < before { // a removal permits nothing new
		mode = rawjson.TextOf(env, envMode)
	}
	if len(list) > 0 {
		b.Name(envMode).String(cmp.Or(mode, "minimal")).Name(envList).String(strings.Join(list, ","))
	}
	for _, m := range rawjson.Members(env) {
		if m.Name != envMode && m.Name != envList {
			b.Name(m.Name).Raw(m.Value)
		}
	}
	doc.Set("env", b.End().Bytes())
	return true
}

// editJSON edits a JSON file in server.d. A new file begins with an empty object.
func editJSON(ctx context.Context, p *project.Project, name string,
	edit func(*jsonedit.Document) (changed bool)) (err error) {
	at, err := openPlace(ctx, filepath.Dir(p.Server))
	if err != nil {
		return err
	}
	defer func() { at.close(err) }()
	f := file{path: path.Join(filepath.Base(p.Server), name), mode: modeFile, text: "{}\n"}
	info, err := at.look(f.path)
	if err != nil {
		return err
	}
	var was *string
	if info != nil {
		if !info.Mode().IsRegular() {
			return inTheWay(at.abs(f.path), info)
		}
		if f.text, err = at.read(f.path, maxRequirements); err != nil {
			return err
		}
		text := f.text
		was = &text
	}
	if doc, err := rawjson.Check([]byte(f.text)); err != nil || rawjson.KindOf(doc) != rawjson.Object {
		return cli.Failf(cli.CodeInvalid, "%s is not a JSON object; fix it first", at.abs(f.path))
	}
	doc := jsonedit.New([]byte(f.text))
	if !edit(doc) {
		return nil
	}
	f.text = strings.TrimRight(string(doc.Text), "\n") + "\n"
	return at.putOver(f, was)
}

func named(list []json.RawMessage, name string) bool {
	return slices.ContainsFunc(list, func(v json.RawMessage) bool { return rawjson.TextOf(v, "name") == name })
}
