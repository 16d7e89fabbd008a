package shellscript

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

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
	r.inferIntegers(operands)
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

// words gives arguments the names and texts of the usage text, if the code lacks them.
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

// name sets the name of an argument, from the usage text, its long option, its variable or a message of the script.
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

// input adds an argument if a command reads the standard input of the script.
func (r *reader) input() {
	f := &inputFinder{r, map[string]bool{}, dashed(r.file)}
	line := f.line(r.file, !r.refilled && (r.rest == nil || !r.rest.Required))
	if line > 0 && len(r.script.Questions) == 0 {
		r.script.Arguments = append(r.script.Arguments, InputArgument(r.names, line))
		r.plain = r.plain || r.plainInput
	}
	for _, a := range r.script.Arguments {
		a.Plain = r.plain && a.Value
	}
}

// InputArgument is the argument for the standard input of a script.
func InputArgument(names Names, line int) *Argument {
	return &Argument{
		Name: names.Add("input"), Value: true, Kind: Input, Text: "The text that the script reads", Line: line,
	}
}

// An inputFinder finds commands that read the standard input of the script.
type inputFinder struct {
	*reader
	entered map[string]bool // functions whose commands were read, with or without arguments
	dashed  map[string]bool // parameters that the script compares with "-"
}

// dashed returns the names of the parameters that a script compares with "-", a name of standard input.
func dashed(file *syntax.File) map[string]bool {
	names := map[string]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			for _, t := range slices.Concat(tests(n, true), tests(n, false)) {
				names[t.name()] = names[t.name()] || t.kind == isOther && slices.Contains(t.words, "-")
			}
		case *syntax.CaseClause:
			for _, b := range items(n) {
				names[nameOf(n.Word)] = names[nameOf(n.Word)] || slices.Contains(b.patterns, "-")
			}
		}
		return true
	})
	return names
}

// line returns the line of the first command below a node that reads standard input, or 0. none reports that "$@" can
// be empty there.
func (f *inputFinder) line(root syntax.Node, none bool) (line int) {
	syntax.Walk(root, func(n syntax.Node) bool {
		if line > 0 {
			return false
		}
		switch n := n.(type) {
		case nil, *syntax.FuncDecl:
			return false
		case *syntax.ProcSubst:
			return n.Op == syntax.CmdIn
		case *syntax.Stmt:
			if at := slices.IndexFunc(n.Redirs, redirectsInput); at >= 0 {
				line = f.line(n.Redirs[at], none) // < <(cat)
				if f.isInput(n.Redirs[at].Word) { // < "${1:-/dev/stdin}"
					line = int(n.Pos().Line())
				}
				return false
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				line = f.line(n.X, none)
				return false
			}
		case *syntax.CallExpr:
			line = f.lineOf(n, none)
		}
		return line == 0
	})
	return line
}

// lineOf returns the line of a simple command that reads the standard input, or in the function that it calls.
func (f *inputFinder) lineOf(c *syntax.CallExpr, none bool) int {
	name := programOf(c)
	body := f.functions[name]
	switch {
	case name == "":
	case body == nil:
		if f.readsInput(name, c.Args, none) {
			return int(c.Pos().Line())
		}
	default:
		none = !slices.ContainsFunc(c.Args[1:], func(w *syntax.Word) bool { return !f.canBeEmpty(w, none) })
		key := name + " " + strconv.FormatBool(none)
		if !f.entered[key] {
			f.entered[key] = true
			return f.line(body.Body, none)
		}
	}
	return 0
}

// canBeEmpty reports whether a word can expand to no word at all, like an empty list or an unquoted operand.
func (r *reader) canBeEmpty(w *syntax.Word, none bool) bool {
	p := parameter(w)
	if p == nil || p.Length {
		return false
	}
	name, a := p.Param.Value, r.byVariable[p.Param.Value]
	_, isUnquoted := w.Parts[0].(*syntax.ParamExp)
	optional := a != nil && !a.Required && a.Default == nil
	switch {
	case isAll(w):
		return none && p.Slice == nil
	case p.Exp != nil:
		return isUnquoted && (p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull)
	case p.Index == nil:
		return isUnquoted && optional && len(r.assignments[name]) > 0 && !r.hasText(r.assignments[name])
	}
	return !slices.ContainsFunc(r.assignments[name], func(s *syntax.Assign) bool {
		if s.Array == nil {
			return true
		}
		text := "-" // of an empty list
		for _, e := range s.Array.Elems[:min(1, len(s.Array.Elems))] {
			text, _ = literal(e.Value)
		}
		return !strings.HasPrefix(text, "-") && !(optional && (s.Append || isAllIn(s)))
	})
}

// hasText reports whether one of the values of a variable is certainly not empty.
func (r *reader) hasText(values []*syntax.Assign) bool {
	return slices.ContainsFunc(values, func(s *syntax.Assign) bool {
		if s.Value == nil {
			return false
		}
		text, _ := r.evaluate(s.Value)
		return text != ""
	})
}

// redirectsInput reports whether a command has another standard input.
func redirectsInput(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return r.N == nil || r.N.Value == "0"
	}
	return false
}

// isInput reports whether a word is standard input if the caller does not give a file, as in ${1:--}, or gives "-".
func (f *inputFinder) isInput(w *syntax.Word) bool {
	name := nameOf(w)
	if name != "" && f.dashed[name] {
		return true
	}
	if a := f.byVariable[name]; a != nil && a.Default != nil {
		return isStandardInput(*a.Default)
	}
	text, known := f.evaluate(w)
	return known && isStandardInput(text)
}

func isStandardInput(file string) bool { return file == "-" || file == "/dev/stdin" }

// readsInput reports whether a program with these words reads standard input. none reports that "$@" can be empty.
func (f *inputFinder) readsInput(program string, words []*syntax.Word, none bool) bool {
	values, isFilter := property(program, "input")
	instead, needsFirst := property(program, "first")
	never, _ := property(program, "never")
	_, always := property(program, "always")
	if !isFilter {
		return false
	}
	for i := 1; i < len(words); i++ {
		text, _ := textOf(words[i].Parts, false, nothing)
		option, isOption := strings.CutPrefix(text, "-")
		switch {
		case !needsFirst && f.isInput(words[i]):
			return true
		case !isOption && f.canBeEmpty(words[i], none):
		case !isOption && !needsFirst && !always:
			return false
		case !isOption:
			needsFirst = false
		case strings.HasPrefix(option, "-"):
			taken, _ := property(program, text)
			if taken == "never" {
				return false
			}
			i += position(taken)
		case strings.ContainsAny(option, never):
			return false
		default:
			needsFirst = needsFirst && !strings.ContainsAny(option, instead)
			if at := strings.IndexAny(option, values); at >= 0 && at == len(option)-1 {
				if _, whole := literal(words[i]); whole {
					i++
				}
			}
		}
	}
	return true
}
