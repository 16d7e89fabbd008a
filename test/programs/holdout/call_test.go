//go:build programs

package holdout

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A report is the part of the answer of wrap --json that the test uses (WRAP-5).
type report struct {
	Name     string
	Sources  []string
	Options  []found
	Operands []struct{ Name string }
}

type found struct {
	Names, Negations []string
	Kind             string
	Repeat           bool
	Offered          string
}

// A tool is a tool that wrap has made: its report and the properties of its arguments in their order.
type tool struct {
	report
	order      []string
	properties map[string]property
}

type property struct {
	Type any
	Enum []any
}

// is reports whether a property can have a type.
func (p property) is(kind string) bool {
	if list, ok := p.Type.([]any); ok {
		return slices.Contains(list, any(kind))
	}
	return p.Type == kind
}

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
	same := func(other string) bool { return spelled(other) == spelled(name) }
	for _, o := range r.Options {
		if slices.ContainsFunc(o.Names, same) {
			return o, false, true
		}
		if slices.ContainsFunc(o.Negations, same) {
			return o, true, true
		}
	}
	return found{}, false, false
}

// where are the names of properties for the directory in which the program runs.
var where = []string{"directory", "dir", "repository", "repo", "cwd", "working_directory", "workdir"}

// input are the names of properties for standard input, the likeliest first.
var input = []string{"stdin", "input", "text", "content", "data"}

// arguments translates a task to the arguments of the tool. It returns the options that the tool lacks. The call
// is made without these, because the tool may always pass them.
func (x tool) arguments(p *program, k task) (arguments map[string]any, missing []string) {
	arguments = map[string]any{}
	var rest [][]string
	for _, words := range k.Options {
		o, negated, ok := x.find(words[0])
		if !ok || o.Offered == "" {
			missing = append(missing, words[0])
			rest = append(rest, words)
			continue
		}
		x.set(arguments, o.Offered, words[1:], negated)
	}
	free := x.free()
	if k.Stdin != "" {
		for _, name := range input {
			if i := slices.Index(free, name); i >= 0 {
				arguments[name] = k.Stdin
				break
			}
		}
	}
	free = slices.DeleteFunc(free, func(name string) bool { return name == "stdin" || arguments[name] != nil })
	if len(free) == 1 && free[0] == "arguments" {
		k.Options = rest
		if words := p.words(k); len(words) > 0 {
			x.set(arguments, "arguments", words, false)
		}
		return arguments, nil
	}
	for _, name := range free {
		if slices.Contains(where, name) && !slices.ContainsFunc(p.Operands, func(o operand) bool { return o.Name == name }) {
			arguments[name] = "."
		}
	}
	free = slices.DeleteFunc(free, func(name string) bool { return arguments[name] != nil })
	x.setOperands(arguments, p, k, free)
	return arguments, missing
}

// setOperands gives the operands to the free properties: one to one if there are as many as the program has, and
// otherwise one after the other.
func (x tool) setOperands(arguments map[string]any, p *program, k task, free []string) {
	if len(free) == len(p.Operands) {
		for i, o := range p.Operands {
			if values := k.Operands[o.Name]; len(values) > 0 {
				x.set(arguments, free[i], values, false)
			}
		}
		return
	}
	var all []string
	for _, o := range p.Operands {
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

// free returns the properties that belong to no option.
func (x tool) free() []string {
	var free []string
	for _, name := range x.order {
		if !slices.ContainsFunc(x.Options, func(o found) bool { return o.Offered == name }) {
			free = append(free, name)
		}
	}
	return free
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
