package wrap

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/scaffold/recipe"
)

// defaultTimeout is the time limit of a call in seconds, if the recipe does not set it.
const defaultTimeout = 30

// maxTimeout is the time limit of a call that reports progress, in seconds.
const maxTimeout = 3600

// metadata returns the content of tool.meta.json (WRAP-34).
func (t *Tool) metadata(schemas string) []byte {
	r := t.Recipe
	var b rawjson.Builder
	b.Object()
	if schemas != "" {
		b.Name("$schema").String(schemas + "/tool.schema.json")
	}
	b.Name("name").String(t.Name).Name("title").String(r.Title).Name("description").String(t.description())
	b.Name("inputSchema").Object().Name("type").String("object")
	t.properties(&b)
	t.exclusive(&b)
	t.inOrder(&b)
	b.Name("additionalProperties").Bool(false).End()
	t.annotations(&b)
	capabilities := t.capabilities()
	if capabilities != nil {
		b.Name("capabilities").Strings(capabilities)
	}
	// A tool with declared capabilities cannot start other programs (CF-15).
	if capabilities != nil && !slices.Contains(capabilities, string(access.Process)) {
		b.Name("confine").Object().Name("exec").Strings(append([]string{t.argv[0]}, r.Starts...)).End()
	}
	b.Name("output").Object().Name("type").String(r.Output.Type)
	if r.Output.MIMEType != "" {
		b.Name("mimeType").String(r.Output.MIMEType)
	}
	if len(r.Output.ExitCodes) > 0 {
		b.Name("exitCodes").Object()
		for _, code := range slices.Sorted(maps.Keys(r.Output.ExitCodes)) {
			b.Name(code).String(r.Output.ExitCodes[code])
		}
		b.End()
	}
	b.End()
	b.Name("timeoutSecs").Int(cmp.Or(r.TimeoutSecs, defaultTimeout))
	if r.Progress != "" { // each report begins the time anew
		b.Name("progressExtendsTimeout").Bool(true).Name("maxTimeoutSecs").Int(maxTimeout)
	}
	b.Name("validateInput").Bool(true).End()
	return rawjson.AppendIndent(nil, b.Bytes(), 0)
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

// properties writes the arguments, and which ones are required.
func (t *Tool) properties(b *rawjson.Builder) {
	var required []string
	b.Name("properties").Object()
	for i := range t.arguments {
		a := &t.arguments[i]
		if a.Name == "" {
			continue
		}
		b.Name(a.Name)
		property(b, a)
		if t.isRequired(a.Name) || a.Required {
			required = append(required, a.Name)
		}
	}
	if s := t.stdin; s != nil {
		b.Name(s.Name).Object().Name("type").String("string").Name("description").String(s.Description).End()
		if t.isRequired(s.Name) {
			required = append(required, s.Name)
		}
	}
	b.End()
	if len(required) > 0 {
		b.Name("required").Strings(required)
	}
}

// isRequired reports whether an argument is the only one left of a group that a call needs.
func (t *Tool) isRequired(name string) bool {
	return slices.ContainsFunc(t.requires, func(group []string) bool { return len(group) == 1 && group[0] == name })
}

// annotations writes the hints about the tool's effects (WRAP-35).
func (t *Tool) annotations(b *rawjson.Builder) {
	effects := t.Recipe.Effects
	if t.Destructive() {
		no, yes := false, true
		effects.ReadOnly, effects.Destructive, effects.Idempotent = &no, &yes, nil
	}
	hints := []struct {
		name  string
		value *bool
	}{
		{"readOnlyHint", effects.ReadOnly}, {"destructiveHint", effects.Destructive},
		{"idempotentHint", effects.Idempotent}, {"openWorldHint", effects.OpenWorld},
	}
	open := false
	for _, hint := range hints {
		if hint.value == nil {
			continue
		}
		if !open {
			b.Name("annotations").Object()
			open = true
		}
		b.Name(hint.name).Bool(*hint.value)
	}
	if open {
		b.End()
	}
}

// property writes the schema of one argument.
func property(b *rawjson.Builder, a *recipe.Argument) {
	b.Object()
	switch {
	case a.Type == recipe.Switch && a.Repeat:
		b.Name("type").String("integer").Name("minimum").Int(0).Name("maximum").Int(recipe.MaxTimes)
	case a.IsList():
		b.Name("type").String("array").Name("items").Object()
		typed(b, a)
		b.End()
		if a.Required || a.Default != nil {
			b.Name("minItems").Int(1)
		}
		b.Name("maxItems").Int(recipe.MaxList)
	default:
		typed(b, a)
	}
	switch {
	case a.Default == nil:
	case a.IsList():
		b.Name("default").Array().Raw(encoded(a.Default)).End()
	default:
		b.Name("default").Raw(encoded(a.Default))
	}
	if text := describe(a); text != "" {
		b.Name("description").String(text)
	}
	b.End()
}

// typed writes the type of one value.
func typed(b *rawjson.Builder, a *recipe.Argument) {
	switch a.Type {
	case recipe.Switch:
		b.Name("type").String("boolean")
	case recipe.Integer, recipe.Number:
		b.Name("type").String(string(a.Type))
	default:
		b.Name("type").String("string")
	}
	if a.Type == recipe.Choice {
		b.Name("enum").Strings(a.Choices)
	}
	if a.Type == recipe.Path || a.Type == recipe.URL {
		b.Name("minLength").Int(1)
	}
	if a.Pattern != "" {
		b.Name("pattern").String(a.WholePattern())
	}
	if a.Minimum != nil {
		b.Name("minimum").Raw(encoded(*a.Minimum))
	}
	if a.Maximum != nil {
		b.Name("maximum").Raw(encoded(*a.Maximum))
	}
}

// encoded returns a string, number or boolean as JSON.
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

// exclusive adds to the schema which arguments exclude each other. It does not use allOf,
// anyOf or oneOf, because some clients reject them at the top level of a schema. It does not
// use the schema false, because some clients accept only objects as schemas.
func (t *Tool) exclusive(b *rawjson.Builder) {
	excluded := map[string][]string{}
	for _, group := range t.excludes {
		for _, name := range group {
			for _, other := range group {
				if other != name && !slices.Contains(excluded[name], other) {
					excluded[name] = append(excluded[name], other)
				}
			}
		}
	}
	if len(excluded) == 0 {
		return
	}
	b.Name("dependentSchemas").Object()
	for _, name := range slices.Sorted(maps.Keys(excluded)) {
		b.Name(name).Object().Name("properties").Object()
		for _, other := range excluded[name] {
			b.Name(other).Object().Name("not").Object().End().End()
		}
		b.End().End()
	}
	b.End()
}

// inOrder adds to the schema that an optional operand requires the optional operand before
// it. Without that one, it would take its position.
func (t *Tool) inOrder(b *rawjson.Builder) {
	before, open := "", false // the optional operand before
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
			if !open {
				b.Name("dependentRequired").Object()
				open = true
			}
			b.Name(a.Name).Array().String(before).End()
		}
		if before = a.Name; a.Required || a.Repeat || a.Default != nil || t.isAlternative(a.Name) {
			before = ""
		}
	}
	if open {
		b.End()
	}
}

// isAlternative reports whether an operand is one of a group of which a call has exactly one.
func (t *Tool) isAlternative(name string) bool {
	has := func(group []string) bool { return slices.Contains(group, name) }
	return slices.ContainsFunc(t.requires, has) && slices.ContainsFunc(t.excludes, has)
}
