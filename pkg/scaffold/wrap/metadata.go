package wrap

import (
	"cmp"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/scaffold/recipe"
)

// The time limits of a call in seconds: if the recipe does not set it, and if the call reports progress.
const (
	defaultTimeout = 30
	maxTimeout     = 3600
)

// metadata is tool.meta.json (WRAP-34).
type metadata struct {
	Schema       string              `json:"$schema,omitempty"`
	Name         string              `json:"name"`
	Title        string              `json:"title"`
	Description  string              `json:"description"`
	InputSchema  recipe.InputSchema  `json:"inputSchema"`
	Annotations  annotations         `json:"annotations,omitzero"`
	Capabilities []string            `json:"capabilities,omitzero"`
	Confine      map[string][]string `json:"confine,omitempty"`
	Output       recipe.Output       `json:"output"`
	TimeoutSecs  int                 `json:"timeoutSecs"`
	// Each report of progress begins the time anew.
	Extends       bool   `json:"progressExtendsTimeout,omitempty"`
	MaxTimeout    int    `json:"maxTimeoutSecs,omitempty"`
	ValidateInput bool   `json:"validateInput"`
	Trial         *Trial `json:"trial,omitempty"`
}

type annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// metadata returns the content of tool.meta.json.
func (t *Tool) metadata(schemas string) []byte {
	r := t.offer
	m := metadata{
		Name: t.Name, Title: r.Title, Description: t.description(), InputSchema: r.InputSchema(), Output: r.Output,
		Annotations: annotations(r.Effects), Capabilities: t.capabilities(), Confine: map[string][]string{},
		TimeoutSecs: cmp.Or(r.TimeoutSecs, defaultTimeout), ValidateInput: true, Trial: t.Trial,
	}
	if schemas != "" {
		m.Schema = schemas + "/tool.schema.json"
	}
	if t.Destructive() { // (WRAP-35)
		no, yes := false, true
		m.Annotations.ReadOnly, m.Annotations.Destructive, m.Annotations.Idempotent = &no, &yes, nil
	}
	// A tool with declared capabilities cannot start other programs (CF-15).
	if m.Capabilities != nil && !slices.Contains(m.Capabilities, string(access.Process)) {
		m.Confine["exec"] = slices.Concat([]string{access.Spell(t.Program, true)}, t.Starts, r.Starts)
	}
	for name, list := range map[string][]string{"read": t.Reads, "write": t.Writes} {
		if len(list) > 0 {
			m.Confine[name] = list
		}
	}
	if r.Progress != "" {
		m.Extends, m.MaxTimeout = true, maxTimeout
	}
	return rawjson.AppendIndent(nil, recipe.Encode(m), 0)
}

// capabilities returns those of the recipe. A tool that offers a destructive argument can write where it
// can only read otherwise (WRAP-36).
func (t *Tool) capabilities() []string {
	list := slices.Clone(t.offer.Capabilities)
	destructive := func(a recipe.Argument) bool { return a.Destructive }
	if at := slices.Index(list, string(access.Search)); at >= 0 && slices.ContainsFunc(t.offer.Arguments, destructive) {
		list[at] = string(access.Edit)
	}
	return list
}

// description returns the text by which a model chooses the tool.
func (t *Tool) description() string {
	text := t.Recipe.Summary
	for _, group := range t.offer.Requires {
		if len(group) > 1 {
			text += " Needs " + strings.Join(group, " or ") + "."
		}
	}
	return text + "\n\nRuns " + t.commandLine() + "."
}

// commandLine returns the program with its command.
func (t *Tool) commandLine() string {
	return strings.Join(append([]string{t.Words[0]}, t.Recipe.Command...), " ")
}
