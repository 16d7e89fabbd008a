package shellscript

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/text/helptext"
	"mcp-bash/pkg/text/lazyregexp"
)

// A count is a rule about the number of arguments, which is applied when all of them are known.
type count struct {
	least   int
	options bool // after the options were read
	end     outcome
}

// finishArguments orders the arguments, and gives them names, texts and types.
func (r *reader) finishArguments() {
	operands := r.operands()
	r.calculated(operands)
	r.words(operands)
	r.script.Arguments = append(r.script.Arguments, operands...)
	for _, a := range r.script.Arguments {
		r.name(a)
		if !a.Value {
			a.Kind = Text
		}
		if a.Default != nil {
			_, err := strconv.Atoi(*a.Default)
			isOther := len(a.Choices) > 0 && !slices.Contains(a.Choices, *a.Default)
			if a.Required || isOther || a.Kind == Integer && err != nil {
				a.Default = nil
			}
		}
		for _, kind := range a.Doubts {
			r.doubt(kind, a.Name, a.Line)
		}
	}
}

// operands returns the operands in their order.
func (r *reader) operands() (list []*Argument) {
	if r.noOperands {
		r.places, r.rest = nil, nil
	}
	for _, place := range slices.Sorted(maps.Keys(r.places)) {
		a := r.places[place]
		if r.rest == nil || place < r.rest.place {
			list = append(list, a)
		} else if place == r.rest.place {
			r.rest.Required = r.rest.Required || a.Required
			r.rest.is(a.Kind)
		}
	}
	if r.rest != nil {
		list = append(list, r.rest)
	}
	for _, c := range r.counts {
		for _, a := range list { // without this condition, it counts the options too
			if c.options == r.options && a.place <= c.least && a.Default == nil && !a.omitted {
				r.require(a, nil, c.end)
			}
		}
	}
	for _, a := range slices.Concat(r.script.Arguments, list) {
		if text := r.initial[a.variable]; text != "" && a.Value && !a.certain && !a.Required && a.Default == nil {
			a.Default = &text
		}
	}
	required := false
	for _, a := range slices.Backward(list) { // a required operand makes all before it required
		a.Required = a.Required || required && a.Default == nil
		required = required || a.Required
	}
	return list
}

// words gives arguments the names and texts of the usage text, where the code has nothing.
func (r *reader) words(operands []*Argument) {
	h := r.help
	for _, o := range h.Options {
		at := slices.IndexFunc(r.script.Arguments, func(a *Argument) bool {
			return slices.ContainsFunc(o.Names, func(name string) bool { return slices.Contains(a.Options, name) })
		})
		if at < 0 {
			if name := o.Names[len(o.Names)-1]; !isHelp(o.Names, true) {
				r.doubt(DoubtUsage, name, 0)
			}
			continue
		}
		a := r.script.Arguments[at]
		a.Text = cmp.Or(a.Text, o.Text)
		if a.Value && len(a.Choices) == 0 && len(o.Choices) > 1 {
			a.Choices = o.Choices
		}
		if a.Value {
			a.variable = cmp.Or(a.variable, o.Value)
		}
	}
	comments := r.placeComments()
	for i, a := range operands {
		var o helptext.Operand
		if len(h.Operands) == len(operands) || i < len(h.Operands) && !r.options {
			o = h.Operands[i]
		}
		if len(a.variable) < 2 {
			a.Name = clean(o.Name)
		}
		a.Text = cmp.Or(a.Text, o.Text, comments[a.place])
		if !a.Required && a.Default == nil && !a.omitted && o.Name != "" && !o.Optional {
			a.Required = true
			a.doubt(DoubtRequired)
		}
	}
}

var placeComment = lazyregexp.New(`^\s*#+\s*\$(\d)\s*(?:[-:=–]+\s*)?(\S.*)$`)

// placeComments returns the texts of comments such as "# $1 - the source".
func (r *reader) placeComments() map[int]string {
	texts := map[int]string{}
	for _, line := range r.lines {
		if m := placeComment.FindStringSubmatch(line); m != nil && texts[position(m[1])] == "" {
			texts[position(m[1])] = m[2]
		}
	}
	return texts
}

var separators = lazyregexp.New(`[^a-z0-9]+`)

// clean returns a word as the name of a property: letters, digits and underscores.
func clean(word string) string {
	word = strings.Trim(separators.ReplaceAllString(strings.ToLower(word), "_"), "_")
	for _, prefix := range []string{"opt_", "arg_", "flag_", "param_"} {
		word = strings.TrimPrefix(word, prefix)
	}
	if word != "" && word[0] >= '0' && word[0] <= '9' {
		word = "n" + word
	}
	return word
}

// name gives an argument its name: the long option, the variable, or what the script calls it.
func (r *reader) name(a *Argument) {
	long, short, variable := "", "", a.variable
	for _, o := range a.Options {
		if name := strings.TrimLeft(o, "-"); len(name) > max(len(long), 1) {
			long = name
		}
	}
	switch {
	case len(a.Options) > 0:
		short = clean(a.Options[0])
		if len(variable) == 1 {
			variable = ""
		}
	case a.Default != nil && isStandardInput(*a.Default):
		short = "file"
	case len(a.Choices) > 0:
		short = "command"
	}
	name := cmp.Or(a.Name, clean(long), clean(variable), clean(a.message), short)
	if name == "" {
		name = "arg" + strconv.Itoa(max(a.place, 1))
		if a.Repeat {
			name = "arguments"
		}
		if !slices.Contains(a.Doubts, DoubtPassedOn) {
			a.doubt(DoubtName)
		}
	}
	a.Name = r.names.Add(name)
}

// Names are the names of the arguments of one script.
type Names map[string]bool

// Add returns name, or name with a number that makes it unique, and adds it.
func (taken Names) Add(name string) string {
	unique := name
	for n := 2; taken[unique]; n++ {
		unique = name + "_" + strconv.Itoa(n)
	}
	taken[unique] = true
	return unique
}
