package recipe

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/schemas"
)

// maxText limits the size of a recipe in bytes.
const maxText = 256 << 10

// A Fault is one error in a recipe.
type Fault struct {
	Line, Column int    // from 1, or 0 if the fault has no place
	Path         string // JSON Pointer, such as "/arguments/3/choices"
	Reason       string
}

// Error returns the place and the reason.
func (f Fault) Error() string {
	text := f.Reason
	if f.Path != "" {
		text = f.Path + ": " + text
	}
	if f.Line > 0 {
		text = fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, text)
	}
	return text
}

// Faults are the errors in a recipe.
type Faults []Fault

// Error returns the first fault and the number of the others.
func (f Faults) Error() string {
	if len(f) == 1 {
		return f[0].Error()
	}
	return fmt.Sprintf("%s (and %d more faults)", f[0].Error(), len(f)-1)
}

// Parse reads a recipe. It refuses unknown and repeated members, control characters in texts, and values that
// contradict each other. The error is of type [Faults].
func Parse(text []byte) (*Recipe, error) {
	if len(text) > maxText {
		return nil, Faults{{Reason: fmt.Sprintf("a recipe has at most %d KiB", maxText>>10)}}
	}
	doc, err := rawjson.Check(text)
	var syntax *rawjson.SyntaxError
	switch {
	case errors.As(err, &syntax):
		line, column := syntax.Position(text)
		return nil, Faults{{Line: line, Column: column, Reason: err.Error()}}
	case err != nil:
		return nil, Faults{{Reason: err.Error()}}
	}
	faults := inspect(doc, "", nil)
	for _, v := range schemas.Compile(schemas.Recipe).Check(doc) {
		faults = append(faults, Fault{Path: v.Path, Reason: v.Message})
	}
	r := new(Recipe)
	if len(faults) == 0 {
		if err := json.Unmarshal(doc, r); err != nil {
			return nil, Faults{{Reason: err.Error()}}
		}
		if faults = r.check(); len(faults) == 0 {
			return r, nil
		}
	}
	for i := range faults {
		faults[i].Line, faults[i].Column, _ = rawjson.Position(text, rawjson.At(doc, faults[i].Path))
	}
	return nil, faults
}

// inspect appends a fault for each member that an object has twice, and each text that could hide some of itself from
// a reader.
func inspect(v json.RawMessage, path string, faults Faults) Faults {
	switch rawjson.KindOf(v) {
	case rawjson.Object:
		seen := map[string]bool{}
		for name, value := range rawjson.All(v) {
			below := path + "/" + rawjson.ToPointer.Replace(name)
			if seen[name] {
				faults = append(faults, Fault{Path: below, Reason: "is given twice"})
			}
			seen[name] = true
			faults = inspect(value, below, inspect(rawjson.Quote(name), below, faults))
		}
	case rawjson.Array:
		i := 0
		for value := range rawjson.Elements(v) {
			faults = inspect(value, path+"/"+strconv.Itoa(i), faults)
			i++
		}
	case rawjson.String:
		if text, _ := rawjson.Text(v); strings.ContainsFunc(text, hides) {
			faults = append(faults, Fault{Path: path, Reason: "contains a control character"})
		}
	}
	return faults
}

func hides(r rune) bool {
	return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r)
}

// A checker collects the faults of a recipe.
type checker struct {
	*Recipe
	faults Faults
}

func (c *checker) add(path, format string, args ...any) {
	c.faults = append(c.faults, Fault{Path: path, Reason: fmt.Sprintf(format, args...)})
}

// check returns the faults of a recipe that the JSON Schema does not find. Examples are checked if the rest is right.
func (r *Recipe) check() Faults {
	c := &checker{Recipe: r}
	if n := len(strings.Fields(r.Title)); n > 5 {
		c.add("/title", "has %d words; at most 5", n)
	}
	c.arguments()
	c.groups("/requires", r.Requires)
	c.groups("/excludes", r.Excludes)
	if v := r.Version; v != nil && v.From != "" && v.Below != "" && compare(v.From, v.Below) >= 0 {
		c.add("/version", "no version is from %s and below %s", v.From, v.Below)
	}
	if r.Stderr && (r.Progress != "" || r.Output.Type != "text") {
		c.add("/stderr", "is only for output of type text without progress")
	}
	if r.Output.MIMEType != "" && r.Output.Type != "binary" {
		c.add("/output/mimeType", "is only for output of type binary")
	}
	if len(c.faults) == 0 {
		c.examples()
	}
	return c.faults
}

// arguments checks the arguments. A dangerous option must have "only", so that it is offered only by name.
func (c *checker) arguments() {
	names := map[string]bool{}
	if c.Stdin != nil {
		names[c.Stdin.Name] = true
	}
	first, _ := c.CommandAt()
	ended := false // by "--", or by an operand that is always there
	optional := "" // an operand
	for i := range c.Arguments {
		a := &c.Arguments[i]
		path := fmt.Sprintf("/arguments/%d", i)
		if len(a.Words) > 0 {
			ended = ended || slices.Contains(a.Words, "--")
			if a.Name != "" || a.Option != "" || a.Type != "" || a.Description != "" {
				c.add(path, "words are always passed, so the argument has no other member")
			}
			continue
		}
		if a.Name == "" || a.Type == "" {
			c.add(path, "needs a name and a type, or words")
			continue
		}
		if names[a.Name] {
			c.add(path+"/name", "two arguments have the name %s", a.Name)
		}
		names[a.Name] = true
		c.argument(a, path)
		if c.Danger(a) != "" && !a.Only && i >= first {
			c.add(path, "%s is one of the dangers, so it needs \"only\": true", a.Option)
		}
		if !a.IsOperand() {
			continue
		}
		if a.Dashes && !ended {
			c.add(path+"/dashes", `needs words ["--"] or a required operand before it; else the value could be an option`)
		} else if optional != "" && a.Required {
			c.add(path, "a required operand cannot follow %s, which may be absent", optional)
		}
		ended = ended || a.Required
		if optional = a.Name; a.Required || a.Default != nil || a.Repeat {
			optional = ""
		}
	}
}

// argument checks the members of an option or operand against each other.
func (c *checker) argument(a *Argument, path string) {
	isSwitch := a.Type == Switch
	isNumber := a.Type == Integer || a.Type == Number
	for _, rule := range []struct {
		broken bool
		member string
		reason string
	}{
		{isSwitch && a.Option == "", "/type", "a switch needs an option"},
		// A single character is an option if the value follows in the same word: -Artist=Ann of exiftool, @9.9.9.9 of dig.
		{a.Option != "" && !strings.ContainsRune("-+@", rune(a.Option[0])), "/option",
			"must begin with a dash, a plus sign or @"},
		{len(a.Option) == 1 && (a.Form != Attached || a.Pattern == ""), "/option",
			"needs a longer name, or form attached with a pattern"},
		{a.Negation != "" && !isSwitch, "/negation", "is only for a switch"},
		{a.Form != "" && (isSwitch || a.Option == ""), "/form", "is only for an option with a value"},
		{(a.Type == Choice) != (len(a.Choices) > 0), "/choices", "a choice has choices, and no other type has"},
		{a.Pattern != "" && a.Type != String && a.Type != URL, "/pattern", "is only for a string or a URL"},
		{(a.Minimum != nil || a.Maximum != nil) && !isNumber, "", "only numbers have a minimum or a maximum"},
		{a.Minimum != nil && a.Maximum != nil && *a.Minimum > *a.Maximum, "/minimum", "is larger than the maximum"},
		{a.Access != "" && a.Type != Path, "/access", "is only for a path"},
		{a.Unless != "" && a.Type != Path, "/unless", "is only for a path"},
		{a.Default != nil && a.Required, "/default", "a required argument needs none"},
		{a.Default != nil && a.Repeat && isSwitch, "/default", "a count cannot have it"},
		{a.Only && a.Required, "/only", "a required argument cannot be left out"},
	} {
		if rule.broken {
			c.add(path+rule.member, "%s", rule.reason)
		}
	}
	if _, err := regexp.CompilePOSIX(a.Unless); err != nil {
		c.add(path+"/unless", "is not a POSIX regular expression: %v", err)
	}
	if _, err := regexp.Compile(a.Pattern); err != nil {
		c.add(path+"/pattern", "is not a regular expression: %v", err)
	} else if a.Default != nil {
		c.value(path+"/default", a.single(), a.Default)
	}
}

// value checks a value against a schema.
func (c *checker) value(path string, by, v any) {
	s, err := schema.Compile(Encode(by))
	if err != nil {
		c.add(path, "%v", err)
		return
	}
	for _, violation := range s.Check(Encode(v)) {
		c.add(path+violation.Path, "%s", violation.Message)
	}
}

func (c *checker) groups(path string, groups [][]string) {
	for i, group := range groups {
		for _, name := range group {
			if !slices.ContainsFunc(c.Properties(), func(a *Argument) bool { return a.Name == name }) {
				c.add(fmt.Sprintf("%s/%d", path, i), "there is no argument %s", name)
			}
		}
	}
}

// examples checks the arguments of the examples as the tool does.
func (c *checker) examples() {
	offered := c.Keep(func(a *Argument) bool { return !a.Only }).InputSchema()
	for i, e := range c.Examples {
		path := fmt.Sprintf("/examples/%d/arguments", i)
		c.value(path, offered, e.Arguments)
		for _, group := range c.Requires {
			if !slices.ContainsFunc(group, func(name string) bool { return e.Arguments[name] != nil }) {
				c.add(path, "needs one of %s", strings.Join(group, ", "))
			}
		}
	}
}

// Limits on the values of an argument.
const (
	maxTimes = 9   // of a switch that can be repeated
	maxList  = 100 // elements of a list
)

// An InputSchema is the JSON Schema of the arguments of a tool. It has no allOf, anyOf or oneOf, because some clients
// reject them at the top level. It has no schema false, because some accept only objects as schemas.
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

// inOrder returns the optional operands that require the optional operand before them. Without the operand before,
// they would take its position.
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
