//go:build programs

package sets

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"mcp-bash/pkg/scaffold/recipe"
)

// A report is the part of the answer of wrap --json that the test uses (WRAP-5).
type report struct {
	Name     string
	Source   string // "recipe" or "help"
	Options  []found
	Operands []struct{ Name string }
}

type found struct {
	Names, Negations []string
	Kind             string
	Repeat           bool
	Offered          string
}

// UnmarshalJSON finds the options and operands in the recipe.
func (r *report) UnmarshalJSON(text []byte) error {
	var answer struct {
		Name, Source string
		Recipe       recipe.Recipe
		Offered      []string
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	*r = report{Name: answer.Name, Source: answer.Source}
	for _, a := range answer.Recipe.Arguments {
		if a.IsOperand() {
			r.Operands = append(r.Operands, struct{ Name string }{a.Name})
		}
		o := found{Names: a.Spellings(), Kind: string(a.Type), Repeat: a.Repeat}
		if a.Negation != "" {
			o.Negations = []string{a.Negation}
		}
		if slices.Contains(answer.Offered, a.Name) {
			o.Offered = a.Name
		}
		if a.Option != "" {
			r.Options = append(r.Options, o)
		}
	}
	return nil
}

// A tool is a tool that wrap has made: its report and the properties of its arguments in their order.
type tool struct {
	report
	order      []string
	properties map[string]property
}

type property struct {
	Type    any
	Enum    []any
	Pattern string
	Items   struct{ Pattern string }
}

// is reports whether a property can have a type.
func (p property) is(kind string) bool {
	if list, ok := p.Type.([]any); ok {
		return slices.Contains(list, any(kind))
	}
	return p.Type == kind
}

// offers reports whether a choice has a value.
func (p property) offers(value string) bool { return slices.Contains(p.Enum, any(value)) }

// readTool reads the schema of a tool as it was written.
func readTool(t *testing.T, project string, r report) tool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(project, "tools", r.Name, "tool.meta.json"))
	var meta struct {
		InputSchema struct{ Properties json.RawMessage }
		Arguments   struct{ Properties json.RawMessage }
	}
	if err == nil {
		err = json.Unmarshal(text, &meta)
	}
	if err != nil {
		t.Fatal(err)
	}
	raw := meta.InputSchema.Properties
	if raw == nil {
		raw = meta.Arguments.Properties
	}
	made := tool{report: r, properties: map[string]property{}}
	if raw == nil {
		return made
	}
	if err := json.Unmarshal(raw, &made.properties); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.Token()
	for d.More() {
		name, err := d.Token()
		var skipped json.RawMessage
		if err == nil {
			err = d.Decode(&skipped)
		}
		if err != nil {
			t.Fatal(err)
		}
		made.order = append(made.order, name.(string))
	}
	return made
}

// spelled returns an option's name without the mark of its value, such as the = of --opt=.
func spelled(name string) string { return strings.TrimRight(name, "=:") }

// find returns the option of a name, and whether the name negates it.
func (r report) find(name string) (o found, negated, ok bool) {
	equal := func(other string) bool { return spelled(other) == spelled(name) }
	for _, o := range r.Options {
		if slices.ContainsFunc(o.Names, equal) {
			return o, false, true
		}
		if slices.ContainsFunc(o.Negations, equal) {
			return o, true, true
		}
	}
	return found{}, false, false
}

// findFor returns the option of a call. A recipe can have an option as a switch and with a value; the call shows which.
func (x tool) findFor(words []string) (o found, negated, ok bool) {
	o, negated, ok = x.find(words[0])
	for _, other := range x.Options {
		named := slices.ContainsFunc(other.Names, func(name string) bool { return spelled(name) == spelled(words[0]) })
		if ok && named && (other.Kind == "switch") == (len(words) == 1) {
			return other, negated, ok
		}
	}
	return o, negated, ok
}

// where are the names of properties for the directory in which the program runs.
var where = []string{"directory", "dir", "repository", "repo", "cwd", "working_directory", "workdir"}

// isWhere reports whether a recipe has an option for that directory.
func (x report) isWhere(o found) bool {
	return x.Source == "recipe" && slices.Contains(where, o.Offered)
}

// arguments translates a task to the arguments of the tool. It returns the options that the tool lacks. The call
// is made without these, because the tool may always pass them.
func (x tool) arguments(p *program, k task) (arguments map[string]any, missing []string) {
	arguments = map[string]any{}
	var rest [][]string
	for _, words := range k.Options {
		if o, negated, ok := x.findFor(words); ok && o.Offered != "" {
			x.set(arguments, o.Offered, words[1:], negated)
		} else if !x.choose(arguments, words) {
			missing = append(missing, words[0])
			rest = append(rest, words)
		}
	}
	for _, o := range x.Options {
		if x.isWhere(o) && arguments[o.Offered] == nil && o.Kind != "switch" &&
			x.properties[o.Offered].Pattern+x.properties[o.Offered].Items.Pattern == "" {
			x.set(arguments, o.Offered, []string{"."}, false)
		}
	}
	for _, words := range rest {
		if _, open := x.properties["options"]; open && x.Source != "recipe" {
			x.set(arguments, "options", words, false)
		}
	}
	if name := x.input(); k.Stdin != "" && name != "" {
		arguments[name] = k.Stdin
	}
	free := slices.DeleteFunc(x.operands(), func(name string) bool { return arguments[name] != nil })
	if len(free) == 1 && free[0] == "arguments" {
		k.Options = rest
		if words := p.words(k); len(words) > 0 {
			x.set(arguments, "arguments", words, false)
		}
		return arguments, nil
	}
	x.setOperands(arguments, p, k, free)
	return arguments, missing
}

// choose selects an option that the tool offers as a choice of a property, such as -sha256.
func (x tool) choose(arguments map[string]any, words []string) bool {
	for _, name := range x.order {
		for _, value := range x.properties[name].Enum {
			text, _ := value.(string)
			if len(words) == 1 && strings.TrimLeft(text, "-") == strings.TrimLeft(words[0], "-") {
				arguments[name] = text
				return true
			}
		}
	}
	return false
}

// setOperands gives the operands to the free properties. It does so one to one if there are as many as the program
// has, and otherwise one after the other. If properties are missing, an option with the same effect gets the operand.
func (x tool) setOperands(arguments map[string]any, p *program, k task, free []string) {
	operands := slices.Clone(p.Operands)
	// A choice that has none of the values, such as eval of yq, keeps its default.
	free = slices.DeleteFunc(free, func(name string) bool {
		has := func(o operand) bool { return slices.ContainsFunc(k.Operands[o.Name], x.properties[name].offers) }
		return x.properties[name].Enum != nil && !slices.ContainsFunc(operands, has)
	})
	for i := len(operands) - 1; i >= 0; i-- {
		o, _, ok := x.find(operands[i].Option)
		if !ok || o.Offered == "" || len(free) >= len(operands) {
			continue
		}
		if values := slices.Clone(k.Operands[operands[i].Name]); len(values) > 0 {
			values[0] = strings.TrimPrefix(values[0], operands[i].Option) // @1.1.1.1 of dig
			x.set(arguments, o.Offered, values, false)
		}
		operands = slices.Delete(operands, i, i+1)
	}
	if len(free) == len(operands) {
		for i, o := range operands {
			if values := k.Operands[o.Name]; len(values) > 0 {
				x.set(arguments, free[i], values, false)
			}
		}
		return
	}
	var all []string
	for _, o := range operands {
		all = append(all, k.Operands[o.Name]...)
	}
	for _, name := range free {
		if len(all) == 0 {
			return
		}
		n := 1
		if x.properties[name].is("array") {
			n = len(all)
		}
		x.set(arguments, name, all[:n], false)
		all = all[n:]
	}
}

// free returns the properties that belong to no option, except for the list of other options.
func (x tool) free() []string {
	var free []string
	for _, name := range x.order {
		other := name == "options" && x.Source != "recipe"
		if !other && !slices.ContainsFunc(x.Options, func(o found) bool { return o.Offered == name }) {
			free = append(free, name)
		}
	}
	return free
}

// operands returns the free properties that are operands in the report. If the report has no such operand, it returns
// all free properties except stdin.
func (x tool) operands() []string {
	var known, other []string
	for _, name := range x.free() {
		reported := slices.ContainsFunc(x.Operands, func(o struct{ Name string }) bool { return same(o.Name, name) })
		if reported || name == "arguments" {
			known = append(known, name)
		} else if !slices.Contains(inputs, name) {
			other = append(other, name)
		}
	}
	if len(known) == 0 {
		return other
	}
	return known
}

// inputs are names of properties for standard input.
var inputs = []string{"stdin", "input", "text", "content", "data", "script", "manifest"}

// input returns the property for standard input, or "".
func (x tool) input() string {
	free := x.free()
	if slices.Contains(free, "stdin") {
		return "stdin"
	}
	operands := x.operands()
	for _, name := range free {
		if !slices.Contains(operands, name) && x.properties[name].is("string") {
			return name
		}
	}
	for _, name := range inputs {
		if slices.Contains(free, name) {
			return name
		}
	}
	return ""
}

// number is a suffix that makes the name of a property unique.
var number = regexp.MustCompile(`_\d+$`)

// same reports whether a property has the name of an operand.
func same(operand, property string) bool {
	plain := func(name string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, name)
	}
	return plain(operand) == plain(property) || plain(operand) == plain(number.ReplaceAllString(property, ""))
}

// set gives values to a property, as the type of the property demands. A switch has no value.
func (x tool) set(arguments map[string]any, name string, values []string, negated bool) {
	p := x.properties[name]
	switch {
	case p.is("array"):
		list, _ := arguments[name].([]any)
		for _, v := range values {
			list = append(list, v)
		}
		arguments[name] = list
	case len(values) == 0 && p.is("boolean"):
		arguments[name] = !negated
	case len(values) == 0 && p.is("integer"):
		n, _ := arguments[name].(int)
		arguments[name] = n + 1
	case len(values) == 0:
		arguments[name] = ""
	case p.is("boolean") && values[0] == "false":
		arguments[name] = negated
	case p.is("string"):
		arguments[name] = values[0]
	case p.is("integer"), p.is("number"):
		arguments[name] = json.Number(values[0])
		if _, err := strconv.ParseFloat(values[0], 64); err != nil {
			arguments[name] = values[0]
		}
	default:
		arguments[name] = true
	}
}
