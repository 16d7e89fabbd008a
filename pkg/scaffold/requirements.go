package scaffold

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/json/jsonedit"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold/wrap"
)

// maxRequirements limits the size of a JSON file in server.d.
const maxRequirements = 1 << 20

// requirements is the file in server.d that lists programs, where doctor and validate look for them (CLI-1109).
const requirements = "requirements.json"

// require adds the programs that tools need to the requirements of the project. It lets the variables that they need
// reach them (WRAP-38).
func require(w *writer, p *project.Project, tools []*wrap.Tool) error {
	var variables []string
	for _, tool := range tools {
		variables = append(variables, tool.Variables...)
	}
	err := editJSON(w, p, requirements, func(doc *jsonedit.Document) {
		for _, tool := range tools {
			for _, name := range tool.Requires() {
				if !slices.ContainsFunc(doc.Elements("dependencies"), hasName(name)) {
					var b rawjson.Builder
					doc.Append("dependencies", b.Object().Name("name").String(name).End().Bytes())
				}
			}
		}
	})
	if err != nil || len(variables) == 0 {
		return err
	}
	return permit(w, p, variables, nil)
}

// hasName returns a function that reports whether an object has a name.
func hasName(name string) func(v json.RawMessage) bool {
	return func(v json.RawMessage) bool { return rawjson.TextOf(v, "name") == name }
}

// The settings that let variables of the server's environment reach tools (T-61).
const (
	envMode = "MCPBASH_TOOL_ENV_MODE"
	envList = "MCPBASH_TOOL_ENV_ALLOWLIST"
)

// permittedIn returns the variables that "env" of server.meta.json lists. If all are permitted, the list has no effect.
func permittedIn(env json.RawMessage) []string {
	if rawjson.TextOf(env, envMode) == "inherit" {
		return nil
	}
	return strings.FieldsFunc(rawjson.TextOf(env, envList), func(r rune) bool { return r == ',' || r == ' ' })
}

// permit changes the variables of the server's environment that reach tools. Without any, the settings go.
func permit(w *writer, p *project.Project, more, less []string) error {
	return editJSON(w, p, filepath.Base(project.Marker), func(doc *jsonedit.Document) {
		env := doc.Member("env")
		have := permittedIn(env)
		list := slices.Concat(have, more)
		slices.Sort(list)
		list = slices.DeleteFunc(slices.Compact(list), func(name string) bool { return slices.Contains(less, name) })
		mode := "allowlist"
		switch had := rawjson.TextOf(env, envMode); {
		case had == "inherit" || len(list) == len(have):
			return
		case len(list) < len(have): // a removal permits nothing new
			mode = cmp.Or(had, "minimal")
		}
		var b rawjson.Builder
		b.Object()
		if len(list) > 0 {
			b.Name(envMode).String(mode).Name(envList).String(strings.Join(list, ","))
		}
		doc.Set("env", b.Members(env, envMode, envList).End().Bytes())
	})
}

// editJSON edits a JSON file in server.d. A new file begins with an empty object.
func editJSON(w *writer, p *project.Project, name string, edit func(*jsonedit.Document)) error {
	at := filepath.Join(p.Server, name)
	return w.edit(at, modeFile, maxRequirements, func(old userfile.File) ([]byte, error) {
		text := old.Text
		if !old.There {
			text = []byte("{}\n")
		}
		if doc, err := rawjson.Check(text); err != nil || rawjson.KindOf(doc) != rawjson.Object {
			return nil, cli.Failf(cli.CodeInvalid, "%s is not a JSON object; fix it first", at)
		}
		doc := jsonedit.New(bytes.Clone(text))
		edit(doc)
		if bytes.Equal(doc.Text, text) {
			return old.Text, nil
		}
		return append(bytes.TrimRight(doc.Text, "\n"), '\n'), nil
	})
}
