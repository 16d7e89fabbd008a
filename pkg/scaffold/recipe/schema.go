package recipe

import (
	"encoding/json"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// Limits on the values of an argument.
const (
	maxTimes = 9   // of a switch that can be repeated
	maxList  = 100 // elements of a list
)

// An InputSchema is the JSON Schema of the arguments of a tool (WRAP-34). It has no allOf, anyOf or oneOf, because some
// clients reject them at the top level. It has no schema false, because some accept only objects as schemas.
type InputSchema struct {
	Type       string             `json:"type"`
	Properties json.RawMessage    `json:"properties"`
	Required   []string           `json:"required,omitempty"`
	Excluded   map[string]refusal `json:"dependentSchemas,omitempty"`
	// Dependent has the optional operands that require the optional operand before them.
	Dependent  map[string][]string `json:"dependentRequired,omitempty"`
	Additional bool                `json:"additionalProperties"`
}

// A refusal is a schema that refuses some properties.
type refusal struct {
	Properties map[string]never `json:"properties"`
}

// never is the schema {"not":{}}.
type never struct {
	Not struct{} `json:"not"`
}

// A property is the schema of one argument.
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

// InputSchema describes the properties, in the recipe's order.
func (r *Recipe) InputSchema() InputSchema {
	s := InputSchema{Type: "object", Excluded: map[string]refusal{}, Dependent: r.inOrder()}
	var b rawjson.Builder
	b.Object()
	for _, a := range r.Properties() {
		b.Name(a.Name).Raw(Encode(a.property()))
		if r.Needs(a) {
			s.Required = append(s.Required, a.Name)
		}
	}
	s.Properties = b.End().Bytes()
	for _, group := range r.Excludes {
		for _, name := range group {
			if s.Excluded[name].Properties == nil {
				s.Excluded[name] = refusal{map[string]never{}}
			}
			for _, other := range group {
				if other != name {
					s.Excluded[name].Properties[other] = never{}
				}
			}
		}
	}
	return s
}

// property returns the schema of an argument. A switch that can be repeated is a count.
func (a *Argument) property() property {
	p := a.single()
	switch {
	case a.Type == Switch && a.Repeat:
		low, high := 0.0, float64(maxTimes)
		p.Type, p.Minimum, p.Maximum = "integer", &low, &high
	case a.IsList():
		one := p
		p = property{Type: "array", Items: &one, MaxItems: maxList}
		if a.Required || a.Default != nil {
			p.MinItems = 1
		}
	}
	if p.Default = a.Default; a.Default != nil && a.IsList() {
		p.Default = []any{a.Default}
	}
	p.Description = a.Description
	if a.Option != "" && !strings.Contains(a.Description, a.Option) {
		p.Description = strings.TrimSpace(a.Description + " (" + a.Option + ")")
	}
	return p
}

// single returns the schema of one value.
func (a *Argument) single() property {
	p := property{Type: "string", Enum: a.Choices, Minimum: a.Minimum, Maximum: a.Maximum}
	switch a.Type {
	case Switch:
		p.Type = "boolean"
	case Integer, Number:
		p.Type = string(a.Type)
	case Path, URL:
		p.MinLength = 1
	}
	if a.Pattern != "" {
		p.Pattern = "^(?:" + a.Pattern + ")$"
	}
	return p
}

// inOrder returns the optional operands that require the optional operand before them. Without that
// one, they would take its position.
func (r *Recipe) inOrder() map[string][]string {
	needs := map[string][]string{}
	before := "" // the optional operand before
	for i := range r.Arguments {
		a := &r.Arguments[i]
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
		alternative := slices.ContainsFunc(r.Requires, has) && slices.ContainsFunc(r.Excludes, has)
		if before = a.Name; a.Required || a.Repeat || a.Default != nil || alternative {
			before = ""
		}
	}
	return needs
}

// Encode returns a value as JSON.
func Encode(v any) json.RawMessage {
	text, _ := json.Marshal(v) // no value of this package fails
	return text
}
