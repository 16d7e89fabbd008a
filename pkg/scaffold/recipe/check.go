package recipe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mcp-bash/pkg/json/schema"
)

// A checker collects the faults of a recipe.
type checker struct {
	*Recipe
	faults Faults
}

func (c *checker) add(path, format string, args ...any) {
	c.faults = append(c.faults, Fault{Path: path, Reason: fmt.Sprintf(format, args...)})
}

// check returns what is wrong with a recipe beyond the rules of the JSON Schema. Examples are checked if the rest is
// right.
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

// arguments checks the arguments, and that no dangerous option is offered unasked.
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
