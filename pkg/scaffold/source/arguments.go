package source

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/scaffold/helptext"
	"mcp-bash/pkg/text/lazyregexp"
	"mvdan.cc/sh/v3/syntax"
)

// A count is a rule about the number of arguments, which is applied when all of them are known.
type count struct {
	least   int
	options bool // after the options were read
	end     outcome
}

// finishArguments orders the arguments, and gives them names, texts and types.
func (r *reader) finishArguments() {
	for _, a := range r.script.Arguments {
		if text := r.initial[a.variable]; text != "" && a.Value && a.Default == nil {
			a.Default = &text
		}
	}
	syntax.Walk(r.file, func(n syntax.Node) bool {
		arithmeticOf(n, func(x syntax.Node) { r.calculate(x, false) })
		return true
	})
	operands := r.operands()
	r.words(operands)
	r.script.Arguments = append(r.script.Arguments, operands...)
	r.name()
	for _, a := range r.script.Arguments {
		if a.Default != nil && (a.Required || len(a.Choices) > 0 && !slices.Contains(a.Choices, *a.Default)) {
			a.Default = nil
		}
		if !a.Value {
			a.Kind = Text
		}
		if a.Kind == Integer && a.Default != nil {
			if _, err := strconv.Atoi(*a.Default); err != nil {
				a.Default = nil
			}
		}
		for _, kind := range a.Doubts {
			r.script.Doubts = append(r.script.Doubts, Doubt{kind, a.Name, a.Line})
		}
	}
}

// operands returns the operands in their order.
func (r *reader) operands() []*Argument {
	if r.noOperands {
		return nil
	}
	if r.rest != nil {
		for _, place := range slices.Sorted(maps.Keys(r.places)) {
			if place >= r.rest.place {
				if a := r.places[place]; place == r.rest.place {
					r.rest.Required = r.rest.Required || a.Required
					r.rest.is(a.Kind)
				}
				delete(r.places, place)
			}
		}
	}
	for _, c := range r.counts {
		if r.options && !c.options {
			continue // it counts the options too
		}
		for place, a := range r.places {
			if place <= c.least && a.Default == nil && !a.omitted {
				r.require(a, c.end)
			}
		}
		if r.rest != nil && r.rest.place <= c.least {
			r.require(r.rest, c.end)
		}
	}
	var list []*Argument
	for _, place := range slices.Sorted(maps.Keys(r.places)) {
		a := r.places[place]
		if text := r.initial[a.variable]; text != "" && !a.Required && a.Default == nil {
			a.Default = &text
		}
		list = append(list, a)
	}
	if r.rest != nil {
		list = append(list, r.rest)
	}
	for i, a := range list { // a required operand makes all before it required
		if a.Required {
			for _, before := range list[:i] {
				if before.Default == nil {
					before.Required = true
				}
			}
		}
	}
	return list
}

// words gives arguments the names and texts of the usage text, where the code has nothing.
func (r *reader) words(operands []*Argument) {
	h := r.help.Help
	for _, o := range h.Options {
		at := slices.IndexFunc(r.script.Arguments, func(a *Argument) bool {
			return slices.ContainsFunc(o.Names, func(name string) bool { return slices.Contains(a.Options, name) })
		})
		if at < 0 {
			if name := o.Names[len(o.Names)-1]; r.help.complete && !isHelp(o.Names, true) {
				r.script.Doubts = append(r.script.Doubts, Doubt{DoubtUsage, name, 0})
			}
			continue
		}
		a := r.script.Arguments[at]
		if a.Text == "" {
			a.Text = o.Text
		}
		if a.Value && len(a.Choices) == 0 && len(o.Choices) > 1 {
			a.Choices = o.Choices
		}
		if a.Value && a.variable == "" {
			a.variable = o.Value
		}
	}
	comments := r.placeComments()
	for i, a := range operands {
		var o helptext.Operand
		if len(h.Operands) == len(operands) || i < len(h.Operands) && !r.options {
			o = h.Operands[i]
		}
		if a.variable == "" || len(a.variable) == 1 {
			if name := clean(o.Name); name != "" {
				a.Name = name
			}
		}
		if a.Text == "" {
			a.Text = o.Text
		}
		if a.Text == "" && a.place > 0 {
			a.Text = comments[a.place]
		}
		if !a.Required && a.Default == nil && !a.omitted && o.Name != "" && !o.Optional {
			a.Required = true
			a.Doubts = append(a.Doubts, DoubtRequired)
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

// name gives each argument another name.
func (r *reader) name() {
	for i, a := range r.script.Arguments {
		long := ""
		for _, o := range a.Options {
			if name := strings.TrimLeft(o, "-"); len(name) > len(long) && len(name) > 1 {
				long = name
			}
		}
		name := a.Name
		if name == "" {
			name = clean(long)
		}
		if name == "" && (len(a.variable) > 1 || len(a.Options) == 0) {
			name = clean(a.variable)
		}
		if name == "" {
			name = clean(a.message)
		}
		if name == "" && a.Default != nil && isStandardInput(*a.Default) {
			name = "file"
		}
		if name == "" && len(a.Choices) > 0 && len(a.Options) == 0 {
			name = "command"
		}
		if name == "" && len(a.Options) > 0 {
			name = clean(a.Options[0])
		}
		if name == "" {
			name = "arg" + strconv.Itoa(max(a.place, 1))
			if a.Repeat {
				name = "arguments"
			}
			if !slices.Contains(a.Doubts, DoubtPassedOn) {
				a.Doubts = append(a.Doubts, DoubtName)
			}
		}
		r.script.Arguments[i].Name = r.names.Add(name)
	}
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

// arithmeticOf calls f with the arithmetic expressions that belong to a node itself.
func arithmeticOf(n syntax.Node, f func(syntax.Node)) {
	expr := func(x syntax.ArithmExpr) {
		if x != nil {
			f(x)
		}
	}
	switch n := n.(type) {
	case *syntax.ArithmExp:
		expr(n.X)
	case *syntax.ArithmCmd:
		expr(n.X)
	case *syntax.LetClause:
		f(n)
	case *syntax.CStyleLoop:
		f(n)
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLss, syntax.TsLeq, syntax.TsGtr, syntax.TsGeq:
			f(n.X)
			f(n.Y)
		}
	case *syntax.CallExpr:
		if _, words := simple(n); len(words) == 5 && words[0] == "[" || len(words) == 4 && words[0] == "test" {
			switch words[2] {
			case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
				f(n.Args[1])
				f(n.Args[3])
			}
		}
	case *syntax.ParamExp:
		if n.Slice != nil {
			expr(n.Slice.Offset)
			expr(n.Slice.Length)
		}
		expr(n.Index)
	}
}
