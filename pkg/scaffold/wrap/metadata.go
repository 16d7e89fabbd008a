package wrap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/scaffold/usage"
)

const (
	timeout = 30  // seconds
	maxList = 100 // elements of a list of values
)

// metadata returns the content of tool.meta.json (WRAP-34).
func (p *Plan) metadata(schemas string) []byte {
	var b rawjson.Builder
	b.Object()
	if schemas != "" {
		b.Name("$schema").String(schemas + "/tool.schema.json")
	}
	description := fmt.Sprintf("%s\n\nRuns %s.", cmp.Or(p.Program.Summary, "Runs "+strings.Join(p.Words, " ")+"."),
		strings.Join(append(slices.Clone(p.Words), p.Fixed...), " "))
	b.Name("name").String(p.Name).Name("title").String(strings.Join(p.Words, " ")).Name("description").String(description)
	b.Name("inputSchema").Object().Name("type").String("object").Name("properties").Object()
	var required []string
	for _, a := range p.Arguments {
		b.Name(a.Property)
		a.schema(&b)
		if a.Required {
			required = append(required, a.Property)
		}
	}
	b.End()
	if len(required) > 0 {
		b.Name("required").Strings(required)
	}
	p.exclusive(&b)
	p.inOrder(&b)
	b.Name("additionalProperties").Bool(false).End()
	if p.ReadOnly || p.Destructive || slices.Contains(p.Capabilities, "Network") {
		b.Name("annotations").Object()
		if p.ReadOnly {
			b.Name("readOnlyHint").Bool(true)
		}
		if p.Destructive {
			b.Name("destructiveHint").Bool(true)
		}
		if slices.Contains(p.Capabilities, "Network") {
			b.Name("openWorldHint").Bool(true)
		}
		b.End()
	}
	if p.Capabilities != nil {
		b.Name("capabilities").Array()
		for _, c := range p.Capabilities {
			b.String(string(c))
		}
		b.End()
		// A tool with declared capabilities cannot start other programs (CF-15).
		if !slices.Contains(p.Capabilities, access.Process) {
			b.Name("confine").Object().Name("exec").Array().String(p.argv[0]).End().End()
		}
	}
	b.Name("timeoutSecs").Int(timeout).Name("validateInput").Bool(true).End()
	return rawjson.AppendIndent(nil, b.Bytes(), 0)
}

// schema writes the schema of one argument.
func (a *Argument) schema(b *rawjson.Builder) {
	b.Object()
	switch {
	case a.option != nil && a.option.Value == nil && a.option.Repeat:
		b.Name("type").String("integer").Name("minimum").Int(0).Name("maximum").Int(9)
	case a.option != nil && a.option.Value == nil:
		b.Name("type").String("boolean")
	case a.List:
		b.Name("type").String("array").Name("items").Object()
		a.typed(b)
		b.End()
		if a.Required {
			b.Name("minItems").Int(1)
		}
		b.Name("maxItems").Int(maxList)
	default:
		a.typed(b)
	}
	b.Name("description").String(a.describe()).End()
}

// typed writes the type of one value.
func (a *Argument) typed(b *rawjson.Builder) {
	optional := a.option != nil && a.option.Value.Optional
	types := []string{"string"}
	switch {
	case a.Kind == usage.Integer && a.Sure >= usage.Likely && a.operand == nil:
		types = []string{"integer"}
	case a.Kind == usage.Integer:
		types = []string{"integer", "string"}
	case a.Kind == usage.Number:
		types = []string{"number"}
	case a.Kind == usage.Duration || a.Kind == usage.Size:
		types = []string{"string", "number"}
	}
	if a.Kind == usage.Integer && optional {
		types = []string{"integer", "string"}
	}
	if optional {
		types = append(types, "boolean")
	}
	b.Name("type")
	if len(types) == 1 {
		b.String(types[0])
	} else {
		b.Strings(types)
	}
	if a.Kind == usage.Choice && a.Sure >= usage.Likely {
		b.Name("enum").Array()
		for _, c := range a.choices {
			b.String(c)
		}
		if optional {
			b.Bool(true)
		}
		b.End()
	}
	if a.Kind == usage.Path {
		b.Name("minLength").Int(1)
	}
}

// exclusive adds to the schema which arguments exclude each other. It does not use allOf,
// anyOf or oneOf, because some clients reject them at the top level of a schema.
func (p *Plan) exclusive(b *rawjson.Builder) {
	open := false
	for _, a := range p.Arguments {
		if len(a.excludes) == 0 {
			continue
		}
		if !open {
			b.Name("dependentSchemas").Object()
			open = true
		}
		b.Name(a.Property).Object().Name("properties").Object()
		for _, other := range a.excludes {
			b.Name(other).Bool(false)
		}
		b.End().End()
	}
	if open {
		b.End()
	}
}

// inOrder adds to the schema that an optional operand requires the optional operands before
// it. Without these, it would take their position.
func (p *Plan) inOrder(b *rawjson.Builder) {
	before, open := "", false // the optional operand before
	for _, a := range p.Arguments {
		if a.operand == nil {
			continue
		}
		if before != "" && !a.Required {
			if !open {
				b.Name("dependentRequired").Object()
				open = true
			}
			b.Name(a.Property).Array().String(before).End()
		}
		if before = a.Property; a.Required || a.List {
			before = ""
		}
	}
	if open {
		b.End()
	}
}
