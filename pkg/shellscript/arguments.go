package shellscript

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mcp-bash/pkg/text/helptext"
	"mcp-bash/pkg/text/lazyregexp"
)

// A countRule is a minimum for the number of arguments. It is applied when all of them are known.
type countRule struct {
	minimum      int
	afterOptions bool    // the options no longer count
	outcome      outcome // with fewer arguments
}

// finishArguments orders the arguments, and gives them names, texts and types.
func (r *reader) finishArguments() {
	operands := r.orderOperands()
	r.inferIntegers(operands)
	r.applyUsage(operands)
	r.script.Arguments = append(r.script.Arguments, operands...)
	for _, a := range r.script.Arguments {
		r.nameArgument(a)
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

// orderOperands returns the operands in their order.
func (r *reader) orderOperands() (list []*Argument) {
	if r.noOperands {
		r.operandAt, r.restOperand = nil, nil
	}
	for _, position := range slices.Sorted(maps.Keys(r.operandAt)) {
		a := r.operandAt[position]
		if r.restOperand == nil || position < r.restOperand.position {
			list = append(list, a)
		} else if position == r.restOperand.position {
			r.restOperand.Required = r.restOperand.Required || a.Required
			r.restOperand.setKind(a.Kind)
		}
	}
	if r.restOperand != nil {
		list = append(list, r.restOperand)
	}
	for _, c := range r.countRules {
		for _, a := range list { // without this condition, it counts the options too
			if c.afterOptions == r.optionsRead && a.position <= c.minimum && a.Default == nil && !a.optional {
				r.require(a, nil, c.outcome)
			}
		}
	}
	for _, a := range slices.Concat(r.script.Arguments, list) {
		if text := r.initialValues[a.variable]; text != "" && a.Value && !a.certain && !a.Required && a.Default == nil {
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

// applyUsage copies names and descriptions from the usage text to arguments without them.
func (r *reader) applyUsage(operands []*Argument) {
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
	comments := r.positionComments()
	for i, a := range operands {
		var o helptext.Operand
		if len(h.Operands) == len(operands) || i < len(h.Operands) && !r.optionsRead {
			o = h.Operands[i]
		}
		if len(a.variable) < 2 {
			a.Name = propertyName(o.Name)
		}
		a.Text = cmp.Or(a.Text, o.Text, comments[a.position])
		if !a.Required && a.Default == nil && !a.optional && o.Name != "" && !o.Optional {
			a.Required = true
			a.doubt(DoubtRequired)
		}
	}
}

var positionComment = lazyregexp.New(`^\s*#+\s*\$(\d)\s*(?:[-:=–]+\s*)?(\S.*)$`)

// positionComments returns the texts of comments such as "# $1 - the source".
func (r *reader) positionComments() map[int]string {
	texts := map[int]string{}
	for _, line := range r.lines {
		if m := positionComment.FindStringSubmatch(line); m != nil && texts[number(m[1])] == "" {
			texts[number(m[1])] = m[2]
		}
	}
	return texts
}

var separators = lazyregexp.New(`[^a-z0-9]+`)

// propertyName returns a word as the name of a property of JSON: letters, digits and underscores.
func propertyName(word string) string {
	word = strings.Trim(separators.ReplaceAllString(strings.ToLower(word), "_"), "_")
	for _, prefix := range []string{"opt_", "arg_", "flag_", "param_"} {
		word = strings.TrimPrefix(word, prefix)
	}
	if word != "" && word[0] >= '0' && word[0] <= '9' {
		word = "n" + word
	}
	return word
}

// nameArgument names an argument after the usage text, its long option, its variable or a message of the script.
func (r *reader) nameArgument(a *Argument) {
	long, short, variable := "", "", a.variable
	for _, o := range a.Options {
		if name := strings.TrimLeft(o, "-"); len(name) > max(len(long), 1) {
			long = name
		}
	}
	switch {
	case len(a.Options) > 0:
		short = propertyName(a.Options[0])
		if len(variable) == 1 {
			variable = ""
		}
	case a.Default != nil && isStdinFile(*a.Default):
		short = "file"
	case len(a.Choices) > 0:
		short = "command"
	}
	name := cmp.Or(a.Name, propertyName(long), propertyName(variable), propertyName(a.message), short)
	if name == "" {
		name = "arg" + strconv.Itoa(max(a.position, 1))
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

// addStdin adds an argument for the standard input of the script, if a command reads it.
func (r *reader) addStdin() {
	f := &stdinFinder{r, map[string]bool{}, comparedWithDash(r.file)}
	line := f.stdinLine(r.file, !r.setsWords && (r.restOperand == nil || !r.restOperand.Required))
	if line > 0 && len(r.script.Questions) == 0 {
		r.script.Arguments = append(r.script.Arguments, InputArgument(r.names, line))
		r.partialTaint = r.partialTaint || r.partialStdin
	}
	for _, a := range r.script.Arguments {
		a.NoCommands = r.partialTaint && a.Value
	}
}

// InputArgument is the argument for the standard input of a script.
func InputArgument(names Names, line int) *Argument {
	return &Argument{
		Name: names.Add("input"), Value: true, Kind: Input, Text: "The text that the script reads", Line: line,
	}
}

// A stdinFinder finds commands that read the standard input of the script.
type stdinFinder struct {
	*reader
	visited          map[string]bool // functions whose commands were read, with or without arguments
	comparedWithDash map[string]bool // parameters that the script compares with "-"
}

// comparedWithDash returns the names of the parameters that a script compares with "-", a name of standard input.
func comparedWithDash(file *syntax.File) map[string]bool {
	names := map[string]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			for _, t := range slices.Concat(predicates(n, true), predicates(n, false)) {
				names[t.name()] = names[t.name()] || t.kind == isNotOneOf && slices.Contains(t.words, "-")
			}
		case *syntax.CaseClause:
			for _, b := range branchesOf(n) {
				names[parameterOf(n.Word)] = names[parameterOf(n.Word)] || slices.Contains(b.patterns, "-")
			}
		}
		return true
	})
	return names
}

// stdinLine returns the line of the first command below a node that reads standard input, or 0. noArguments means that
// "$@" can be empty there.
func (f *stdinFinder) stdinLine(root syntax.Node, noArguments bool) (line int) {
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
			if at := slices.IndexFunc(n.Redirs, redirectsStdin); at >= 0 {
				line = f.stdinLine(n.Redirs[at], noArguments) // < <(cat)
				if f.isStdin(n.Redirs[at].Word) {             // < "${1:-/dev/stdin}"
					line = int(n.Pos().Line())
				}
				return false
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				line = f.stdinLine(n.X, noArguments)
				return false
			}
		case *syntax.CallExpr:
			line = f.commandStdinLine(n, noArguments)
		}
		return line == 0
	})
	return line
}

// commandStdinLine is stdinLine for a simple command, and for the function that it calls.
func (f *stdinFinder) commandStdinLine(c *syntax.CallExpr, noArguments bool) int {
	name := commandName(c)
	body := f.functions[name]
	switch {
	case name == "":
	case body == nil:
		if f.readsStdin(name, c.Args, noArguments) {
			return int(c.Pos().Line())
		}
	default:
		noArguments = !slices.ContainsFunc(c.Args[1:], func(w *syntax.Word) bool { return !f.canBeEmpty(w, noArguments) })
		key := name + " " + strconv.FormatBool(noArguments)
		if !f.visited[key] {
			f.visited[key] = true
			return f.stdinLine(body.Body, noArguments)
		}
	}
	return 0
}

// canBeEmpty reports whether a word can expand to no word at all, like an empty list or an unquoted operand.
func (r *reader) canBeEmpty(w *syntax.Word, noArguments bool) bool {
	p := expansionIn(w)
	if p == nil || p.Length {
		return false
	}
	name, a := p.Param.Value, r.byVariable[p.Param.Value]
	_, isUnquoted := w.Parts[0].(*syntax.ParamExp)
	optional := a != nil && !a.Required && a.Default == nil
	switch {
	case isAllArguments(w):
		return noArguments && p.Slice == nil
	case p.Exp != nil:
		return isUnquoted && (p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull)
	case p.Index == nil:
		return isUnquoted && optional && len(r.assignments[name]) > 0 && !r.hasText(name, math.MaxInt)
	}
	return !slices.ContainsFunc(r.assignments[name], func(s *syntax.Assign) bool {
		if s.Array == nil {
			return true
		}
		text := "-" // of an empty list
		for _, e := range s.Array.Elems[:min(1, len(s.Array.Elems))] {
			text, _ = literal(e.Value)
		}
		return !strings.HasPrefix(text, "-") && !(optional && (s.Append || assignsAllArguments(s)))
	})
}

// hasText reports whether an assignment above a line gives a variable a value that is certainly not empty.
func (r *reader) hasText(variable string, line int) bool {
	return slices.ContainsFunc(r.assignments[variable], func(s *syntax.Assign) bool {
		if s.Value == nil || int(s.Pos().Line()) >= line {
			return false
		}
		text, _ := r.evaluate(s.Value)
		return text != ""
	})
}

// redirectsStdin reports whether a redirection replaces standard input.
func redirectsStdin(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return r.N == nil || r.N.Value == "0"
	}
	return false
}

// isStdin reports whether a word is standard input if the caller does not give a file, as in ${1:--}, or gives "-".
func (f *stdinFinder) isStdin(w *syntax.Word) bool {
	name := parameterOf(w)
	if name != "" && f.comparedWithDash[name] {
		return true
	}
	if a := f.byVariable[name]; a != nil && a.Default != nil {
		return isStdinFile(*a.Default)
	}
	text, known := f.evaluate(w)
	return known && isStdinFile(text)
}

func isStdinFile(file string) bool { return file == "-" || file == "/dev/stdin" }

// readsStdin reports whether a program with these words reads standard input. noArguments is as for stdinLine.
func (f *stdinFinder) readsStdin(program string, words []*syntax.Word, noArguments bool) bool {
	values, isFilter := property(program, "input")
	instead, needsFirst := property(program, "first")
	never, _ := property(program, "never")
	_, always := property(program, "always")
	if !isFilter {
		return false
	}
	for i := 1; i < len(words); i++ {
		text, _ := textOf(words[i].Parts, false, noExpansion)
		option, isOption := strings.CutPrefix(text, "-")
		switch {
		case !needsFirst && f.isStdin(words[i]):
			return true
		case !isOption && f.canBeEmpty(words[i], noArguments):
		case !isOption && !needsFirst && !always:
			return false
		case !isOption:
			needsFirst = false
		case strings.HasPrefix(option, "-"):
			taken, _ := property(program, text)
			if taken == "never" {
				return false
			}
			i += number(taken)
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
