package wrap

import (
	"cmp"
	"encoding/json"
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
	Schema       string        `json:"$schema,omitempty"`
	Name         string        `json:"name"`
	Title        string        `json:"title"`
	Description  string        `json:"description"`
	InputSchema  inputSchema   `json:"inputSchema"`
	Annotations  *annotations  `json:"annotations,omitempty"`
	Capabilities []string      `json:"capabilities,omitzero"`
	Confine      lists         `json:"confine,omitempty"`
	Output       recipe.Output `json:"output"`
	TimeoutSecs  int           `json:"timeoutSecs"`
	// Each report of progress begins the time anew.
	Extends       bool   `json:"progressExtendsTimeout,omitempty"`
	MaxTimeout    int    `json:"maxTimeoutSecs,omitempty"`
	ValidateInput bool   `json:"validateInput"`
	Trial         *Trial `json:"trial,omitempty"`
}

// inputSchema is the schema of the arguments. It has no allOf, anyOf or oneOf, because some clients
// reject them at the top level. It has no schema false, because some accept only objects as schemas.
type inputSchema struct {
	Type       string             `json:"type"`
	Properties json.RawMessage    `json:"properties"`
	Required   []string           `json:"required,omitempty"`
	Excluded   map[string]refusal `json:"dependentSchemas,omitempty"`
	Dependent  lists              `json:"dependentRequired,omitempty"`
	Additional bool               `json:"additionalProperties"`
}

// refusal is a schema that refuses some properties: {"properties":{"NAME":{"not":{}}}}.
type refusal map[string]map[string]map[string]struct{}

type annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

type lists map[string][]string

// metadata returns the content of tool.meta.json.
func (t *Tool) metadata(schemas string) []byte {
	r := t.Recipe
	m := metadata{
		Name: t.Name, Title: r.Title, Description: t.description(), InputSchema: t.schema(), Output: r.Output,
		Annotations: t.annotations(), Capabilities: t.capabilities(),
		TimeoutSecs: cmp.Or(r.TimeoutSecs, defaultTimeout), ValidateInput: true, Trial: t.Trial,
	}
	if schemas != "" {
		m.Schema = schemas + "/tool.schema.json"
	}
	// A tool with declared capabilities cannot start other programs (CF-15).
	if m.Capabilities != nil && !slices.Contains(m.Capabilities, string(access.Process)) {
		m.Confine = lists{"exec": slices.Concat([]string{access.Spell(t.Program, true)}, t.Starts, r.Starts)}
	}
	more := lists{"read": t.Reads, "write": t.Writes}
	for name, list := range more {
		if len(list) > 0 && m.Confine == nil {
			m.Confine = lists{}
		}
		if len(list) > 0 {
			m.Confine[name] = list
		}
	}
	if r.Progress != "" {
		m.Extends, m.MaxTimeout = true, maxTimeout
	}
	return rawjson.AppendIndent(nil, encoded(m), 0)
}

// capabilities returns those of the recipe. A tool that offers a destructive argument can write where it
// can only read otherwise (WRAP-36).
func (t *Tool) capabilities() []string {
	list := slices.Clone(t.Recipe.Capabilities)
	destructive := func(a recipe.Argument) bool { return a.Destructive }
	if at := slices.Index(list, string(access.Search)); at >= 0 && slices.ContainsFunc(t.arguments, destructive) {
		list[at] = string(access.Edit)
	}
	return list
}

// description returns the text by which a model chooses the tool.
func (t *Tool) description() string {
	text := t.Recipe.Summary
	for _, group := range t.requires {
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

// schema describes the arguments, in the recipe's order.
func (t *Tool) schema() inputSchema {
	s := inputSchema{Type: "object", Excluded: t.excluded(), Dependent: t.inOrder()}
	var b rawjson.Builder
	b.Object()
	for _, a := range t.properties() {
		b.Name(a.Name).Raw(encoded(propertyOf(a)))
		if a.Required || t.isRequired(a.Name) {
			s.Required = append(s.Required, a.Name)
		}
	}
	s.Properties = b.End().Bytes()
	return s
}

// isRequired reports whether an argument is the only one left of a group that a call needs.
func (t *Tool) isRequired(name string) bool {
	return slices.ContainsFunc(t.requires, func(group []string) bool { return len(group) == 1 && group[0] == name })
}

// annotations returns the hints about the tool's effects, or nil (WRAP-35).
func (t *Tool) annotations() *annotations {
	a := annotations(t.Recipe.Effects)
	if t.Destructive() {
		no, yes := false, true
		a.ReadOnly, a.Destructive, a.Idempotent = &no, &yes, nil
	}
	if a == (annotations{}) {
		return nil
	}
	return &a
}

// property is the schema of one argument.
type property struct {
	Type        string    `json:"type"`
	Enum        []string  `json:"enum,omitempty"`
	MinLength   int       `json:"minLength,omitempty"`
	Pattern     string    `json:"pattern,omitempty"`
	Minimum     *float64  `json:"minimum,omitempty"`
	Maximum     *float64  `json:"maximum,omitempty"`
	Items       *property `json:"items,omitempty"`
	MinItems    int       `json:"minItems,omitempty"`
	MaxItems    int       `json:"maxItems,omitempty"`
	Default     any       `json:"default,omitempty"`
	Description string    `json:"description,omitempty"`
}

// propertyOf returns the schema of an argument. A switch that can be repeated is a count.
func propertyOf(a *recipe.Argument) property {
	one := property{Type: "string", Enum: a.Choices, Pattern: a.WholePattern(), Minimum: a.Minimum, Maximum: a.Maximum}
	switch a.Type {
	case recipe.Switch:
		one.Type = "boolean"
	case recipe.Integer, recipe.Number:
		one.Type = string(a.Type)
	case recipe.Path, recipe.URL:
		one.MinLength = 1
	}
	p := one
	switch {
	case a.Type == recipe.Switch && a.Repeat:
		low, high := 0.0, float64(recipe.MaxTimes)
		p.Type, p.Minimum, p.Maximum = "integer", &low, &high
	case a.IsList():
		p = property{Type: "array", Items: &one, MaxItems: recipe.MaxList}
		if a.Required || a.Default != nil {
			p.MinItems = 1
		}
	}
	if p.Default = a.Default; p.Default != nil && a.IsList() {
		p.Default = []any{a.Default}
	}
	p.Description = describe(a)
	return p
}

// encoded returns a value as JSON. It ends in no newline.
func encoded(v any) json.RawMessage {
	text, _ := json.Marshal(v)
	return text
}

// describe returns the description of an argument for models: its text, then its option.
func describe(a *recipe.Argument) string {
	if a.Option == "" || strings.Contains(a.Description, a.Option) {
		return a.Description
	}
	return strings.TrimSpace(a.Description + " (" + a.Option + ")")
}

// excluded returns for each argument a schema without the arguments that it excludes.
func (t *Tool) excluded() map[string]refusal {
	schemas := map[string]refusal{}
	for _, group := range t.excludes {
		for _, name := range group {
			if schemas[name] == nil {
				schemas[name] = refusal{"properties": {}}
			}
			for _, other := range group {
				if other != name {
					schemas[name]["properties"][other] = map[string]struct{}{"not": {}}
				}
			}
		}
	}
	return schemas
}

// inOrder returns the optional operands that require the optional operand before them. Without that
// one, they would take its position.
func (t *Tool) inOrder() lists {
	needs := lists{}
	before := "" // the optional operand before
	for i := range t.arguments {
		a := &t.arguments[i]
		switch {
		case len(a.Words) > 0:
			before = ""
			continue
		case !a.IsOperand():
			continue
		}
		if before != "" && !a.Required {
			needs[a.Name] = []string{before}
		}
		// A call has exactly one of several alternatives.
		has := func(group []string) bool { return slices.Contains(group, a.Name) }
		alternative := slices.ContainsFunc(t.requires, has) && slices.ContainsFunc(t.excludes, has)
		if before = a.Name; a.Required || a.Repeat || a.Default != nil || alternative {
			before = ""
		}
	}
	return needs
}
