package recipe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
)

// A checker collects the faults of a recipe.
type checker struct {
	r      *Recipe
	faults Faults
	// arguments are the properties of the tool by name.
	arguments map[string]*Argument
}

func (c *checker) add(path, format string, args ...any) {
	c.faults = append(c.faults, Fault{Path: path, Reason: fmt.Sprintf(format, args...)})
}

// Check returns what is wrong with a recipe beyond the rules of the JSON Schema.
func (r *Recipe) Check() Faults {
	c := &checker{r: r, arguments: map[string]*Argument{}}
	c.texts()
	ended := false // by "--", or by an operand that is always there
	optional := "" // an operand
	for i := range r.Arguments {
		a := &r.Arguments[i]
		path := fmt.Sprintf("/arguments/%d", i)
		if len(a.Words) > 0 {
			ended = ended || slices.Contains(a.Words, "--")
			c.words(a, path)
			continue
		}
		c.argument(a, path)
		if a.IsOperand() {
			optional = c.operand(a, path, ended, optional)
			ended = ended || a.Required
		}
	}
	if r.Stdin != nil {
		c.name(r.Stdin.Name, "/stdin", &Argument{Name: r.Stdin.Name, Type: String})
	}
	c.groups("/requires", r.Requires)
	c.groups("/excludes", r.Excludes)
	c.dangers()
	for i, e := range r.Examples {
		c.example(e, fmt.Sprintf("/examples/%d", i))
	}
	if v := r.Version; v != nil && v.From != "" && v.Below != "" && compare(v.From, v.Below) >= 0 {
		c.add("/version", "no version is from %s and below %s", v.From, v.Below)
	}
	if r.Stderr && (r.Progress != "" || r.Output.Type != "text") {
		c.add("/stderr", "is only for output of type text without progress")
	}
	if r.Output.MIMEType != "" && r.Output.Type != "binary" {
		c.add("/output/mimeType", "is only for output of type binary")
	}
	return c.faults
}

// texts checks the texts of the recipe.
func (c *checker) texts() {
	if n := len(strings.Fields(c.r.Title)); n > 5 {
		c.add("/title", "has %d words; at most 5", n)
	}
	c.text("/title", c.r.Title)
	c.text("/summary", c.r.Summary)
	if s := c.r.Stdin; s != nil {
		c.text("/stdin/description", s.Description)
		c.text("/stdin/word", s.Word)
	}
	for name, value := range c.r.Environment {
		c.text("/environment/"+name, value)
	}
}

// text refuses control characters, which could hide text from a reader.
func (c *checker) text(path, s string) {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, hides) {
		c.add(path, "contains a control character")
	}
}

func hides(r rune) bool {
	return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r)
}

func (c *checker) words(a *Argument, path string) {
	if a.Name != "" || a.Option != "" || a.Type != "" || a.Description != "" {
		c.add(path, "words are always passed, so the argument has no other member")
	}
	for _, word := range a.Words {
		c.text(path+"/words", word)
	}
}

// name records an argument.
func (c *checker) name(name, path string, a *Argument) {
	if c.arguments[name] != nil {
		c.add(path+"/name", "two arguments have the name %s", name)
	}
	c.arguments[name] = a
}

// argument checks an option or operand.
func (c *checker) argument(a *Argument, path string) {
	switch {
	case a.Name == "":
		c.add(path, "needs a name, or words")
		return
	case a.Type == "":
		c.add(path, "needs a type")
		return
	}
	c.name(a.Name, path, a)
	c.text(path+"/description", a.Description)
	isSwitch := a.Type == Switch
	isNumber := a.Type == Integer || a.Type == Number
	for _, rule := range []struct {
		broken bool
		member string
		reason string
	}{
		{isSwitch && a.Option == "", "/type", "a switch needs an option"},
		{a.Option != "" && !isOption(a.Option), "/option", "must begin with a dash, a plus sign or @"},
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
		{a.Default != nil && !a.accepts(a.Default), "/default", "is not a value of the argument"},
		{slices.ContainsFunc(a.Choices, func(s string) bool { return strings.ContainsFunc(s, hides) }), "/choices",
			"contains a control character"},
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
	}
}

// operand checks an operand. It returns the optional operand that later ones follow.
func (c *checker) operand(a *Argument, path string, ended bool, optional string) string {
	switch {
	case a.Dashes && !ended:
		c.add(path+"/dashes", `needs words ["--"] or a required operand before it; else the value could be an option`)
	case optional != "" && a.Required:
		c.add(path, "a required operand cannot follow %s, which may be absent", optional)
	}
	if a.Required || a.Default != nil || a.Repeat {
		return ""
	}
	return a.Name
}

func (c *checker) groups(path string, groups [][]string) {
	for i, group := range groups {
		for _, name := range group {
			if c.arguments[name] == nil {
				c.add(fmt.Sprintf("%s/%d", path, i), "there is no argument %s", name)
			}
		}
	}
}

// dangers checks that no dangerous option is offered unasked.
func (c *checker) dangers() {
	first, _ := c.r.CommandAt()
	for i, a := range c.r.Arguments {
		if reason := c.r.Danger(&a); reason != "" && !a.Only && i >= first {
			c.add(fmt.Sprintf("/arguments/%d", i), "%s is one of the dangers, so it needs \"only\": true", a.Option)
		}
		if a.Only && a.Required {
			c.add(fmt.Sprintf("/arguments/%d/only", i), "a required argument cannot be left out")
		}
	}
	for option, reason := range c.r.Dangers {
		c.text("/dangers/"+rawjson.ToPointer.Replace(option), reason)
	}
}

// example checks the arguments of an example.
func (c *checker) example(e Example, path string) {
	c.text(path+"/description", e.Description)
	for name, value := range e.Arguments {
		at := path + "/arguments/" + rawjson.ToPointer.Replace(name)
		switch a := c.arguments[name]; {
		case a == nil:
			c.add(at, "there is no argument %s", name)
		case a.Only:
			c.add(at, "is offered only if somebody asks for it")
		case !a.acceptsAll(value):
			c.add(at, "is not a value of the argument")
		}
	}
	for name, a := range c.arguments {
		if _, given := e.Arguments[name]; a.Required && !given {
			c.add(path+"/arguments", "lacks %s, which is required", name)
		}
	}
	given := func(name string) bool { return e.Arguments[name] != nil }
	for _, group := range c.r.Requires {
		if !slices.ContainsFunc(group, given) {
			c.add(path+"/arguments", "needs one of %s", strings.Join(group, ", "))
		}
	}
	for _, group := range c.r.Excludes {
		if both := slices.DeleteFunc(slices.Clone(group), func(name string) bool { return !given(name) }); len(both) > 1 {
			c.add(path+"/arguments", "has %s, which exclude each other", strings.Join(both, " and "))
		}
	}
}

// CommandAt returns the argument that begins with the words of the command, if there is one.
// Options before it belong to the program.
func (r *Recipe) CommandAt() (at int, ok bool) {
	for i, a := range r.Arguments {
		if n := len(r.Command); n > 0 && len(a.Words) >= n && slices.Equal(a.Words[:n], r.Command) {
			return i, true
		}
	}
	return 0, false
}

// IsOperand reports whether the argument is neither an option nor fixed words.
func (a *Argument) IsOperand() bool { return len(a.Words) == 0 && a.Option == "" }

// IsList reports whether the value is a list of values.
func (a *Argument) IsList() bool { return a.Repeat && a.Type != Switch }

// Danger returns the reason why an argument is dangerous, or "".
func (r *Recipe) Danger(a *Argument) string {
	if a.Option == "" {
		return ""
	}
	reason := r.Dangers[a.Option]
	for _, name := range a.Aliases {
		reason = cmp.Or(reason, r.Dangers[name])
	}
	return reason
}

// isOption reports whether s is an option. A single character is one if the value follows in the same word, as in
// -Artist=Ann of exiftool and @9.9.9.9 of dig.
func isOption(s string) bool { return s != "" && strings.ContainsRune("-+@", rune(s[0])) }

// acceptsAll reports whether a value, or each element of a list, is a value of the argument.
func (a *Argument) acceptsAll(value any) bool {
	list, isList := value.([]any)
	if n, isNumber := value.(float64); isNumber && a.Type == Switch && a.Repeat {
		return n == float64(int(n)) && n >= 0 && n <= MaxTimes
	}
	if !a.Repeat || !isList {
		return a.accepts(value) && !a.IsList()
	}
	return !slices.ContainsFunc(list, func(v any) bool { return !a.accepts(v) })
}

// accepts reports whether v is a single value of the argument.
func (a *Argument) accepts(v any) bool {
	switch v := v.(type) {
	case bool:
		return a.Type == Switch
	case float64:
		return (a.Type == Number || a.Type == Integer && v == float64(int64(v))) &&
			(a.Minimum == nil || v >= *a.Minimum) && (a.Maximum == nil || v <= *a.Maximum)
	case json.Number:
		f, err := v.Float64()
		return err == nil && a.accepts(f)
	case string:
		switch a.Type {
		case String, Path, URL:
			matches, err := regexp.MatchString(a.WholePattern(), v)
			return err == nil && matches
		case Choice:
			return slices.Contains(a.Choices, v)
		}
	}
	return false
}

// WholePattern returns the pattern, anchored at both ends, or "".
func (a *Argument) WholePattern() string {
	if a.Pattern == "" {
		return ""
	}
	return "^(?:" + a.Pattern + ")$"
}

// Limits on the values of an argument.
const (
	MaxTimes = 9   // of a switch that can be repeated
	MaxList  = 100 // elements of a list
)
