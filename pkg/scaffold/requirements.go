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

// maxRequirements limits the size of server.d/requirements.json.
const maxRequirements = 1 << 20

// require adds the programs that tools need to server.d/requirements.json, where doctor and
// validate look for them (CLI-1109, WRAP-38).
func require(ctx context.Context, p *project.Project, tools []*wrap.Tool) (err error) {
	at, err := openPlace(ctx, filepath.Dir(p.Server))
	if err != nil {
		return err
	}
	defer func() { at.close(err) }()
	f := file{path: path.Join(filepath.Base(p.Server), "requirements.json"), mode: modeFile, text: "{}\n"}
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
	changed := false
	for _, tool := range tools {
		if tool.Needs != "" && !named(doc.Elements("dependencies"), tool.Needs) {
			var b rawjson.Builder
			doc.Append("dependencies", b.Object().Name("name").String(tool.Needs).End().Bytes())
			changed = true
		}
	}
	if !changed {
		return nil
	}
	f.text = strings.TrimRight(string(doc.Text), "\n") + "\n"
	return at.putOver(f, was)
}

func named(list []json.RawMessage, name string) bool {
	return slices.ContainsFunc(list, func(v json.RawMessage) bool { return rawjson.TextOf(v, "name") == name })
}
