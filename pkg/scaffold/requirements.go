package scaffold

import (
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
			for _, name := range append([]string{tool.Needs}, tool.Install...) {
				if name != "" && !named(doc.Elements("dependencies"), name) {
					var b rawjson.Builder
					doc.Append("dependencies", b.Object().Name("name").String(name).End().Bytes())
					changed = true
				}
			}
		}
		return changed
	})
}

// permit lets variables of the server's environment reach tools (T-61).
func permit(ctx context.Context, p *project.Project, names []string) error {
	const mode, list = "MCPBASH_TOOL_ENV_MODE", "MCPBASH_TOOL_ENV_ALLOWLIST"
	return editJSON(ctx, p, filepath.Base(project.Marker), func(doc *jsonedit.Document) bool {
		env := doc.Member("env")
		have := strings.FieldsFunc(rawjson.TextOf(env, list), func(r rune) bool { return r == ',' || r == ' ' })
		all := slices.Concat(have, names)
		slices.Sort(all)
		all = slices.Compact(all)
		if rawjson.TextOf(env, mode) == "inherit" || len(all) == len(have) {
			return false
		}
		var b rawjson.Builder
		b.Object().Name(mode).String("allowlist").Name(list).String(strings.Join(all, ","))
		for _, m := range rawjson.Members(env) {
			if m.Name != mode && m.Name != list {
				b.Name(m.Name).Raw(m.Value)
			}
		}
		doc.Set("env", b.End().Bytes())
		return true
	})
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
